"""Guarded: better than the paper with a right family, and safe with a wrong one."""

from __future__ import annotations

import numpy as np
import pytest

from cases import regret
from rotting import Arm, Gaussian, Scenario, league, models, policies, simulate
from rotting.papers import levine2017
from rotting.random import new_draw, normal

SIGMA = levine2017.SIGMA


def test_better_than_the_paper() -> None:
    """AV: at most 0.6 of CTO's regret, no worse worst run. ANV: at most 0.2 of D-CTO's."""
    family = levine2017.FAMILY
    for better, theirs, scenario, most in (
        (policies.Guarded(family, SIGMA), policies.CTO(family), levine2017.av(), 0.6),
        (
            policies.Guarded(family, SIGMA, constants=True),
            policies.DCTO(family, SIGMA),
            levine2017.anv(),
            0.2,
        ),
    ):
        ours = simulate(better, scenario, runs=200, seed=6, checkpoints=1)
        base = simulate(theirs, scenario, runs=200, seed=6, checkpoints=1)
        assert ours.mean_regret[-1] < most * base.mean_regret[-1]
        if most == 0.6:
            assert ours.final_regret.max() <= base.final_regret.max()
        else:
            assert ours.final_regret.max() < base.mean_regret[-1]


@pytest.mark.parametrize("name", ["wrong_theta", "wrong_length", "wrong_constants"])
def test_a_wrong_family_costs_at_most_twice(name: str) -> None:
    entry = league.SCENARIOS[name]
    assert entry.family is not None
    guarded = policies.Guarded(entry.family, SIGMA, constants=entry.constants)
    ours, error = regret(guarded, entry.scenario, runs=100)
    free, _ = regret(policies.SteadyUCB(SIGMA), entry.scenario, runs=100)
    assert ours < 2 * free + 4 * error


def test_a_family_right_but_for_small_constants_costs_little() -> None:
    """Two arms of n^-0.01, off by +-0.02: it was 5.8 times SteadyUCB's regret."""
    family = models.Plateau(length=100).over([0.01, 0.3])
    arms = [Arm(models.Plateau(0.01), off) for off in (0.02, -0.02)]
    scenario = Scenario(arms, Gaussian(SIGMA), 20_000)
    ours, error = regret(policies.Guarded(family, SIGMA), scenario, runs=50)
    free, more = regret(policies.SteadyUCB(SIGMA), scenario, runs=50)
    assert ours < 2 * free + 3 * (error + 2 * more)


def test_an_arm_that_looked_worse_by_chance_is_tried_again() -> None:
    """The family is right and the arms are equal; greed stays with one of them: regret 125."""
    family = models.Plateau(length=100).over([0.01, 0.3])
    scenario = Scenario([Arm(models.Plateau(0.01))] * 2, Gaussian(SIGMA), 20_000)
    greedy, _ = regret(policies.Posterior(family, SIGMA), scenario, runs=20)
    ours, error = regret(policies.Guarded(family, SIGMA), scenario, runs=20)
    assert greedy > 50
    assert ours < 5 + 3 * error


def test_a_right_family_is_not_doubted() -> None:
    """None of 20 runs of 1,500 decisions gives up a family that is right."""
    family = models.Plateau(length=30).over([0.1, 0.25, 0.4])
    for seed in range(20):
        player = policies.Guarded(family, 0.4).online(range(3), compiled=True, seed=seed)
        draw = new_draw(seed)
        for _ in range(1500):
            arm, pull = decision = player.select()
            mean = float(family.members[arm].table(2000)[pull - 1])
            player.update(decision, mean + 0.4 * float(normal(draw)))
        assert player._state.doubted[0] == 0


def test_lost_rewards_are_no_reason_to_doubt() -> None:
    family = models.Polynomial().over([0.1, 0.25, 0.4])
    for seed in range(3):
        player = policies.Guarded(family, 0.1).online(range(3), compiled=True, seed=seed)
        rng = np.random.default_rng(seed)
        for _ in range(1500):
            arm, pull = decision = player.select()
            if rng.random() < 0.5:
                mean = float(family.members[arm].mean(pull))
                player.update(decision, mean + 0.1 * rng.normal())
        assert player._state.doubted[0] == 0
