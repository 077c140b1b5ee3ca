"""Work that does not fit into memory is refused before it starts, with the size it needs."""

from __future__ import annotations

import dataclasses
import tracemalloc
from typing import Any

import numpy as np
import pytest

from rotting import (
    Arm,
    Audience,
    Gaussian,
    HalfLife,
    RandomArms,
    Scenario,
    models,
    policies,
    simulate,
)
from rotting._engines import memory
from rotting._engines.plan import empty_outcome
from rotting.models._tables import CACHED
from rotting.policies import Policy

GIB = 1 << 30
ARMS = [Arm(models.Step(at=10, before=1.0, after=0.5)), Arm(models.Polynomial(0.3))]
PLAIN = Scenario(ARMS, Gaussian(0.5), horizon=1000)
DRAWN = RandomArms(models.Polynomial().between(0.1, 0.4), 3)


def long(horizon: int, scenario: Scenario = PLAIN) -> Scenario:
    return dataclasses.replace(scenario, horizon=horizon)


@pytest.fixture
def small_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine with 8 GiB left, on which nothing is prepared."""
    monkeypatch.setattr(memory, "available", lambda: 8 * GIB)


@pytest.mark.usefixtures("small_machine")
@pytest.mark.parametrize(
    ("policy", "scenario", "options", "message"),
    [
        (policies.UCB1(), PLAIN, {"runs": 10**12}, "runs must fit .* 774,860 GiB .* fewer runs"),
        (policies.UCB1(), PLAIN, {"runs": 10**6 * 20, "checkpoints": 100}, "15.5 GiB"),
        (
            policies.UCB1(),
            long(30_000),
            {"runs": 10**5, "checkpoints": 30_000},
            "100,000 runs at 30,000 checkpoints would take about 22.4 GiB and .* or checkpoints",
        ),
        (policies.UCB1(), PLAIN, {"runs": 10**8, "checkpoints": np.arange(1, 1001)}, "748 GiB"),
        (policies.UCB1(), long(10**12), {"runs": 1}, "horizon must fit into memory: the means"),
        (policies.UCB1(), long(10**12, Scenario(DRAWN, Gaussian(1.0), 1)), {"runs": 1}, "horizon"),
        (
            policies.UCB1(),
            long(10**9, Scenario(ARMS[:1], Gaussian(lambda n: 1 / n), 1)),
            {"runs": 1, "checkpoints": 10**9},
            "horizon must fit into memory: the means of all pulls up to the horizon of 1,000",
        ),
        (policies.UCB1(), PLAIN, {"runs": 2**53 + 1}, r"runs .* at most 2\*\*53, got"),
        (policies.UCB1(), long(2**31), {"runs": 1, "engine": "cuda"}, "'cuda' must be an integer"),
    ],
)
def test_refused_before_any_work(
    policy: Policy, scenario: Scenario, options: dict[str, Any], message: str
) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=message):
            simulate(policy, scenario, **options)
        assert tracemalloc.get_traced_memory()[1] < GIB // 2
    finally:
        tracemalloc.stop()


def test_a_state_that_turns_out_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """The policy is prepared, measured, and refused before it is played."""
    monkeypatch.setattr(memory, "available", lambda: 50 << 20)
    with pytest.raises(ValueError, match=r"the policy's state over 50,000 rounds .* threads"):
        simulate(policies.RAWUCB(1.0), long(50_000), runs=1, threads=64)


def test_results_take_what_is_predicted() -> None:
    made = empty_outcome(7, 11, 3)
    assert memory.result_bytes(7, 11, 3) == sum(array.nbytes for array in made)


@pytest.mark.parametrize(
    ("arms", "runs"), [(ARMS, 1), (ARMS[1:], 1), (DRAWN, 1), (DRAWN, 3)], ids=range(4)
)
def test_tables_take_what_is_predicted(arms: Any, runs: int) -> None:
    """Longer than what is cached one by one."""
    scenario = Scenario(arms, Gaussian(lambda n: 1.0 / n), horizon=CACHED + 1)
    tracemalloc.start()
    try:
        scenario.chunk(0, 0, runs)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert memory.table_bytes(scenario, runs, threads=1) == pytest.approx(peak, rel=0.25)


def test_what_fits_is_played(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = simulate(policies.RoundRobin(), PLAIN, runs=2, engine="reference")
    for left in (None, GIB):
        monkeypatch.setattr(memory, "available", lambda left=left: left)
        found = simulate(policies.RoundRobin(), PLAIN, runs=2, engine="reference")
        assert np.array_equal(found.regret, expected.regret)


def test_results_of_all_policies_count_together(monkeypatch: pytest.MonkeyPatch) -> None:
    one = memory.result_bytes(10**6, 100, 2) + memory.table_bytes(PLAIN, 10**6, 1)
    monkeypatch.setattr(memory, "available", lambda: 2 * one)
    memory.check([policies.UCB1()], PLAIN, 10**6, summed_up=True)
    with pytest.raises(ValueError, match="the results of 3 times 1,000,000 runs"):
        memory.check([policies.UCB1()] * 3, PLAIN, 10**6)


@pytest.mark.usefixtures("small_machine")
@pytest.mark.parametrize(
    ("audience", "options"),
    [
        (Audience(keys=2**31 - 1), {"runs": 1}),
        (Audience(keys=10**9, arrivals="zipf:1.1"), {"runs": 1, "engine": "reference"}),
        (Audience(keys=10**8, rest=HalfLife(5)), {"runs": 1, "threads": 8}),
    ],
    ids=["keys", "zipf", "rest"],
)
def test_an_absurd_number_of_keys(audience: Audience, options: dict[str, Any]) -> None:
    scenario = dataclasses.replace(PLAIN, audience=audience)
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=r"keys must fit .* take fewer keys, arms or threads"):
            simulate(policies.UCB1(), scenario, **options)
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "audience",
    [Audience(20_000, "zipf:1.1"), Audience(20_000, factors=(0.5, 1.0), rest=HalfLife(5))],
    ids=["kept", "fading"],
)
def test_an_audience_takes_what_is_predicted(audience: Audience) -> None:
    """Who was shown what, and who comes when: by the arrays that are made."""
    scenario = dataclasses.replace(PLAIN, audience=audience)
    policy = policies.CellUCB(sigma=1.0, cells=1)
    tracemalloc.start()
    try:
        simulate(policy, scenario, runs=1, engine="reference")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert memory.audience_bytes(scenario, 1, threads=1) == pytest.approx(peak, rel=0.4)
