"""Rewards, means and sigmas at the ends of what is allowed, and beyond."""

from __future__ import annotations

import dataclasses
import itertools
from typing import Any

import numpy as np
import pytest

from helpers.cases import examples
from rotting import Arm, Gaussian, NoNoise, Player, RandomArms, Scenario, models, policies, simulate
from rotting._checks import HUGE, TINY
from rotting.kernel.state import leaves
from rotting.policies import Policy

REWARDS: dict[str, list[float]] = {
    "huge": [HUGE],
    "huge, of both signs": [HUGE, -HUGE, -HUGE, HUGE, HUGE],
    "of all sizes": [HUGE, TINY, 0.0, -1.0, -HUGE, 1.0, -TINY],
    "tiny": [TINY, -TINY, -TINY],
}


def with_sigma(policy: Policy, sigma: float) -> Policy:
    """The policy with another sigma, where it has one."""
    told: Any = policy
    return dataclasses.replace(told, sigma=sigma) if getattr(policy, "sigma", None) else policy


@pytest.mark.parametrize("policy", examples(), ids=lambda policy: policy.short_label)
@pytest.mark.parametrize("sigma", [TINY, HUGE])
def test_every_policy_plays_on(policy: Policy, sigma: float) -> None:
    """No exception, an arm that exists, and a state that can be saved and loaded again."""
    for rewards in REWARDS.values():
        player = with_sigma(policy, sigma).online(range(3), horizon=100, compiled=False)
        with np.errstate(over="ignore", invalid="raise"):
            for _, reward in zip(range(40), itertools.cycle(rewards), strict=False):
                player.update(player.select(), reward)
        again = Player.from_json(player.to_json())
        assert again.select() == player.select()


def test_squares_of_long_sums_are_finite() -> None:
    """The square of a sum of 20,000 equal rewards of 1e150 would be infinite."""
    family = models.Polynomial().over([0.1, 0.4])
    policy = policies.Posterior(family, sigma=1.0, constants=True, rule="upper")
    player = policy.online([0], compiled=False)
    for _ in range(100):
        player.update(player.select(), HUGE)
    sums = next(leaf.value for leaf in leaves(player.core.state) if leaf.path == "fit.residual")
    assert np.all(np.isfinite((sums / 100 * 2.0**53) ** 2))  # as many rounds as there can be


@pytest.mark.parametrize("reward", [1e101, -1e160, 10**101, np.float64(1e300)])
def test_a_reward_beyond_is_refused(reward: Any) -> None:
    player = policies.UCB1().online([0, 1], compiled=False)
    decision = player.select()
    with pytest.raises(ValueError, match=r"reward must be a number from -1e\+100 to 1e\+100, got"):
        player.update(decision, reward)
    player.update(decision, 1.0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: policies.Posterior(models.Polynomial().over([0.1]), sigma=1e160), "sigma must be"),
        (lambda: policies.SteadyUCB(sigma=1e-160), "sigma must be .* squares would vanish"),
        (lambda: Gaussian(1e160), "sigma must be"),
        (lambda: Gaussian(1e-160), "sigma must be"),
        (lambda: Gaussian(lambda n: 1e-160 / n), "sigma at n = 4096 must be"),
        (lambda: Gaussian(lambda n: 1e102 / n), "sigma at n = 1 must be"),
        (lambda: models.Constant(1e160), "value of Constant must be"),
        (lambda: models.Step(10, 1.0, -1e160), "after of Step must be"),
        (lambda: models.Table([1e160]), "Table must be at most 1e100 in size"),
        (lambda: models.Function(lambda n: -1e160 * n), "at most 1e100 in size"),
        (lambda: models.Scaled(models.Polynomial(0.1), 1e160), "factor of Scaled must be"),
        (
            lambda: RandomArms(models.Polynomial().over([0.1]), 2, constants=(0, 1e160)),
            r"constants\[1\] must be",
        ),
    ],
)
def test_means_and_sigmas_beyond_are_refused(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_tables_are_looked_at_to_their_end() -> None:
    falls = Arm(models.Function(lambda n: np.where(n < 4500, 0.0, -1e120)))
    scenario = Scenario([falls, falls], NoNoise(), horizon=5000)
    with pytest.raises(ValueError, match=r"at most 1e100 in size, got -1e\+120 at n = 4500"):
        simulate(policies.RoundRobin(), scenario, runs=1, engine="reference")
