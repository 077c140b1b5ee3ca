"""Decisions and rewards in batches: one call into compiled code, exactly what single calls give."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from rotting import checks
from rotting.engines import rows as batches
from rotting.engines.desk import RESTRICTED
from rotting.online.deciding import NOTHING, Deciding
from rotting.online.decisions import Decisions

_MOST = 10**8  # decisions at once: some GB


class Batching(Deciding):
    """The part of a player that decides and learns in batches."""

    __slots__ = ()

    def select_many(
        self, count: int, among: Iterable[Any] | None = None, at: Any = None
    ) -> Decisions:
        """Decide so many times in a row, before any of the rewards: as `select` would each time."""
        rows = np.zeros((checks.integer("count", count, 0, _MOST), 3), dtype=np.int64)
        chances = np.zeros(len(rows))
        allowed = None if among is None else self._flags(among)

        def decide() -> None:
            if at is not None or self._timed:
                self._set_time(at, self._somebody(allowed))
            done = 0
            try:
                if allowed is not None:
                    self._restrict(allowed)
                while done < len(rows):
                    made = self._work(batches.DECIDE, rows[done:], NOTHING, chances[done:])
                    if made < 0:
                        self._refuse(made, int(rows[done, 0]))
                    done += made
                    if done < len(rows):
                        self._make_space(user=5)
            finally:
                self._desk.clock[RESTRICTED] = 0

        self._alone(decide)
        numbers, pulls = rows[:, 0].copy(), rows[:, 1].copy()
        if not self._assigned:
            return Decisions(self.arms, numbers, pulls)
        return Decisions(self.arms, numbers, pulls, chances, rows[:, 2] != 0)

    def update_many(self, decisions: Any, rewards: Any) -> None:
        """Learn the rewards of decisions made earlier, in this order: all of them or none.

        `decisions` are what `select_many` returned, or any number of decisions or pairs.
        """
        values = checks.rewards(rewards)
        rows = np.zeros((len(values), 3), dtype=np.int64)
        if (
            isinstance(decisions, Decisions)
            and decisions._arms == self.arms[: len(decisions._arms)]
        ):
            numbers, pulls = decisions.numbers, decisions.pulls
        else:
            try:
                given = list(decisions)
            except TypeError:
                raise ValueError(f"decisions must be a list of them, got {decisions!r}") from None
            pairs = [self._pair(decision) for decision in given]
            numbers = np.array([number for _, number, _ in pairs], dtype=np.int64)
            pulls = np.array([checks.whole(pull) for *_, pull in pairs], dtype=np.int64)
        if len(numbers) != len(values):
            raise ValueError(
                f"rewards must be {len(numbers)}, one for each decision, got {len(values)}"
            )
        rows[:, 0], rows[:, 1] = numbers, pulls

        def learn() -> None:
            wrong = self._work(batches.LEARN, rows, values, NOTHING)
            if wrong >= 0:
                number, pull, why = (int(x) for x in rows[wrong])
                if not 0 <= number < len(self.arms):
                    raise ValueError(
                        f"numbers must be those of arms, from 0 to {len(self.arms) - 1}, "
                        f"got {number} at place {wrong}"
                    )
                arm = self.arms[number]
                twice = f"pull {pull} of arm {arm!r} must come once, got it twice"
                raise ValueError(
                    twice if why == batches.TWICE else self._why_not(arm, number, pull)
                )

        self._alone(learn)
