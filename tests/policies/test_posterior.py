"""Posterior: an interval of theta, and rewards far from every model."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cases import regret
from rotting import Gaussian, RandomArms, Scenario, models, policies
from rotting.papers import levine2017

SIGMA = levine2017.SIGMA


def test_the_posterior_on_an_interval_does_not_lose_between_nodes() -> None:
    truth = models.Plateau(length=100).over([0.13, 0.22, 0.31, 0.37])
    scenario = Scenario(RandomArms(truth, 10), Gaussian(SIGMA), 10_000)
    plateau = models.Plateau(length=100)
    ours, error = regret(policies.Posterior(plateau.between(0.1, 0.4, 17), SIGMA), scenario)
    finer, other = regret(policies.Posterior(plateau.between(0.1, 0.4, 65), SIGMA), scenario)
    coarse, _ = regret(policies.Posterior(plateau.over([0.1, 0.25, 0.4]), SIGMA), scenario)
    assert ours < coarse
    assert abs(ours - finer) < 4 * math.hypot(error, other)


@pytest.mark.parametrize(("sigma", "reward"), [(1e-9, 2.0), (0.5, 1e10), (0.5, 1e100)])
def test_rewards_far_from_every_model_are_borne(sigma: float, reward: float) -> None:
    """However bad all models fit, the best of them has weight."""
    family = models.Polynomial().over([0.1, 0.25, 0.4])
    for policy in (
        policies.Posterior(family, sigma),
        policies.Posterior(family, sigma, rule="thompson"),
        policies.Posterior(family, sigma, constants=True, rule="upper"),
        policies.Guarded(family, sigma),
    ):
        player = policy.online(range(2), compiled=False)
        for n in range(12):
            decision = player.select()
            player.update(decision, reward * (1 + n % 2))
        state = player._state
        ranked = state.trusted if isinstance(policy, policies.Guarded) else state
        assert not np.isnan(ranked.ranking.value).any()
