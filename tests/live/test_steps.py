"""Decisions and rewards of online play: when an arm's score is refreshed, and what is counted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from rotting._live import ledger as at
from rotting._live import steps
from rotting._live.ledger import Ledger, listed, new_ledger, no_waiting
from rotting.kernel.verbs import KINDS, Verbs


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
        refresh_score=note("rejudge"),
        set_open=note("reopen"),
    )
    yield
    del KINDS[Params]


def a_desk(arms: int = 2) -> Ledger:
    """One with space for a hundred decisions."""
    ledger = new_ledger(arms, seed=0)
    ledger.clock[[at.GROW_AT, at.GROW_AT_PULL]] = 100
    return ledger


def waiting(ledger: Ledger) -> list[tuple[int, int]]:
    return [(row[0], row[1]) for row in listed(ledger.waiting)]


def test_an_arm_is_judged_again_only_if_its_reward_is_late() -> None:
    calls: list[str] = []
    params, ledger = Params(calls, [0, 1, 1, 0]), a_desk()
    assert steps.decide(params, (), None, ledger) == (0, 1)
    assert steps.learn(params, (), ledger, 0, 1, 0.5)  # prompt
    assert steps.decide(params, (), None, ledger) == (1, 1)
    assert calls == ["pulled 0", "update 0 1", "pulled 1"]
    assert steps.decide(params, (), None, ledger) == (1, 2)  # the reward of the pull before is late
    assert steps.learn(params, (), ledger, 1, 1, 0.5)  # it has come: arm 1 has a score
    assert steps.decide(params, (), None, ledger) == (0, 2)
    assert calls[3:] == ["rejudge 1", "pulled 1", "update 1 1", "pulled 0"]
    assert steps.learn(params, (), ledger, 1, 2, 0.5)  # of another arm: arm 0 still waits
    assert ledger.clock[at.LATE] == 0
    assert waiting(ledger) == [(0, 2)]
    assert ledger.pulls.tolist() == [2, 2]
    assert ledger.last_chosen.tolist() == [4, 3]
    assert ledger.rewarded.tolist() == [1, 2]
    assert ledger.total.tolist() == [0.5, 1.0]


@pytest.mark.parametrize("wrong", [-1, 2, 7])
def test_an_arm_that_does_not_exist_is_not_counted(wrong: int) -> None:
    calls: list[str] = []
    ledger = a_desk()
    assert steps.decide(Params(calls, [wrong]), (), None, ledger) == (steps.NO_SUCH_ARM, wrong)
    assert calls == []
    assert ledger.clock[at.LATE] == at.NOBODY
    assert ledger.clock[at.DECIDED] == 0
    assert waiting(ledger) == []


def test_a_closed_arm_is_not_counted() -> None:
    """The policy had the closed arm marked, and chose it all the same."""
    calls: list[str] = []
    ledger = a_desk(3)
    ledger.open[1], ledger.clock[at.OPEN] = 0, 2
    assert steps.decide(Params(calls, [1]), (), None, ledger) == (steps.CLOSED, 1)
    assert calls == []
    ledger.allowed[:], ledger.clock[at.BOUND] = [0, 1, 1], 1
    assert steps.decide(Params(calls, [0]), (), None, ledger) == (steps.CLOSED, 0)
    assert calls == ["reopen [0 0 1]", "reopen [1 0 1]"]  # for this decision, and as before
    assert ledger.clock[at.DECIDED] == 0
    ledger.allowed[:] = [0, 1, 0]
    assert steps.decide(Params(calls, []), (), None, ledger) == (steps.NONE_OPEN, 0)


def test_nothing_happens_where_there_is_no_space() -> None:
    calls: list[str] = []
    ledger = a_desk()._replace(waiting=no_waiting(8))
    ledger.clock[at.GROW_AT] = 0
    assert steps.decide(Params(calls, []), (), None, ledger) == (steps.NO_SPACE, 0)
    ledger.clock[at.GROW_AT] = 100
    params = Params(calls, [0] * 9)
    decided = [steps.decide(params, (), None, ledger) for _ in range(9)]
    assert decided == [(0, n) for n in range(1, 9)] + [(steps.NO_SPACE, 0)]  # eight can wait
    assert steps.learn(params, (), ledger, 0, 4, 0.0)
    assert steps.decide(params, (), None, ledger) == (0, 9)


def test_a_reward_is_learnt_once_and_of_a_decision_that_waits() -> None:
    calls: list[str] = []
    params, ledger = Params(calls, [0, 1]), a_desk()
    for _ in range(2):
        steps.decide(params, (), None, ledger)
    before = len(calls)
    for arm, pull in ((0, 2), (1, 0), (1, -1), (2, 1), (0, 2**53)):
        assert not steps.learn(params, (), ledger, arm, pull, 1.0)
    assert steps.learn(params, (), ledger, 0, 1, 1.0)
    assert not steps.learn(params, (), ledger, 0, 1, 1.0)
    assert calls[before:] == ["update 0 1"]
    assert waiting(ledger) == [(1, 1)]
