"""The definition of regret: by brute force, by hand and at the edges."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import twins.common
import twins.oracle
from helpers.cases import examples, scenarios
from rotting import Arm, NoNoise, Scenario, models, policies, simulate


def mean_of(table: Any) -> twins.common.Mean:
    return lambda n: float(table[n - 1])


def test_lemma_2_1_by_brute_force() -> None:
    """pi_max collects as much as the best of all pull-count vectors."""
    rng = np.random.default_rng(1)
    for arms in (1, 2, 3):
        for _ in range(12):
            tables = [np.sort(rng.integers(-3, 6, size=8) / 2.0)[::-1] for _ in range(arms)]
            scenario = Scenario([Arm(models.Table(t.tolist())) for t in tables], NoNoise(), 8)
            best = twins.oracle.best_total([mean_of(t) for t in tables], 8)
            result = simulate(policies.Oracle(), scenario, runs=1, engine="reference")
            assert result.total_reward[0] == pytest.approx(best, abs=1e-12)
            assert result.final_regret[0] == 0.0


def test_regret_j_and_adversarial_regret_by_hand() -> None:
    """Round robin on means 1, 1, 0, 0 and a constant 0.5, for four rounds.

    pi_max takes 1 + 1 + 0.5 + 0.5 = 3; the best single arm 2; round robin 1 + 0.5 + 1 + 0.5 = 3
    after four rounds, and 1.5 against 2 after two.
    """
    arms = [Arm(models.Step(at=2, before=1.0, after=0.0)), Arm(models.Constant(0.5))]
    scenario = Scenario(arms, NoNoise(), horizon=4)
    result = simulate(policies.RoundRobin(), scenario, runs=1, engine="reference")
    assert result.regret.tolist() == [[0.0, 0.5, 0.0, 0.0]]
    assert result.total_reward.tolist() == [3.0]
    assert result.adversarial_regret.tolist() == [-1.0]
    assert result.pulls.tolist() == [[2, 2]]


def test_regret_of_the_oracle_is_zero_up_to_rounding() -> None:
    for scenario in scenarios().values():
        assert np.all(np.abs(simulate(policies.Oracle(), scenario, runs=4).regret) < 1e-10)


def test_one_arm_and_one_round() -> None:
    scenario = Scenario([Arm(models.Constant(1.0))], NoNoise(), horizon=1)
    for policy in examples():
        if isinstance(policy, (policies.Oracle, policies.DCTO_UCB)):
            continue
        assert simulate(policy, scenario, runs=1, engine="reference").final_regret[0] == 0.0


def test_constant_arms_share_a_table() -> None:
    arms = [Arm(models.Constant(float(i))) for i in range(1000)]
    scenario = Scenario(arms, NoNoise(), horizon=1000)
    assert scenario.world().means.shape == (1, 1000)
    assert simulate(policies.RoundRobin(), scenario, runs=1).total_reward[0] == 999 * 500
