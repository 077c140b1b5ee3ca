"""A policy that holds another: it calls the other's verbs, compiled or not."""

from __future__ import annotations

import random as python_random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pytest

from helpers.cases import FAMILY, scenarios
from rotting import policies, simulate
from rotting._engines.compiled import calls, compiler
from rotting._engines.loop import play
from rotting.kernel import verbs
from rotting.kernel.state import Counts, Values
from rotting.kernel.verbs import KINDS, Verbs
from rotting.policies import POLICIES, Policy, _cto, _ucb1
from rotting.policies.parts.argmax import argmax
from rotting.policies.parts.arms import WAITING, next_untried


class Params(NamedTuple):
    inner: _ucb1.Params


class State(NamedTuple):
    inner: _ucb1.State
    asked: Counts


def init(params: Params, arms: int, capacity: int) -> State:
    return State(_ucb1.init(params.inner, arms, capacity), np.zeros(1, dtype=np.int64))


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


class JudgeParams(NamedTuple):
    inner: _cto.Params


class JudgeState(NamedTuple):
    inner: _cto.State
    worth: Values


def judge_init(params: JudgeParams, arms: int, capacity: int) -> JudgeState:
    return JudgeState(_cto.init(params.inner, arms, capacity), np.zeros(arms))


def judge_choose(params: JudgeParams, state: JudgeState, draw: Any) -> Any:
    arm = next_untried(state.inner.arms, 1)
    if arm < 0:
        for i in range(state.worth.size):
            pull = state.inner.arms.pulls[i] + 1
            state.worth[i] = verbs.score(params.inner, state.inner, i, pull)
        arm = argmax(state.worth, state.inner.arms.opening)
    return arm


def judge_pulled(params: JudgeParams, state: JudgeState, arm: int) -> None:
    verbs.pulled(params.inner, state.inner, arm)


def judge_update(
    params: JudgeParams, state: JudgeState, arm: int, pull: int, reward: float
) -> None:
    verbs.update(params.inner, state.inner, arm, pull, reward)


@dataclass(frozen=True)
class Asking(Policy):
    """It takes CTO's score of every arm's next pull, keeps no state, and plays the first best."""

    verbs: ClassVar[Verbs] = Verbs(
        JudgeParams, JudgeState, judge_init, judge_choose, judge_update, judge_pulled
    )

    def prepare(self, arms: int, horizon: int | None, reach: int) -> JudgeParams:
        return JudgeParams(policies.CTO(FAMILY).prepare(arms, horizon, reach))


# other tests play all that are registered
del POLICIES[Holding.key], POLICIES[Asking.key]


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
    assert holding.core.state.asked[0] == 700
    np.testing.assert_array_equal(holding.core.state.inner.total, alone.core.state.total)


@pytest.mark.parametrize("engine", ["cpu", "reference"])
def test_simulated_it_is_the_other(engine: str) -> None:
    scenario = scenarios()["constants"]
    one = simulate(Holding(), scenario, runs=3, noise="common", engine=engine)
    other = simulate(policies.UCB1(), scenario, runs=3, noise="common", engine="reference")
    np.testing.assert_array_equal(one.pulls, other.pulls)
    np.testing.assert_array_equal(one.regret, other.regret)


def another_update(
    params: _ucb1.Params, state: _ucb1.State, arm: int, pull: int, reward: float
) -> None:
    state.total[arm] -= reward


def test_an_edit_of_the_other_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is compiled, for simulation and for online play, has another name then."""

    def names() -> tuple[str, str]:
        params = Holding().prepare(2, None, 100)
        state = init(params, 2, 100)
        decide = calls.make_decide(calls._layout_of(params, state))
        loops = [compiler._compile(loop, params, state, "") for loop in (play, decide)]
        return loops[0].py_func.__qualname__, loops[1].py_func.__qualname__

    before = names()
    assert names() == before
    edited = KINDS[_ucb1.Params]._replace(update=another_update)
    monkeypatch.setitem(KINDS, _ucb1.Params, edited)
    assert all(now != then for now, then in zip(names(), before, strict=True))


def test_judgements_of_the_other_are_there_for_the_asking() -> None:
    """Compiled and plain agree, and it differs from CTO only where arms tie."""
    fast, slow = (Asking().online(range(4), compiled=compiled) for compiled in (True, False))
    rng = python_random.Random(3)
    for _ in range(400):
        decision = fast.select()
        assert slow.select() == decision
        inner = slow.core.state.inner
        if inner.arms.clock[WAITING] == 0:
            pulls = inner.arms.pulls + 1  # the next of each arm,
            pulls[decision.arm] -= 1  # and of this one the pull just made
            values = [_cto.score(slow.core.params.inner, inner, i, int(pulls[i])) for i in range(4)]
            assert values[decision.arm] == max(values)
        reward = rng.gauss(1.0 / decision.pull**0.25, 0.2)
        fast.update(decision, reward)
        slow.update(decision, reward)
    np.testing.assert_array_equal(fast.core.state.worth, slow.core.state.worth)
    assert min(fast.pulls.values()) > 20
