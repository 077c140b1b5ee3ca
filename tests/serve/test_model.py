"""The service against its model, step by step and in random walks, which a wrong service fails."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from helpers.serve.pair import Clock, Pair
from helpers.serve.random_walk import (
    KEYS,
    LABELS,
    REWARDS,
    SPECIFICATIONS,
    WRONG,
    check_walk,
    opener,
    policies,
)

ids = st.sampled_from([f"d{n}" for n in range(6)])


names = st.sampled_from(list(SPECIFICATIONS))


keys = st.sampled_from(KEYS)


labels = st.sampled_from(LABELS)


rewards = st.sampled_from(REWARDS)


wrong = st.sampled_from(WRONG)


decisions = st.fixed_dictionaries(
    {"id": ids},
    optional={"key": keys, "among": st.lists(labels, min_size=1, max_size=3, unique=True)},
)


given = st.fixed_dictionaries(
    {"decision": ids, "reward": rewards}, optional={"id": st.sampled_from(["r1", "r2"])}
)


class Machine(RuleBasedStateMachine):
    """Requests of all kinds, restarts and time, in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.clock = Clock()
        self.pair = Pair(opener(Path(self.folder.name) / "rotting.db", self.clock), self.clock)

    def teardown(self) -> None:
        self.pair.end()
        self.folder.cleanup()

    @staticmethod
    def keyed(name: str, body: dict[str, Any]) -> dict[str, Any]:
        """With a key where the experiment wants one, and without where it does not."""
        if "audience" in SPECIFICATIONS[name]:
            return {"key": KEYS[0], **body}
        return {field: value for field, value in body.items() if field != "key"}

    @initialize()
    def first(self) -> None:
        for name in list(SPECIFICATIONS)[:-1]:
            self.create(name, 3)

    @rule(name=names, arms=st.integers(2, 4))
    def create(self, name: str, arms: int) -> None:
        body = {"name": name, "arms": LABELS[:arms], "seed": 1, **SPECIFICATIONS[name]}
        self.pair.create(body)

    @rule(name=names, body=decisions)
    def decide(self, name: str, body: dict[str, Any]) -> None:
        self.pair.post("decisions", name, self.keyed(name, body))

    @rule(name=names, body=decisions)
    def decide_as_it_comes(self, name: str, body: dict[str, Any]) -> None:
        self.pair.post("decisions", name, body)

    @rule(name=names, bodies=st.lists(st.one_of(decisions, wrong), max_size=6))
    def decide_many(self, name: str, bodies: list[Any]) -> None:
        self.pair.post(
            "decisions", name, [self.keyed(name, b) if isinstance(b, dict) else b for b in bodies]
        )

    @rule(name=names, body=given)
    def reward(self, name: str, body: dict[str, Any]) -> None:
        self.pair.post("rewards", name, body)

    @rule(name=names, bodies=st.lists(given, max_size=6))
    def reward_many(self, name: str, bodies: list[Any]) -> None:
        self.pair.post("rewards", name, bodies)

    @rule(name=names, body=given, field=st.sampled_from(["decision", "reward", "id"]), value=wrong)
    def reward_wrongly(self, name: str, body: dict[str, Any], field: str, value: Any) -> None:
        self.pair.post("rewards", name, {**body, field: value})

    @rule(name=names, decision=ids)
    def show(self, name: str, decision: str) -> None:
        self.pair.post("shown", name, {"decision": decision})

    @rule(name=names, decision=ids, arm=labels, key=keys, confirmed=st.sampled_from([None, False]))
    def show_other(
        self, name: str, decision: str, arm: str, key: str, confirmed: bool | None
    ) -> None:
        body = self.keyed(name, {"decision": decision, "arm": arm, "key": key})
        self.pair.post("shown", name, {**body, "confirmed": confirmed})

    @rule(
        name=st.sampled_from(["shown", "all"]),
        bodies=st.lists(st.fixed_dictionaries({"decision": ids}), max_size=6),
    )
    def show_many(self, name: str, bodies: list[Any]) -> None:
        self.pair.post("shown", name, bodies)

    @rule(name=names, verb=st.sampled_from(["add", "retire", "restore"]), arm=labels)
    def change_arms(self, name: str, verb: str, arm: str) -> None:
        self.pair.post("arms", name, {verb: arm})

    @rule(
        name=names,
        number=st.integers(0, 2),
        rows=st.lists(st.tuples(labels, rewards, keys), min_size=1, max_size=4),
    )
    def tell_history(self, name: str, number: int, rows: list[tuple[str, float, str]]) -> None:
        body = [self.keyed(name, {"arm": a, "reward": r, "key": k}) for a, r, k in rows]
        self.pair.post("history", name, {"id": f"h{number}", "rows": body})

    @rule(name=names, key=keys)
    def erase(self, name: str, key: str) -> None:
        self.pair.post("erase", name, {"key": key})

    @rule(name=names, number=st.integers(0, 1))
    def change_policy(self, name: str, number: int) -> None:
        self.pair.post("policy", name, {"policy": policies(name)[number]})

    @rule(seconds=st.sampled_from([1.0, 15.0, 40.0]))
    def wait(self, seconds: float) -> None:
        self.pair.wait(seconds)

    @precondition(lambda self: self.pair.model.seq > 3)
    @rule()
    def restart(self) -> None:
        self.pair.restart()

    @invariant()
    def the_same(self) -> None:
        self.pair.compare()


Machine.TestCase.settings = settings(
    max_examples=20,
    stateful_step_count=30,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)


TestService = Machine.TestCase


def test_a_random_walk() -> None:
    check_walk(1000, seed=1)


def test_a_right_service_passes() -> None:
    check_walk(300, seed=3, standin="")


def test_a_service_that_forgets_its_rewards_is_noticed() -> None:
    with pytest.raises(AssertionError, match="applied"):
        check_walk(300, seed=3, standin="twice")
