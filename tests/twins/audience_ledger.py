"""The counts of a player of an audience, in dicts, written from its documentation.

It does not decide: it gets the chosen arm, and returns those that were allowed. Whatever a
player must refuse raises `RefusedError`, before anything has changed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from twins.ledger import RefusedError

Name = tuple[Any, Any, int]  # key, arm, pull


class AudienceLedger:
    """The ledger of one player of an audience."""

    def __init__(
        self, arms: Iterable[Any], window: int | None = None, default: float | None = None
    ) -> None:
        self.arms = list(arms)
        self.retired: set[Any] = set()
        self.window, self.default = window, default
        self.shown: dict[Any, Counter[Any]] = {}  # by key
        self.pulls: Counter[Any] = Counter()
        self.decided = 0
        self.waiting: dict[Name, int] = {}  # the number of the decision
        self.rewards: Counter[Any] = Counter()  # how many have come, by arm
        self.total: dict[Any, float] = {}  # of those rewards, by arm

    def open(self, among: Iterable[Any] | None = None) -> set[Any]:
        """The arms that may be chosen; what has waited too long is given up before."""
        asked = set(self.arms if among is None else among)
        allowed = asked - self.retired
        if not asked or not asked <= set(self.arms) or not allowed:
            raise RefusedError("nobody is open")
        return allowed

    def expire(self) -> int:
        late = [
            name
            for name, number in self.waiting.items()
            if self.window is not None and self.decided - number >= self.window
        ]
        for name in late:
            self._give_up(name)
        return len(late)

    def _give_up(self, name: Name) -> None:
        if self.default is None:
            del self.waiting[name]
        else:
            self.update(name, self.default)

    def selected(self, key: Any, arm: Any) -> Name:
        """A decision: the arm was shown to the key."""
        counts = self.shown.setdefault(key, Counter())
        counts[arm] += 1
        self.pulls[arm] += 1
        self.decided += 1
        name = key, arm, counts[arm]
        self.waiting[name] = self.decided
        return name

    def update(self, name: Name, reward: float) -> None:
        if name not in self.waiting:
            raise RefusedError("it does not wait")
        del self.waiting[name]
        self.rewards[name[1]] += 1
        self.total[name[1]] = self.total.get(name[1], 0.0) + float(reward)

    def update_many(self, names: Sequence[Name], rewards: Sequence[float]) -> None:
        if len(set(names)) < len(names) or not set(names) <= self.waiting.keys():
            raise RefusedError("one of them does not wait")
        for name, reward in zip(names, rewards, strict=True):
            self.update(name, reward)

    def drop(self, name: Name) -> None:
        if name not in self.waiting:
            raise RefusedError("it does not wait")
        del self.waiting[name]

    def forget(self, key: Any) -> None:
        if key not in self.shown:
            raise RefusedError("it was not seen")
        for name in [name for name in self.waiting if name[0] == key]:
            self._give_up(name)
        del self.shown[key]

    def learn(self, keys: Sequence[Any], arms: Sequence[Any], rewards: Any, pulls: Any) -> int:
        """History; pulls that are left out were made and got no reward."""
        rows = list(zip(keys, arms, pulls or [0] * len(arms), strict=True))
        if pulls is not None and (
            len(set(rows)) < len(rows)
            or any(pull <= self.shown.get(key, Counter())[arm] for key, arm, pull in rows)
        ):
            raise RefusedError("pulls must be new")
        before, others = self.decided, set(self.waiting)
        for (key, arm, pull), reward in zip(rows, rewards, strict=True):
            wanted = pull or self.shown.get(key, Counter())[arm] + 1
            while self.shown.get(key, Counter())[arm] < wanted:
                self.selected(key, arm)
            self.update((key, arm, wanted), reward)
        for name in self.waiting.keys() - others:
            del self.waiting[name]
        return self.decided - before

    def add(self, arm: Any) -> None:
        if arm in self.arms:
            raise RefusedError("it is there")
        self.arms.append(arm)

    def retire(self, arm: Any) -> None:
        if arm not in self.arms or arm in self.retired:
            raise RefusedError("it is not open")
        self.retired.add(arm)

    def restore(self, arm: Any) -> None:
        if arm not in self.retired:
            raise RefusedError("it is not retired")
        self.retired.remove(arm)
