"""Posterior: an interval of theta, and rewards far from every model."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from helpers.cases import regret
from rotting import Gaussian, RandomArms, Scenario, models, policies
from rotting.kernel import verbs
from rotting.papers import levine2017
from rotting.policies import _posterior

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


@pytest.mark.parametrize(("sigma", "reward"), [(1e-9, 2.0), (0.5, 1e10), (0.5, 5e99)])
def test_rewards_far_from_every_model_are_borne(sigma: float, reward: float) -> None:
    """The best model has weight, however badly all fit."""
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
        state = player.core.state
        ranked = state.trusted if isinstance(policy, policies.Guarded) else state
        assert not np.isnan(ranked.ranking.value).any()


def by_hand(
    means: np.ndarray[Any, Any],
    prior: np.ndarray[Any, Any],
    seen: dict[int, float],
    pull: int,
    sigma: float,
    constants: bool,
    z: float,
) -> float:
    """Mean plus z deviations of a pull's value; means[theta, n - 1], rewards by pull."""
    pulls = np.array(sorted(seen))
    off = np.array([seen[n] for n in pulls]) - means[:, pulls - 1]
    constant = off.mean(axis=1) if constants else np.zeros(len(means))
    misfit = ((off - constant[:, None]) ** 2).sum(axis=1)
    weight = prior * np.exp(-(misfit - misfit.min()) / (2 * sigma**2))
    weight /= weight.sum()
    worth = constant + means[:, pull - 1]
    mean = float(weight @ worth)
    variance = float(weight @ (worth - mean) ** 2) + (sigma**2 / len(pulls) if constants else 0.0)
    return mean + z * math.sqrt(variance)


@pytest.mark.parametrize("constants", [False, True])
@pytest.mark.parametrize("z", [0.0, 1.5])
@pytest.mark.parametrize("weights", [None, [8, 1, 3]])
def test_what_a_pull_is_worth(constants: bool, z: float, weights: list[float] | None) -> None:
    """To nine digits, whether rewards are prompt or late; any pull may be asked about."""
    family = models.Polynomial().over([0.1, 0.25, 0.4], weights=weights)
    policy = policies.Posterior(family, 0.3, constants, "upper" if z else "mean", z)
    means = np.array([member.table(200) for member in family.members])
    rng = np.random.default_rng(3)
    player = policy.online(range(2), compiled=False)
    seen: list[dict[int, float]] = [{}, {}]
    waiting = []
    for t in range(80):
        waiting.append(player.select())
        while len(waiting) > (0 if t < 40 else 6):
            decision = waiting.pop(int(rng.integers(len(waiting))))
            reward = means[2 - decision.arm, decision.pull - 1] + 0.3 * rng.normal()
            player.update(decision, reward)
            seen[decision.arm][decision.pull] = reward
        for arm in (0, 1):
            if len(seen[arm]) < 2:
                continue
            for pull in (1, player.pulls[arm] + 1, player.pulls[arm] + 30):
                worth = verbs.score(player.core.params, player.core.state, arm, pull)
                hand = by_hand(means, family.prior, seen[arm], pull, 0.3, constants, z)
                assert worth == pytest.approx(hand, abs=1e-9)


@pytest.mark.parametrize("z", [0.0, 1.5])
@pytest.mark.parametrize(
    ("constants", "sigma", "close", "narrow"),
    [
        (False, 0.5, 0.001, 0),
        (True, 0.5, 0.001, 0),
        (False, 0.02, 0.05, 10),
        (True, 0.02, 0.003, 3),
    ],
)
def test_what_a_pull_is_worth_on_an_interval(
    constants: bool, z: float, sigma: float, close: float, narrow: int
) -> None:
    """Against sums over 3,200 thetas, while the posterior is wide and when it is narrow."""
    interval = models.Polynomial().between(0.1, 0.5, nodes=25)
    policy = policies.Posterior(interval, sigma, constants, "upper" if z else "mean", z)
    dense = np.arange(1, 500) ** -np.linspace(0.1, 0.5, 3201)[:, None]
    prior = np.ones(3201)
    prior[[0, -1]] = 0.5
    rng = np.random.default_rng(5)
    player = policy.online([0], compiled=False)
    seen: dict[int, float] = {}
    parabolas = 0
    for n in range(1, 301):
        seen[n] = n**-0.27 + sigma * float(rng.normal())
        player.update(player.select(), seen[n])
        if n < 10 or n % 29:
            continue
        params, state = player.core.params, player.core.state
        parabolas += not math.isnan(_posterior._narrow(params, state, 0, n + 1))
        for pull in (n + 1, n + 100):
            worth = verbs.score(params, state, 0, pull)
            hand = by_hand(dense, prior, seen, pull, sigma, constants, z)
            assert worth == pytest.approx(hand, abs=close * sigma)
    assert parabolas == narrow


@pytest.mark.parametrize("z", [0.0, 1.5])
@pytest.mark.parametrize("theta", [0.1, 0.5])
def test_at_an_end_of_the_interval_no_parabola_is_laid(theta: float, z: float) -> None:
    """The likeliest node has one neighbour only; sums over the nodes are good to some per cent."""
    interval = models.Polynomial().between(0.1, 0.5, nodes=25)
    policy = policies.Posterior(interval, 0.05, False, "upper" if z else "mean", z)
    nodes = np.array(interval.family.thetas)
    means = np.arange(1, 500) ** -nodes[:, None]
    prior = np.ones(25)
    prior[[0, -1]] = 0.5
    rng = np.random.default_rng(5)
    player = policy.online([0], compiled=False)
    seen: dict[int, float] = {}
    ends = 0
    for n in range(1, 61):
        seen[n] = n**-theta + (0.02 if theta == 0.1 else -0.02) + 0.05 * float(rng.normal())
        player.update(player.select(), seen[n])
        if player.core.state.closest[0] == (0 if theta == 0.1 else 24):
            ends += 1
            assert math.isnan(_posterior._narrow(player.core.params, player.core.state, 0, n + 1))
            worth = verbs.score(player.core.params, player.core.state, 0, n + 1)
            hand = by_hand(means, prior, seen, n + 1, 0.05, False, z)
            assert worth == pytest.approx(hand, abs=1e-9)
    assert ends > 20


@pytest.mark.parametrize("constants", [False, True])
@pytest.mark.parametrize("sigma", [0.3, None])
def test_the_weights_that_are_drawn_from(constants: bool, sigma: float | None) -> None:
    """prior exp(-misfit / (2 sigma^2)) of every theta, and their sum; sigma^2 is the one kept.

    Not known, it is the sum of the arms' least misfits by their rewards less one an arm, or two.
    """
    family = models.Polynomial().over([0.1, 0.25, 0.4], weights=[8, 1, 3])
    policy = policies.Posterior(family, sigma, constants, "thompson")
    means = np.array([member.table(200) for member in family.members])
    params = policy.prepare(3, None, 200)
    state = policy.verbs.init(params, 3, 200)
    assert state.weight.tolist() == [family.prior.tolist()] * 3
    assert state.mass.tolist() == pytest.approx([family.prior.sum()] * 3)
    rng = np.random.default_rng(3)
    need = 2 if constants else 1
    seen: list[dict[int, float]] = [{}, {}, {}]
    fits = np.zeros((3, 3))
    for t in range(60):
        arm = int(rng.integers(3)) if t > 8 else (0, 0, 1, 0, 1, 2, 0, 2, 1)[t]
        pull = 2 * len(seen[arm]) + 1 if t > 30 else len(seen[arm]) + 1
        seen[arm][pull] = float(means[arm, pull - 1] + (0.5 if constants else 0.0))
        seen[arm][pull] += 0.3 * float(rng.normal())
        policy.verbs.pulled(params, state, arm)  # type: ignore[misc]
        policy.verbs.update(params, state, arm, pull, seen[arm][pull])
        pulls = np.array(list(seen[arm]))
        off = np.array(list(seen[arm].values())) - means[:, pulls - 1]
        if constants:
            off -= off.mean(axis=1)[:, None]
        fits[arm] = (off**2).sum(axis=1)
        variance = 0.09
        if sigma is None:
            freedom = sum(len(known) - need for known in seen if known)
            unexplained = sum(fits.min(axis=1))
            trusted = freedom > 0 and unexplained > 1e-12 * freedom
            variance = unexplained / freedom if trusted else 1.0
        assert state.spread[arm] == pytest.approx(variance)
        weight = family.prior * np.exp(-(fits[arm] - fits[arm].min()) / (2 * variance))
        assert state.closest[arm] == np.argmin(fits[arm].round(9))
        assert state.weight[arm] == pytest.approx(weight, abs=1e-12)
        assert state.mass[arm] == pytest.approx(weight.sum())


def test_a_fit_without_misfit_says_nothing_about_sigma() -> None:
    """Rewards that a model explains to the last digit: sigma^2 is then taken as 1."""
    family = models.Plateau(length=3).over([0.1, 0.4])
    policy = policies.Posterior(family)
    params = policy.prepare(1, None, 50)
    state = policy.verbs.init(params, 1, 50)
    for n in range(1, 9):
        policy.verbs.pulled(params, state, 0)  # type: ignore[misc]
        policy.verbs.update(params, state, 0, n, params.mu[n, 1] + 1e-7 * (n == 2))
        assert state.spread[0] == 1.0
    policy.verbs.update(params, state, 0, 9, params.mu[9, 1] + 1e-5)
    assert state.spread[0] == pytest.approx(1e-10 / 8, rel=1e-3)
