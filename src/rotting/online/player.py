"""The online object: a policy played one decision at a time, as a service would."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from rotting import checks
from rotting.live import ledger as at_
from rotting.online import saving
from rotting.online.batching import MOST
from rotting.online.columns import columns_of
from rotting.online.deciding import Deciding
from rotting.online.decisions import Decision, Decisions
from rotting.online.playing import Playing
from rotting.online.proposing import Proposal, flags


class Player(Deciding, Playing):
    """Plays a policy online. Made by `policy.online(arms, seed=0)`.

    `select()` decides; it counts as a pull at once, for the arm rots whether or not its reward
    ever arrives. `update(decision, reward)` learns; rewards may come later, in any order. No click
    is a reward of zero, not a reward that never came: send it, or give a reward window and
    `default_reward=0.0`. A player saves to bytes or JSON and continues exactly. Threads may share
    it: whatever reads or changes it excludes everything else.

    >>> from rotting import policies
    >>> player = policies.UCB1().online(["red", "blue"], seed=0, compiled=False)
    >>> first, second = player.select(), player.select()
    >>> player.update(second, reward=1.0)
    >>> player.update(first, reward=0.0)
    >>> player.select()
    Decision(arm='blue', pull=2)
    """

    __slots__ = ()

    def propose(self, among: Iterable[Any] | None = None) -> Proposal:
        """Decide as `select`, but count nothing: `take` does that when the arm is really used."""
        allowed = flags(self, among)
        return self._alone(lambda: self._propose(None, (), allowed))

    def take(self, proposal: Proposal) -> Decision:
        """Count the pull of an arm that was proposed; its reward is waited for from now on."""
        number = self._number("arm of a proposal", proposal.arm)
        return Decision(proposal.arm, self._alone(lambda: self._take((), number, proposal)))

    def select_by(self, names: Sequence[str]) -> Decisions:
        """Decide once for each name: exactly as `draw_by(name)` and `select()`, one by one."""
        rows, chances = self._alone(lambda: self._select_by(names, None))
        numbers, pulls = rows[:, 0].copy(), rows[:, 1].copy()
        if not self._assigned:
            return Decisions(self.arms, numbers, pulls)
        return Decisions(self.arms, numbers, pulls, chances, rows[:, 2] != 0)

    def select_many(
        self, count: int, among: Iterable[Any] | None = None, at: Any = None
    ) -> Decisions:
        """Decide so many times in a row, before any of the rewards: as `select` would each time."""
        rows = np.zeros((checks.integer("count", count, 0, MOST), 3), dtype=np.int64)
        allowed = None if among is None else self._flags(among)

        def decide() -> Any:
            if at is not None or self._timed:
                self._set_time(at, self._somebody(allowed))
            return self._decide_rows(rows, allowed)

        chances = self._alone(decide)
        numbers, pulls = rows[:, 0].copy(), rows[:, 1].copy()
        if not self._assigned:
            return Decisions(self.arms, numbers, pulls)
        return Decisions(self.arms, numbers, pulls, chances, rows[:, 2] != 0)

    def learn(
        self,
        arms: Any,
        rewards: Any = None,
        *,
        pulls: Any = None,
        propensities: Any = None,
    ) -> int:
        """Learn from history: these arms were shown, in this order, with these rewards.

        The player is then exactly where it would be had it made those pulls itself. `arms` are
        labels and `rewards` numbers; or `arms` is a frame (pandas, polars, Arrow) and `rewards`
        names its column, as in `player.learn(frame[["creative", "clicked"]], "clicked")`. `pulls`
        are the pull numbers where they are known: pulls left out were made, but their rewards are
        not known. `propensities`, the probabilities with which the arms were chosen, are needed by
        policies that learn by them (Exp3.S). A log (`logs.read`) is learnt as it is, in the order
        of time: `player.learn(log)`. Returns how many pulls were counted.
        """
        labels, values, pulls, propensities, whose = columns_of(arms, rewards, pulls, propensities)
        pulls = None if whose else pulls  # of a log with keys: those are each key's own
        rows = np.zeros((len(values), 3), dtype=np.int64)
        rows[:, 0] = self._numbers_of(labels)
        chances = self._chances(propensities, len(values))
        return self._alone(lambda: self._record(rows, values, chances, pulls))

    @classmethod
    def _check_kind(cls, saved: saving.Saved) -> None:
        if saved.audience is not None:
            raise ValueError(
                "saved state must be that of a Player, got one of an AudiencePlayer, which loads it"
            )

    def __repr__(self) -> str:
        decided = int(self._desk.clock[at_.DECIDED])
        return f"<Player of {self.policy.label}: {len(self.arms)} arms, {decided} decisions>"
