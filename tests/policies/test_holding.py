"""A policy that holds another: it calls the other's verbs, compiled or not."""

from __future__ import annotations

import random as python_random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pytest

from cases import scenarios
from rotting import policies, simulate, verbs
from rotting.engines.compiled import compiling, stepper
from rotting.engines.loop import play
from rotting.policies import POLICIES, Policy, ucb1
from rotting.state import Counts
from rotting.verbs import KINDS, Verbs


class Params(NamedTuple):
    inner: ucb1.Params


class State(NamedTuple):
    inner: ucb1.State
    asked: Counts


def init(params: Params, arms: int, capacity: int) -> State:
    return State(ucb1.init(params.inner, arms, capacity), np.zeros(1, dtype=np.int64))


def choose(params: Params, state: State, draw: Any) -> Any:
    state.asked[0] += 1
    return verbs.choose(params.inner, state.inner, draw)


def pulled(params: Params, state: State, arm: int) -> None:
    verbs.pulled(params.inner, state.inner, arm)


def update(params: Params, state: State, arm: int, pull: int, reward: float) -> None:
    verbs.update(params.inner, state.inner, arm, pull, reward)


@dataclass(frozen=True)
class Holding(Policy):
    """UCB1 in another's hands."""

    verbs: ClassVar[Verbs] = Verbs(Params, State, init, choose, update, pulled)

    def prepare(self, arms: int, horizon: int | None, reach: int) -> Params:
        return Params(policies.UCB1().prepare(arms, horizon, reach))

    @classmethod
    def examples(cls) -> Sequence[Policy]:
        return [cls()]


del POLICIES[Holding.key]  # other tests play all that are registered


@pytest.mark.parametrize("compiled", [True, False])
def test_online_it_decides_as_the_other_would(compiled: bool) -> None:
    holding = Holding().online(range(4), compiled=compiled)
    alone = policies.UCB1().online(range(4), compiled=False)
    rng = python_random.Random(3)
    for _ in range(700):  # past a growth
        decision = alone.select()
        assert holding.select() == decision
        if rng.random() < 0.9:
            reward = rng.gauss(0.4, 0.3)
            alone.update(decision, reward)
            holding.update(decision, reward)
    assert holding._state.asked[0] == 700
    np.testing.assert_array_equal(holding._state.inner.total, alone._state.total)


@pytest.mark.parametrize("engine", ["cpu", "reference"])
def test_simulated_it_is_the_other(engine: str) -> None:
    scenario = scenarios()["constants"]
    one = simulate(Holding(), scenario, runs=3, noise="common", engine=engine)
    other = simulate(policies.UCB1(), scenario, runs=3, noise="common", engine="reference")
    np.testing.assert_array_equal(one.pulls, other.pulls)
    np.testing.assert_array_equal(one.regret, other.regret)


def another_update(
    params: ucb1.Params, state: ucb1.State, arm: int, pull: int, reward: float
) -> None:
    state.total[arm] -= reward


def test_an_edit_of_the_other_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is compiled, for simulation and for online play, has another name then."""

    def names() -> tuple[str, str]:
        params = Holding().prepare(2, None, 100)
        state = init(params, 2, 100)
        loop: Any = compiling._compile(play, params, state, "")
        return loop.py_func.__qualname__, stepper._layout_of(params, state)

    before = names()
    assert names() == before
    edited = KINDS[ucb1.Params]._replace(update=another_update)
    monkeypatch.setitem(KINDS, ucb1.Params, edited)
    assert all(now != then for now, then in zip(names(), before, strict=True))
