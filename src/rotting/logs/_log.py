"""A log as arrays: who was shown what and when, which showing it was, and its reward."""

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
    """Something odd about a log. It is reported, not mended.

    Attributes:
        code: A short name, such as "missing-rewards".
        sentence: What is odd, and how the reader treats it.
        count: The number of rows, keys or arms concerned.
        examples: A few of them, as texts.

    >>> from rotting import logs
    >>> log = logs.read({"user": ["a", "a", "b"], "y": [1, None, 0]})
    >>> [(each.code, each.count) for each in log.problems]
    [('missing-rewards', 1), ('one-arm', 1), ('few-keys', 2)]
    """

    code: str
    sentence: str
    count: int
    examples: Sequence[str] = ()

    def as_data(self) -> dict[str, Any]:
        """The problem as plain data, for JSON."""
        return {
            "code": self.code,
            "sentence": self.sentence,
            "count": self.count,
            "examples": list(self.examples),
        }


@dataclass(frozen=True, eq=False, repr=False)
class Log:
    """A log as arrays, one element a row.

    `rotting.logs.read` makes one of a file or a frame. Rows are sorted by key, then arm, then time;
    rows of equal time keep the order of the table.

    Attributes:
        key: Key numbers from 0. All are 0 where there are no keys: rewards then fall with all
            showings of an arm.
        arm: Places in `arms`.
        time: Days since the first row; the place in the table where there is no time.
        reward: Rewards; NaN where missing, or where a row younger than the attribution window has
            no reward, or a zero, so far.
        exposure: Which showing of the arm to the key it was: 1 for the first.
        arms: The names of the arms.
        propensity: The probability with which the arm was chosen; None if the table has none.
        columns: The column of each role, as {"key": "user_id", ...}.
        source: The file, or the kind of frame.
        rows: "all", or "last" where the table has only the last row of each key and arm.
        history_complete: Whether the first showing of every key is in the log.
        window: The attribution window in days; 0 without one.
        problems: What is odd in the table.
        notes: Which column was taken for what, in sentences.
        key_names: The keys' names in the order of their numbers; None if unknown.

    >>> from rotting import logs
    >>> log = logs.read({"user": ["b", "a", "a"], "ad": ["x", "x", "y"], "click": [0, 1, 0]})
    >>> log
    <Log of columns: 3 rows, 2 arms, 2 keys>
    >>> log.key.tolist(), [log.arms[place] for place in log.arm], log.exposure.tolist()
    ([0, 0, 1], ['x', 'y', 'x'], [1, 1, 1])
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
        who = f", {self.keys:,} keys" if self.has_keys else ""
        rows, arms = f"{self.key.size:,} rows", f"{len(self.arms):,} arms"
        return f"<Log of {self.source or 'columns'}: {rows}, {arms}{who}>"

    def history(self) -> dict[str, Any]:
        """The rows in the order of time, as the arguments that a player's `learn` takes.

        `player.learn(log)` uses them. Unknown rewards are NaN; the showing still counts. Rows
        inside the attribution window are NaN too: keeping only those that have already paid would
        bias learning.

        Returns:
            `arms`, `rewards`, `keys`, `pulls` and `propensities`. `keys` and `propensities` are
            None if the log has none. `pulls` are the exposures of the table, which also count
            showings that are not in it; None where exposures were counted.

        >>> from rotting import logs
        >>> found = logs.read({"ad": ["x", "y"], "click": [1, 0], "time": [2, 1]}).history()
        >>> found["arms"], found["rewards"].tolist(), found["keys"]
        (['y', 'x'], [0.0, 1.0], None)
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
        """Whether rows have keys. Without keys all showings of an arm count together."""
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
        """The number of keys."""
        return int(self.key.max()) + 1 if self.key.size else 0

    @property
    def settled(self) -> npt.NDArray[np.bool_]:
        """A mask of the rows that are older than the attribution window.

        A younger row has a reward only if that came early. To estimate rates leave all younger rows
        out, as in `log.only(log.settled)`; otherwise late showings look better than they are.
        """
        if not self.window or not self.time.size:
            return np.ones(self.time.size, dtype=bool)
        old: npt.NDArray[np.bool_] = self.time.max() - self.time >= self.window
        return old

    def story_starts(self) -> IntArray:
        """The first row of each sequence, and at the end the number of rows.

        A sequence is all rows of one key and arm; without keys, all rows of an arm.

        >>> from rotting import logs
        >>> logs.read({"user": ["a", "a", "b"], "y": [1, 0, 0]}).story_starts().tolist()
        [0, 2, 3]
        """
        changed = (np.diff(self.key) != 0) | (np.diff(self.arm) != 0)
        starts = np.flatnonzero(np.concatenate((np.ones(min(1, self.key.size), bool), changed)))
        return np.append(starts.astype(np.int64), self.key.size)

    def only(self, rows: npt.NDArray[Any]) -> Log:
        """The log with only some of its rows; exposures keep their numbers.

        Args:
            rows: A mask, or places in ascending order.

        >>> from rotting import logs
        >>> log = logs.read({"user": ["a", "a", "b"], "y": [1, 0, 0]})
        >>> log.only(log.exposure == 1).reward.tolist()
        [1.0, 0.0]
        """
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
