"""What a player of an audience has learnt: each arm's worth over its showings to one key.

The *cap* is what a frequency cap would have to be: after how many showings of the arm another one
is worth more.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rotting import _checks, _display
from rotting._online.table import name_of
from rotting._table import Column, Table, frame_of
from rotting.kernel.arrays import FloatArray
from rotting.kernel.verbs import CurvePoint
from rotting.policies._base import Policy
from rotting.theory._caps import Cap, caps_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

USUAL = 60  # showings that are looked at, at most, where nobody says how many
_SHOWN = (1, 2, 3, 5, 8, 13, 21, 34, 55)  # those that a table has columns for
LONGEST = 10**6  # showings that are looked at where no tables end before, and decisions of a plan


def keeps_curves(policy: Policy) -> bool:
    """Whether a policy believes something of each showing of an arm to one key.

    >>> from rotting import policies
    >>> keeps_curves(policies.UCB1()), keeps_curves(policies.CellUCB(0.5))
    (False, True)
    """
    return policy.counts_by_key and bool(policy.verbs.score or policy.verbs.curve)


class Curves:
    """The curves of the open arms at one moment, as arrays [arm, showing less one].

    `estimate` is what the policy expects; 95 % of what it holds possible lies between `low` and
    `high`, NaN where it keeps no such band. All are NaN where nothing is known yet.
    """

    __slots__ = ("arms", "estimate", "high", "low", "title")

    def __init__(
        self,
        title: str,
        arms: Sequence[Any],
        estimate: FloatArray,
        low: FloatArray,
        high: FloatArray,
    ) -> None:
        self.title, self.arms = title, tuple(arms)
        self.estimate, self.low, self.high = estimate, low, high

    @property
    def most(self) -> int:
        """How many showings were looked at."""
        return int(self.estimate.shape[1])

    @property
    def cap(self) -> dict[Any, int | None]:
        """After how many showings of each arm to a key the best play turns to another one.

        By the estimates (`theory.caps`); 0 for an arm whose turn does not come within the showings
        looked at, None for one that is not left, and for one of which nothing is known.
        """
        turns = self.turns()
        return {arm: turns[arm].showings if arm in turns else None for arm in self.arms}

    def turns(self) -> dict[Any, Cap]:
        """The caps of the arms of which something is known, and what play turns to then.

        `Cap.other` is a place among `arms`.
        """
        known, worth = self._known()
        found = zip(known, caps_of(worth) if known else (), strict=True)
        return {
            self.arms[place]: cap if cap.other is None else cap._replace(other=known[cap.other])
            for place, cap in found
        }

    def _known(self) -> tuple[list[int], FloatArray]:
        """The places of the arms of which something is known, and what they are worth.

        A showing of which nothing is known is taken to be worth what the one before it is, or the
        first that is known.
        """
        places = np.flatnonzero(~np.isnan(self.estimate).all(axis=1)).tolist()
        worth = np.zeros((len(places), self.most))
        for row, place in enumerate(places):
            sure = np.flatnonzero(~np.isnan(self.estimate[place]))
            before = np.searchsorted(sure, np.arange(self.most), side="right") - 1
            worth[row] = self.estimate[place, sure[np.maximum(before, 0)]]
        return places, worth

    def plan(self, decisions: int) -> dict[Any, int]:
        """How often each arm is shown to a new key in so many decisions, greedy by the estimates.

        Beyond the showings looked at, or known, an arm is taken to stay as it is there. One of
        which nothing is known is not shown.
        """
        decisions = _checks.integer("decisions", decisions, 0, LONGEST)
        known, worth = self._known()
        if not known:
            raise ValueError("arms must have rewards for a plan, but nothing is known of any")
        counts = [0] * len(known)
        upcoming = worth[:, 0].copy()
        for _ in range(decisions):
            best = int(np.argmax(upcoming))
            counts[best] += 1
            upcoming[best] = worth[best, min(counts[best], self.most - 1)]
        shown = dict(zip([self.arms[place] for place in known], counts, strict=True))
        return {arm: shown.get(arm, 0) for arm in self.arms}

    def to_frame(self, library: str = "pandas") -> Any:
        """A data frame of pandas or of polars ("polars"), a row for each arm and showing."""
        every = [(place, n) for place in range(len(self.arms)) for n in range(self.most)]
        columns: dict[str, list[Any]] = {
            "arm": [self.arms[place] for place, _ in every],
            "showing": [n + 1 for _, n in every],
        }
        for name in ("estimate", "low", "high"):
            columns[name] = getattr(self, name).reshape(-1).tolist()
        return frame_of(columns, ("estimate", "low", "high"), library)

    def plot(self, axes: Axes | None = None, *, ax: Axes | None = None) -> Axes:
        """Draw the curves with their bands, caps marked, into these axes or a new figure's.

        `ax` is an older name of `axes`.
        """
        drawn: Axes = _display.plot(self, axes=ax if axes is None else axes)
        return drawn

    def table(self) -> Table:
        """A row an arm: its cap, and its estimated reward at some showings."""
        shown = [n for n in _SHOWN if n <= self.most]
        worth = (Column(f"#{n}", "figure") for n in shown)
        columns = [Column("arm", "text"), Column("cap"), *worth]
        rows = [
            [name_of(arm), cap, *(float(self.estimate[place, n - 1]) for n in shown)]
            for place, (arm, cap) in enumerate(self.cap.items())
        ]
        return Table(columns, rows, title=self.heading)

    def __str__(self) -> str:
        return self.table().text()

    __repr__ = __str__

    @property
    def heading(self) -> str:
        """What the table is of."""
        return f"{self.title}: worth of the n-th showing to a key, estimated"

    def _repr_html_(self) -> str:
        """For notebooks: the table, and the curves."""
        return _display.html(self)


def curves_of(
    title: str, arms: Sequence[Any], beliefs: Sequence[Sequence[CurvePoint | None]]
) -> Curves:
    """Curves from what a policy believes of each showing of each arm."""

    if not arms:
        raise ValueError("arms must not all be retired for curves to be shown, but all are")
    return Curves(title, arms, *bands(beliefs))


def bands(
    beliefs: Sequence[Sequence[CurvePoint | None]],
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Estimates and the ends of their bands as arrays; NaN where there are none."""

    def numbers(name: str) -> FloatArray:
        values = [
            [np.nan if b is None or getattr(b, name) is None else getattr(b, name) for b in row]
            for row in beliefs
        ]
        return np.array(values, dtype=np.float64)

    return numbers("estimate"), numbers("low"), numbers("high")
