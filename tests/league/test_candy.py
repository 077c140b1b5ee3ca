"""The Candy Cane Contest: its machines, and the shares of pi_max's reward that are on record."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from rotting import policies, simulate
from rotting.bandits import RandomArms
from rotting.league._candy import FAMILY, candy_cane
from rotting.policies import Policy

RECORD = Path(__file__).parents[2] / "benchmarks" / "results" / "candy_cane.json"


def test_machines_keep_97_percent_of_a_uniform_probability() -> None:
    scenario = candy_cane()
    assert (scenario.arm_count, scenario.horizon) == (100, 2000)
    assert isinstance(scenario.arms, RandomArms)
    arms = [arm for run in range(40) for arm in scenario.arms.arms(0, run)]
    first = np.array([float(arm.mean(1)) for arm in arms])
    assert 0.0 <= first.min() < 0.01
    assert 0.99 < first.max() <= 1.0
    assert first.mean() == pytest.approx(0.5, abs=4 * 12**-0.5 / len(first) ** 0.5)
    for arm, theta in zip(arms[:5], first, strict=False):
        np.testing.assert_allclose(arm.mean([1, 2, 101]), theta * 0.97 ** np.array([0, 1, 100]))


PLAYED: dict[str, Policy] = {
    "UCB1": policies.UCB1(),
    "CTO": policies.CTO(FAMILY),
    "Posterior upper, z = 1": policies.Posterior(FAMILY, rule="upper", z=1.0),
    "wSWA that keeps its history": policies.WSWA(0.2, 0.5, restart="keep"),
}


@pytest.mark.parametrize("name", PLAYED)
def test_shares_are_those_on_record(name: str) -> None:
    """Other runs than the record's; their scatter is known from it."""
    recorded = {row["policy"]: row for row in json.loads(RECORD.read_text())["rows"]}[name]
    runs = 20
    shares = simulate(PLAYED[name], candy_cane(), runs=runs, seed=1, checkpoints=1).share
    scatter = recorded["standard_error"] * (recorded["runs"] / runs) ** 0.5
    assert shares.mean() == pytest.approx(recorded["share"], abs=4 * scatter)
