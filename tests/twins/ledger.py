"""The counts of a player, in plain lists and dicts, written from its documentation.

It does not decide: it gets the chosen arm, and returns those that were allowed. Whatever a
player must refuse raises `RefusedError`, before anything has changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

Pair = tuple[Any, int]


class RefusedError(Exception):
    """A player must not do this."""


class Ledger:
    """The ledger of one player."""

    def __init__(
        self,
        arms: Iterable[Any],
        window: int | None = None,
        lifetime: float | None = None,
        default: float | None = None,
    ) -> None:
        self.arms = list(arms)
        self.retired: list[Any] = []
        self.window, self.lifetime, self.default = window, lifetime, default
        self.chosen: list[Any] = []  # the arm of every decision, and of every pull of history
        self.waiting: dict[Pair, tuple[int, Any]] = {}  # number of the decision, and its time
        self.rewards: list[tuple[Any, int, float]] = []  # in the order in which they came
        self.settled: list[Pair] = []  # rewarded, dropped or given up
        self.expired = 0
        self.now: float | None = None

    def pulls(self, arm: Any) -> int:
        return self.chosen.count(arm)

    def open(self, among: Iterable[Any] | None) -> set[Any]:
        """The arms that may be chosen."""
        asked = set(self.arms if among is None else among)
        if not asked or not asked <= set(self.arms):
            raise RefusedError("among")
        allowed = asked - set(self.retired)
        if not allowed:
            raise RefusedError("nobody is open")
        return allowed

    def tell_time(self, at: float | None) -> None:
        if at is None:
            if self.lifetime is not None:
                raise RefusedError("the time must be said")
            return
        if self.now is not None and at < self.now:
            raise RefusedError("time does not run backwards")
        self.now = at

    def about_to_select(self, among: Iterable[Any] | None, at: float | None) -> set[Any]:
        """What comes before a decision: who may be chosen, and what is waited for no longer."""
        allowed = self.open(among)
        self.tell_time(at)
        self.give_up()
        return allowed

    def selected(self, arm: Any) -> Pair:
        """A decision: its pull waits for a reward."""
        self.chosen.append(arm)
        pair = arm, self.pulls(arm)
        self.waiting[pair] = len(self.chosen), self.now
        return pair

    def give_up(self) -> int:
        """Decisions that have waited too long get the default reward, or none."""
        given_up = 0
        for pair, (number, at) in list(self.waiting.items()):
            too_many = self.window is not None and len(self.chosen) - number >= self.window
            too_long = (
                self.lifetime is not None
                and self.now is not None
                and at is not None
                and self.now - at > self.lifetime
            )
            if too_many or too_long:
                given_up += 1
                if self.default is None:
                    self.drop(pair)
                else:
                    self.update(pair, self.default)
        self.expired += given_up
        return given_up

    def expire(self, at: float | None) -> int:
        self.tell_time(at)
        return self.give_up()

    def update(self, pair: Pair, reward: float) -> None:
        self.drop(pair)
        self.rewards.append((*pair, float(reward)))

    def update_many(self, pairs: Sequence[Pair], rewards: Sequence[float]) -> None:
        if len(pairs) != len(rewards) or len(set(pairs)) < len(pairs):
            raise RefusedError("one reward for each decision")
        if not set(pairs) <= self.waiting.keys():
            raise RefusedError("one of them does not wait")
        for pair, reward in zip(pairs, rewards, strict=True):
            self.update(pair, reward)

    def drop(self, pair: Pair) -> None:
        if pair not in self.waiting:
            raise RefusedError("it does not wait")
        del self.waiting[pair]
        self.settled.append(pair)

    def add(self, label: Any) -> None:
        if label in self.arms:
            raise RefusedError("a label never comes back")
        self.arms.append(label)

    def retire(self, label: Any) -> None:
        if label not in self.arms or label in self.retired:
            raise RefusedError("it is not open")
        self.retired.append(label)

    def restore(self, label: Any) -> None:
        if label not in self.retired:
            raise RefusedError("it is not retired")
        self.retired.remove(label)

    def learn(self, arms: Sequence[Any], rewards: Sequence[float], pulls: Any = None) -> int:
        """History: pulls that were made elsewhere; those left out got no reward."""
        if len(arms) != len(rewards) or not set(arms) <= set(self.arms):
            raise RefusedError("one reward for each arm")
        if pulls is not None:
            rows = list(zip(arms, pulls, strict=True))
            if len(set(rows)) < len(rows) or any(pull <= self.pulls(arm) for arm, pull in rows):
                raise RefusedError("pulls must be new")
        before, others = len(self.chosen), set(self.waiting)
        for k, arm in enumerate(arms):
            pull = self.pulls(arm) + 1 if pulls is None else pulls[k]
            while self.pulls(arm) < pull:
                self.selected(arm)
            self.update((arm, pull), rewards[k])
        for pair in self.waiting.keys() - others:
            self.drop(pair)
        return len(self.chosen) - before
