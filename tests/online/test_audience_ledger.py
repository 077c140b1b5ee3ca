"""A player of an audience against a naive model of its ledger, through random events."""

from __future__ import annotations

import copy
import pickle
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rotting import AudiencePlayer, HalfLife, Window, models, policies
from rotting._online import save as saving
from twins.audience_ledger import AudienceLedger
from twins.ledger import RefusedError

FAMILY = models.Plateau(length=2).over([0.1, 0.3, 0.45])
CTO = policies.CTO(FAMILY)
WAYS: tuple[Callable[[AudiencePlayer], AudiencePlayer], ...] = (
    lambda player: AudiencePlayer.from_json(player.to_json()),
    lambda player: AudiencePlayer.from_bytes(player.to_bytes()),
    copy.copy,
    lambda player: pickle.loads(pickle.dumps(player)),
)
MANY = 45  # keys, for which space is made twice


class Episode:
    """Players that must do the same, and the ledger that they must agree with."""

    def __init__(self, policy: Any, seed: int, ways: tuple[bool, ...], **settings: Any) -> None:
        self.rng = random.Random(seed)
        self.players = [
            policy.audience(list("abc"), seed=seed, compiled=how, **settings) for how in ways
        ]
        self.ledger = AudienceLedger(
            "abc", settings.get("reward_window"), settings.get("default_reward")
        )
        self.assigned = "explore" in settings

    def all(self, do: Callable[[Any], Any], book: Callable[[], Any]) -> Any:
        """Done to all of them: refused by all, or the same answer from all."""
        found = []
        for player in self.players:
            try:
                found.append(("returned", do(player)))
            except ValueError as error:
                found.append(("refused", str(error)))
        assert all(one == found[0] for one in found), found
        try:
            wanted = "returned", book()
        except RefusedError:
            wanted = "refused", None
        assert found[0][0] == wanted[0], (found[0], wanted)
        if wanted[1] is not None:
            assert found[0][1] == wanted[1]
        return found[0][1] if wanted[0] == "returned" else None

    def a_key(self) -> Any:
        number = self.rng.randrange(MANY)
        return number if number % 3 else ("user", number)

    def select(self) -> None:
        key, books = self.a_key(), self.ledger
        among = self.rng.sample(books.arms, 2) if self.rng.random() < 0.3 else None
        made = self.all(lambda p: p.select(key, among), lambda: books.open(among) and None)
        self.decided([made] if made else [], among)

    def select_many(self) -> None:
        keys, books = [self.a_key() for _ in range(self.rng.randint(0, 12))], self.ledger
        if not books.arms or set(books.arms) == books.retired:
            return
        made = self.all(lambda p: list(p.select_many(keys)), lambda: None)
        assert [one.key for one in made] == keys
        self.decided(made, None)

    def decided(self, made: list[Any], among: Any) -> None:
        for one in made:
            assert one.arm in self.ledger.open(among)
            self.ledger.expire()
            assert tuple(one[:3]) == self.ledger.selected(one.key, one.arm)
            assert len(one) == (5 if self.assigned else 3)

    def a_name(self) -> Any:
        waiting = list(self.ledger.waiting)
        if not waiting or self.rng.random() < 0.15:
            return self.a_key(), self.rng.choice("abcx"), self.rng.choice((0, 1, 2, 5, 2**60))
        return self.rng.choice(waiting[-30:])

    def update(self) -> None:
        name, reward = self.a_name(), self.rng.gauss(0.5, 0.3)
        self.all(lambda p: p.update(name, reward), lambda: self.ledger.update(name, reward))

    def update_many(self) -> None:
        names = [self.a_name() for _ in range(self.rng.randint(0, 4))]
        rewards = [self.rng.gauss(0.5, 0.3) for _ in names]
        self.all(
            lambda p: p.update_many(names, rewards), lambda: self.ledger.update_many(names, rewards)
        )

    def drop(self) -> None:
        name = self.a_name()
        self.all(lambda p: p.drop(name), lambda: self.ledger.drop(name))

    def forget(self) -> None:
        key = self.a_key()
        self.all(lambda p: p.forget(key), lambda: self.ledger.forget(key))

    def expire(self) -> None:
        self.all(lambda p: p.expire(), self.ledger.expire)

    def learn(self) -> None:
        count = self.rng.randint(0, 6)
        keys = [self.a_key() for _ in range(count)]
        arms = [self.rng.choice(self.ledger.arms) for _ in range(count)]
        rewards = [self.rng.random() for _ in range(count)]
        pulls = None
        if self.rng.random() < 0.5:
            pulls = [
                int(self.ledger.shown.get(key, {}).get(arm, 0)) + self.rng.choice((0, 1, 1, 2, 4))
                for key, arm in zip(keys, arms, strict=True)
            ]
        chances = [0.5] * count  # which some policies need
        self.all(
            lambda p: p.learn(arms, rewards, keys=keys, pulls=pulls, propensities=chances),
            lambda: self.ledger.learn(keys, arms, rewards, pulls),
        )

    def arms(self) -> None:
        verb = self.rng.choice(("add", "retire", "restore", "restore"))
        arm = self.rng.choice([*self.ledger.arms, f"arm {len(self.ledger.arms)}"])
        if verb == "add" and len(self.ledger.arms) >= 6:
            verb = "retire"
        self.all(lambda p: getattr(p, verb)(arm), lambda: getattr(self.ledger, verb)(arm))

    def keep(self) -> None:
        self.players = [self.rng.choice(WAYS)(player) for player in self.players]

    def compare(self) -> None:
        for player in self.players:
            books = self.ledger
            assert sorted(map(repr, player.keys)) == sorted(map(repr, books.shown))
            assert player.pulls == {arm: books.pulls[arm] for arm in books.arms}
            assert set(player.retired) == books.retired
            assert [tuple(one) for one in player.outstanding] == sorted(
                books.waiting, key=lambda name: books.waiting[name]
            )
            for key in [*books.shown, "nobody"]:
                counts: Any = books.shown.get(key, {})
                assert player.shown(key) == {arm: counts.get(arm, 0) for arm in books.arms}
            table = player.table()
            for row in table:
                assert row.observed == books.rewards[row.arm]
                if row.observed:
                    assert row.mean == pytest.approx(books.total[row.arm] / row.observed)
        first, *others = [saving.saved_of(player.core.snapshot()) for player in self.players]
        for other in others:
            for one, two in ((first.state, other.state), (first.ledger, other.ledger)):
                assert one.keys() == two.keys()
                assert all(np.array_equal(one[k], two[k], equal_nan=True) for k in one)
            assert first.audience == other.audience

    def check(self, steps: int) -> None:
        verbs = (
            *(self.select, self.select_many, self.update, self.update_many, self.drop),
            *(self.forget, self.expire, self.learn, self.arms, self.keep),
        )
        weights = (40, 4, 30, 8, 3, 3, 2, 3, 3, 1)
        for step, verb in enumerate(self.rng.choices(verbs, weights=weights, k=steps), 1):
            verb()
            if step % 100 == 0:
                self.compare()


SETTINGS: dict[str, tuple[Any, dict[str, Any]]] = {
    "by key": (CTO, {}),
    "by key, windows of rewards": (CTO, {"reward_window": 9, "default_reward": 0.0}),
    "by key, control group": (CTO, {"explore": 0.3}),
    "pooled": (policies.SteadyUCB(None), {"reward_window": 30}),
    "pooled, late": (policies.SWUCB(tau=50), {}),
    "half-life": (policies.LCTO(FAMILY), {"rest": HalfLife(3.0)}),
    "half-life in rounds": (CTO, {"rest": HalfLife(30.0, "rounds"), "explore": 0.1}),
    "a state for each key": (policies.PerKey(policies.SteadyUCB(None)), {"reward_window": 12}),
    "capped": (policies.Capped(policies.UCB1(), 2), {}),
    "windows": (CTO, {"rest": Window(40)}),
    "windows of decisions": (CTO, {"rest": Window(2, "decisions")}),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_the_books_are_right(name: str) -> None:
    policy, settings = SETTINGS[name]
    Episode(policy, len(name), (False,), **settings).check(350)


@pytest.mark.parametrize(
    ("policy", "seed", "settings"),
    [(CTO, 1, {}), (CTO, 2, {"reward_window": 20, "default_reward": 0.0, "explore": 0.2})],
    ids=["late", "expiring"],
)
def test_compiled_players_do_the_same(policy: Any, seed: int, settings: Any) -> None:
    Episode(policy, seed, (True, False), **settings).check(600)


def test_compiled_players_do_the_same_where_keys_are_ignored() -> None:
    Episode(policies.RoundRobin(), 3, (True, False), reward_window=40).check(400)
