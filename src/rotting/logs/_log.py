"""A log as arrays: who was shown what, when, for the how-manieth time, and what it paid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from rotting.kernel.arrays import FloatArray, IntArray

SmallArray = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Problem:
    """Something about a log that its reader should know; nothing was mended.

    code      a short name, as "missing-rewards"
    sentence  what is wrong, and what was done about it
    count     how many rows, keys or arms it concerns
    examples  a few of them, as texts
    """

    code: str
    sentence: str
    count: int
    examples: Sequence[str] = ()

    def as_data(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "code": self.code,
            "sentence": self.sentence,
            "count": self.count,
            "examples": list(self.examples),
        }


@dataclass(frozen=True, eq=False, repr=False)
class Log:
    """Rows in the order of key, arm, time; equal times in the order of the table.

    key         key numbers from 0; all 0 where there are no keys and the arm itself is used up
    arm         places in `arms`
    time        days since the first row; the place in the table where there is no time
    reward      NaN where it is not known: missing, or younger than the attribution window
    exposure    the how-manieth showing of the arm to the key this was, from 1
    propensity  the chance with which the arm was chosen, where the table says so
    columns     which column was taken for what, as {"key": "user_id", ...}
    rows        "all", or "last" where a table holds only the last row of each story
    window      the attribution window in days; 0 without one
    notes       what was taken for what, in sentences
    key_names   what keys are called in the table, in the order of their numbers; None if unknown
    """

    key: SmallArray
    arm: SmallArray
    time: FloatArray
    reward: FloatArray
    exposure: SmallArray
    arms: tuple[str, ...]
    propensity: FloatArray | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    source: str = ""
    rows: str = "all"
    history_complete: bool = True
    window: float = 0.0
    problems: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()
    key_names: Any = None

    def __repr__(self) -> str:
        """In a line: how much there is of what."""
        who = f", {self.keys:,} keys" if self.has_keys else ""
        rows, arms = f"{self.key.size:,} rows", f"{len(self.arms):,} arms"
        return f"<Log of {self.source or 'columns'}: {rows}, {arms}{who}>"

    def history(self) -> dict[str, Any]:
        """The rows in the order of time, as arguments of a player's `learn`.

        Rewards that are not known are NaN: such a row was a showing. So are all of rows that are
        younger than the window, or only those who pay at once would be learnt from. Pulls are given
        where the table knew them; showings that are not in it were made, too.
        """
        order = np.argsort(self.time, kind="stable")
        names = self.key_names
        keys = None
        if self.has_keys:
            places = self.key[order]
            keys = places.tolist() if names is None else names.gather(places).to_list()
        return {
            "arms": [self.arms[place] for place in self.arm[order]],
            "rewards": np.where(self.settled, self.reward, np.nan)[order],
            "keys": keys,
            "pulls": self.exposure[order] if "exposure" in self.columns else None,
            "propensities": None if self.propensity is None else self.propensity[order],
        }

    @property
    def has_keys(self) -> bool:
        """Whether rows have keys; without them an arm is used up for everybody."""
        return "key" in self.columns

    @property
    def has_times(self) -> bool:
        """Whether rows have times."""
        return "time" in self.columns

    @property
    def binary(self) -> bool:
        """Whether all known rewards are zeros and ones."""
        known = self.reward[~np.isnan(self.reward)]
        return bool(np.all((known == 0.0) | (known == 1.0)))

    @property
    def keys(self) -> int:
        """How many keys there are."""
        return int(self.key.max()) + 1 if self.key.size else 0

    @property
    def settled(self) -> npt.NDArray[np.bool_]:
        """Which rows are no younger than the attribution window.

        A younger row has a reward only if one came already: where rates are estimated, leave all
        of them out, as in `log.only(log.settled)`, or late showings look better than they are.
        """
        if not self.window or not self.time.size:
            return np.ones(self.time.size, dtype=bool)
        old: npt.NDArray[np.bool_] = self.time.max() - self.time >= self.window
        return old

    def story_starts(self) -> IntArray:
        """The first row of each story: all rows of one key and arm; and, last, the number of rows.

        Where there is no key, a story is all rows of an arm.
        """
        changed = (np.diff(self.key) != 0) | (np.diff(self.arm) != 0)
        starts = np.flatnonzero(np.concatenate((np.ones(min(1, self.key.size), bool), changed)))
        return np.append(starts.astype(np.int64), self.key.size)

    def only(self, rows: npt.NDArray[Any]) -> Log:
        """The log with these rows alone, a mask or places in ascending order."""
        from dataclasses import replace

        propensity = None if self.propensity is None else self.propensity[rows]
        return replace(
            self,
            key=self.key[rows],
            arm=self.arm[rows],
            time=self.time[rows],
            reward=self.reward[rows],
            exposure=self.exposure[rows],
            propensity=propensity,
        )
