"""A decision and a reward of online play: when an arm is judged again, and what is counted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from rotting.engines import steps
from rotting.verbs import KINDS, Verbs


class Params(NamedTuple):
    calls: list[str]  # plain Python may note what it does
    arms: list[int]  # to choose, in turn


@pytest.fixture(autouse=True)
def noted() -> Iterator[None]:
    """A policy that notes which of its verbs are called."""

    def note(name: str) -> Any:
        return lambda params, state, *rest: params.calls.append(
            " ".join(map(str, [name, *rest[: 1 if name != "update" else 2]]))
        )

    KINDS[Params] = Verbs(
        Params,
        tuple,
        lambda *_: (),
        lambda params, state, draw: params.arms.pop(0),
        note("update"),
        note("pulled"),
        rejudge=note("rejudge"),
    )
    yield
    del KINDS[Params]


def test_an_arm_is_judged_again_only_if_its_reward_is_late() -> None:
    calls: list[str] = []
    params, turn = Params(calls, [0, 1, 1, 0]), steps.new_turn(2)
    assert steps.decide(params, (), None, turn) == 0
    steps.learn(params, (), turn, 0, 1, 0.5)  # prompt
    assert steps.decide(params, (), None, turn) == 1
    assert calls == ["pulled 0", "update 0 1", "pulled 1"]
    assert steps.decide(params, (), None, turn) == 1  # the reward of the pull before is late
    steps.learn(params, (), turn, 1, 1, 0.5)  # it has come: arm 1 was judged
    steps.decide(params, (), None, turn)
    assert calls[3:] == ["rejudge 1", "pulled 1", "update 1 1", "pulled 0"]
    steps.learn(params, (), turn, 1, 2, 0.5)  # of another arm: arm 0 still waits
    assert turn.tolist() == [2, 0]


@pytest.mark.parametrize("wrong", [-1, 2, 7])
def test_an_arm_that_does_not_exist_is_not_counted(wrong: int) -> None:
    calls: list[str] = []
    turn = steps.new_turn(2)
    assert steps.decide(Params(calls, [wrong]), (), None, turn) == wrong
    assert calls == []
    assert turn.tolist() == [2, steps.NOBODY]
