"""Bounds of CTO and D-CTO_UCB, against twins and simulated regret."""

from __future__ import annotations

import math

import numpy as np
import pytest

import twins.models
from helpers.cases import PAIR
from rotting import Arm, Gaussian, Scenario, models, policies, simulate, theory
from twins import theory_parametric as naive

SIGMA = 0.2**0.5
SIGMA = 0.2**0.5


@pytest.mark.parametrize("seed", range(6))
def test_regret_stays_below_the_parametric_bounds(seed: int) -> None:
    """Two distant models and little noise: horizons that Theorems 4.1 and 4.2 speak about."""
    rng = np.random.default_rng(seed)
    family = models.Polynomial().over([rng.uniform(0.1, 0.2), rng.uniform(0.4, 0.49)])
    sigma = rng.uniform(0.02, 0.06)
    thetas = [family.thetas[k] for k in rng.integers(0, 2, size=2)]
    own = [models.Polynomial(theta) for theta in thetas]
    start = theory.t_sim(thetas, family, sigma)
    assert start < 100_000
    at_start = Scenario([Arm(model) for model in own], Gaussian(sigma), int(start))
    cto = simulate(policies.CTO(family), at_start, runs=40, seed=seed, checkpoints=1)
    bound = theory.cto_regret_bound(thetas, family, sigma, int(start))
    assert bound == 1.0
    assert cto.mean_regret[-1] <= bound
    constants = [0.0, float(rng.uniform(0.2, 0.6))]
    pulls = theory.m_star(family, 0.1 / 2, sigma, "difference", "bound").max()
    horizon = int(6 * pulls) + 1000
    arms = [Arm(model, constant=c) for model, c in zip(own, constants, strict=True)]
    dcto = simulate(
        policies.DCTO_UCB(family, sigma, delta=0.1),
        Scenario(arms, Gaussian(sigma), horizon),
        runs=40,
        seed=seed,
        checkpoints=1,
    )
    # the bound holds with probability 1 - delta
    known = theory.dcto_ucb_regret_bound(own, constants, sigma, horizon, float(pulls))
    assert np.mean(dcto.final_regret > known) <= 0.1


def test_t_sim_and_ctos_bound() -> None:
    """The optimisation bound of two arms is 240,630, and there CTO's regret is zero."""
    assert theory.t_sim([0.1, 0.4], PAIR, SIGMA) == 240_630
    assert theory.cto_regret_bound([0.1, 0.4], PAIR, SIGMA, 240_630) == 1.0
    assert theory.cto_regret_bound([0.1, 0.4], PAIR, SIGMA, 240_629) == 240_629.0
    arms = [Arm(models.Plateau(theta, length=100)) for theta in (0.1, 0.4)]
    scenario = Scenario(arms, Gaussian(SIGMA), 240_630)
    result = simulate(policies.CTO(PAIR), scenario, runs=20, checkpoints=1)
    assert np.all(np.abs(result.final_regret) < 1e-6)
    with pytest.raises(ValueError, match="arms must have their theta in Theta"):
        theory.t_sim([0.2], PAIR, SIGMA)


@pytest.mark.parametrize(
    ("length", "arms", "sigma"),
    [(3, [0.3, 0.5], 0.05), (5, [0.2, 0.4], 0.05), (5, [0.4, 0.4], 0.1)],
)
def test_t_sim_against_its_twin(length: int, arms: list[float], sigma: float) -> None:
    family = models.Plateau(length=length).over(
        [0.2, 0.3, 0.4, 0.5] if arms[0] == 0.3 else [0.2, 0.4]
    )
    thetas = list(family.thetas)
    limit = 500

    def m_star_of_p(p: float, theta: float) -> int:
        return int(theory.m_star(family, p, sigma, limit=2000)[thetas.index(theta)])

    def mu(n: int, theta: float) -> float:
        return twins.models.plateau(n, theta, length)

    theirs = naive.t_sim(arms, thetas, mu, sigma, m_star_of_p, limit)
    assert theirs is not None
    assert theory.t_sim(arms, family, sigma, farthest=limit) == theirs


def test_t_sim_of_the_appendix() -> None:
    """U(1/(K sqrt(2K)))/sqrt(2K) is larger than the optimisation's bound; and it is what it says.

    K = 2: 1/(K sqrt(2K)) = 1/4, sqrt(2K) = 2.
    """
    pair = models.Plateau(length=100).over([0.1, 0.4])
    found = theory.t_sim_by_balance(2, pair, SIGMA)
    assert found > theory.t_sim(2, pair, SIGMA) > theory.t_sim([0.1, 0.4], pair, SIGMA)
    u = round(found * 2)

    def side(n: int) -> float:
        return theory.bal(pair, float(theory.hardest_star(pair, SIGMA, 1 / (16 * math.log(n)))))

    assert side(u) <= u / 4
    assert side(u - 1) > (u - 1) / 4


def test_dcto_ucb_bound() -> None:
    """No epsilon does better than ours; a tie with the best constant is infinite."""
    thetas, constants = [0.3, 0.45, 0.3], [0.5, 0.1, 0.0]
    arms = [models.Polynomial(theta) for theta in thetas]
    ours = theory.dcto_ucb_regret_bound(arms, constants, 0.3, 10_000, detection=50)

    def mu(n: int, theta: float) -> float:
        return twins.models.polynomial(n, theta)

    def bound(epsilon: float, other: float) -> float:
        return naive.dcto_ucb_bound(
            thetas, constants, mu, 0.3, 10_000, 50, [0.0, epsilon, other], 800
        )

    # the arms' terms add up, and the best epsilon is a value of mu: one arm after the other
    values = [
        [mu(n, theta) for n in range(2, 700, 2) if mu(n, theta) < gap]
        for theta, gap in ((0.45, 0.4), (0.3, 0.5))
    ]
    one = min(values[0], key=lambda epsilon: bound(epsilon, 0.3))
    two = min(values[1], key=lambda epsilon: bound(one, epsilon))
    best = bound(one, two)
    assert ours <= best + 1e-9
    assert ours > 0.99 * best  # every second pull was tried
    tied = theory.dcto_ucb_regret_bound(arms, [0.5, 0.5, 0.0], 0.3, 10_000, detection=50)
    assert math.isinf(tied)
    assert math.isinf(theory.dcto_ucb_regret_bound(arms, constants, 0.3, 10_000, math.inf))
