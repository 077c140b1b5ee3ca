"""The regret's baseline is computed once for all policies on the same runs."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from helpers.cases import scenarios
from rotting import Audience, policies, simulate
from rotting._engines import plan
from rotting._engines.audience_loop import play_audience_baseline
from rotting._engines.baseline import BASELINES, play_baseline


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many runs each call of the baseline's loop has played."""
    BASELINES.clear()
    found: list[int] = []

    def counting(*args: Any) -> None:
        found.append(args[5].models.shape[0])
        play_baseline(*args)

    def counting_keys(*args: Any) -> None:
        found.append(args[5].models.shape[0])
        play_audience_baseline(*args)

    monkeypatch.setattr(plan, "play_baseline", counting)
    monkeypatch.setattr(plan, "play_audience_baseline", counting_keys)
    return found


def test_the_next_policy_finds_it(played: list[int]) -> None:
    scenario = scenarios(60)["constants"]
    for policy in (policies.UCB1(), policies.RoundRobin()):
        simulate(policy, scenario, runs=3, engine="reference", checkpoints=2)
    assert played == [1, 1, 1]
    simulate(policies.UCB1(), scenario, runs=3, engine="reference", checkpoints=3)
    simulate(policies.UCB1(), scenario, runs=3, engine="reference", checkpoints=2, seed=1)
    assert played == [1] * 9  # other checkpoints, and another seed
    simulate(policies.UCB1(), scenario, runs=4, engine="reference", checkpoints=2)
    assert played == [1] * 10  # one more run


def test_fixed_arms_have_one_for_all_runs(played: list[int]) -> None:
    scenario = scenarios(60)["fixed"]
    simulate(policies.UCB1(), scenario, runs=5, engine="reference")
    assert played == [1]


def test_an_audience_has_one_for_all_runs_if_the_same_keys_come(played: list[int]) -> None:
    fixed = scenarios(60)["fixed"]
    for audience, times in (
        (Audience(4, "turns"), 1),
        (Audience(4, [0, 3, 1] * 20), 1),
        (Audience(4, [0, 3, 2] * 20), 1),  # others come: another one
        (Audience(4), 5),
        (Audience(4, "turns", factors=(0.5, 1.0)), 5),
    ):
        played.clear()
        scenario = dataclasses.replace(fixed, audience=audience)
        for policy in (policies.UCB1(), policies.RoundRobin()):
            simulate(policy, scenario, runs=5, engine="reference")
        assert played == [1] * times


def test_the_same_numbers_whether_found_or_made() -> None:
    scenario = scenarios(60)["random"]
    results = []
    for _ in range(2):
        BASELINES.clear()
        results += [simulate(policies.UCB1(), scenario, runs=4) for _ in range(2)]
    for other in results[1:]:
        np.testing.assert_array_equal(results[0].regret, other.regret)
        np.testing.assert_array_equal(results[0].adversarial_regret, other.adversarial_regret)


def test_a_request_is_named_by_the_label() -> None:
    """The noise of a policy depends on it."""
    scenario = scenarios(60)["fixed"]
    times = np.array([60])
    named = [
        plan.Request(policy, scenario, 0, "independent", times, 0, 1)
        for policy in (policies.UCB1(), policies.UCB1(c=1.0), policies.UCB1().online(range(3)))
    ]
    assert [request.name for request in named] == ["UCB1", "UCB1(c=1.0)", "Player"]
    keys = [plan.stream_keys(0, "independent", request.name) for request in named]
    assert len(set(keys)) == 3
    assert len({plan.stream_keys(0, "common", request.name) for request in named}) == 1
