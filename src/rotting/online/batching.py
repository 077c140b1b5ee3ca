"""Decisions and rewards in batches: one call into compiled code, exactly what single calls give."""

from __future__ import annotations

from typing import Any

import numpy as np

from rotting import checks
from rotting.arrays import FloatArray, IntArray
from rotting.live import steps
from rotting.live.ledger import BOUND
from rotting.online.answering import NOTHING, Answering
from rotting.online.decisions import Decisions

MOST = 10**8  # decisions at once: some GB


class Batching(Answering):
    """The part of a player that decides and learns in batches."""

    __slots__ = ()

    _COLUMNS = 3  # of a row, see `live.steps`

    def _decide_rows(self, rows: IntArray, allowed: list[int] | None) -> FloatArray:
        """Decide for each row; returns the propensities. The time has been set."""
        chances, done = np.zeros(len(rows)), 0
        try:
            if allowed is not None:
                self._restrict(allowed)
            while done < len(rows):
                made = self._work(steps.DECIDE, rows[done:], NOTHING, chances[done:])
                if made < 0:
                    self._refuse(made, int(rows[done, 0]))
                done += made
                if done < len(rows):
                    self._make_space(user=6)
        finally:
            self._desk.clock[BOUND] = 0
        return chances

    def update_many(self, decisions: Any, rewards: Any) -> None:
        """Learn the rewards of decisions made earlier, in this order: all of them or none.

        `decisions` are what `select_many` returned, or any number of decisions or pairs.
        """
        values = checks.rewards(rewards)
        given = decisions
        if not isinstance(decisions, Decisions):
            try:
                given = list(decisions)
            except TypeError:
                raise ValueError(f"decisions must be a list of them, got {decisions!r}") from None

        def learn() -> None:
            rows = self._rows_of(given)
            if len(rows) != len(values):
                raise ValueError(
                    f"rewards must be {len(rows)}, one for each decision, got {len(values)}"
                )
            wrong = self._work(steps.LEARN, rows, values, NOTHING)
            if wrong >= 0:
                self._refuse_row(wrong, *(int(x) for x in rows[wrong]))

        self._alone(learn)

    def _refuse_row(self, place: int, number: int, pull: int, why: int, key: int = 0) -> None:
        if not 0 <= number < len(self.arms):
            raise ValueError(
                f"numbers must be those of arms, from 0 to {len(self.arms) - 1}, "
                f"got {number} at place {place}"
            )
        arm = self.arms[number]
        if why == steps.TWICE:
            which = self._called(arm, key)
            raise ValueError(f"pull {pull} of {which} must come once, got it twice")
        raise ValueError(self._why_not(arm, number, pull, key))

    def _rows_of(self, decisions: Any) -> IntArray:
        """Rows for decisions that a player has made, in either form."""
        rows = np.zeros((len(decisions), self._COLUMNS), dtype=np.int64)
        if self._made_here(decisions):
            self._fill(rows, decisions)
            return rows
        for place, decision in enumerate(decisions):
            _, number, pull, key = self._named(decision)
            rows[place, 0], rows[place, 1] = number, checks.whole(pull)
            rows[place, 3:] = key
        return rows

    def _made_here(self, decisions: Any) -> bool:
        """Whether these are decisions whose arms have the numbers of this player's."""
        return (
            isinstance(decisions, Decisions)
            and decisions._arms == self.arms[: len(decisions._arms)]
        )

    def _fill(self, rows: IntArray, decisions: Any) -> None:
        rows[:, 0], rows[:, 1] = decisions.numbers, decisions.pulls
