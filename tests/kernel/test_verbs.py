"""Verbs are found by the type of the params."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest

from rotting import policies
from rotting.kernel import verbs
from rotting.kernel.verbs import KINDS, Verbs, verbs_of
from rotting.policies.parts.arms import TIME, Arms, count_pull, no_pulls


class Params(NamedTuple):
    arm: int


class Other(NamedTuple):
    arm: int


class State(NamedTuple):
    arms: Arms
    told: Any


def init(params: Params, arms: int, capacity: int) -> State:
    return State(no_pulls(arms), np.zeros(4))


def choose(params: Params, state: State, draw: Any) -> int:
    return params.arm


def update(params: Params, state: State, arm: int, pull: int, reward: float) -> None:
    state.told[:] = params.arm, arm, pull, reward


def score(params: Params, state: State, arm: int, pull: int) -> float:
    return 10.0 * arm + pull


def refresh_score(params: Params, state: State, arm: int) -> None:
    state.told[0] = -arm


def set_truth(params: Params, state: State, models: Any, constants: Any) -> None:
    state.told[:2] = models, constants


@pytest.fixture
def two_kinds() -> Iterator[None]:
    """One with every verb, and one with those that it must have."""
    KINDS[Params] = Verbs(
        Params, State, init, choose, update, count_pull, score, refresh_score, set_truth
    )
    KINDS[Other] = Verbs(Other, State, init, lambda params, state, draw: 2, update, count_pull)
    yield
    del KINDS[Params], KINDS[Other]


@pytest.mark.usefixtures("two_kinds")
def test_the_params_say_whose_verbs_are_called() -> None:
    state = init(Params(1), 3, 10)
    assert verbs_of(Params(1)) is KINDS[Params]
    assert verbs.choose(Params(1), state, None) == 1
    assert verbs.choose(Other(1), state, None) == 2  # the same fields, another type
    verbs.pulled(Params(1), state, 2)
    assert state.arms.pulls.tolist() == [0, 0, 1]
    assert state.arms.clock[TIME] == 1
    verbs.update(Params(1), state, 2, 5, 0.5)
    assert state.told.tolist() == [1, 2, 5, 0.5]
    assert verbs.score(Params(1), state, 2, 5) == 25.0
    verbs.refresh_score(Params(1), state, 2)
    verbs.set_truth(Params(1), state, 7, 8)
    assert state.told.tolist() == [7, 8, 5, 0.5]


@pytest.mark.usefixtures("two_kinds")
def test_verbs_that_a_policy_does_not_have() -> None:
    state = init(Params(1), 3, 10)
    verbs.refresh_score(Other(1), state, 2)
    verbs.set_truth(Other(1), state, 7, 8)
    assert state.told.tolist() == [0, 0, 0, 0]
    with pytest.raises(ValueError, match=r"policy must have score, but that of .*Other.* has not"):
        verbs.score(Other(1), state, 0, 1)
    assert KINDS[Other].compiled == [KINDS[Other].choose, count_pull, update]
    assert KINDS[Params].compiled == [choose, count_pull, update, score, refresh_score, set_truth]


def test_pulls_are_counted_by_default() -> None:
    """The base class fills in what most policies need."""
    assert policies.UCB1.verbs.pulled is count_pull
    assert verbs_of(policies.UCB1().prepare(2, None, 10)) is policies.UCB1.verbs
    assert policies.WSWA.verbs.pulled is not count_pull


def test_unknown_params_are_refused() -> None:
    for wrong in (Params(1), (1, 2), None):
        with pytest.raises(ValueError, match="no policy is registered for params of"):
            verbs.choose(wrong, None, None)
