"""Guarded: better than the paper with a right family, and safe with a wrong one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import twins.guarded
from helpers.cases import mu_of, regret
from rotting import Arm, Gaussian, Scenario, league, models, policies, simulate
from rotting.kernel.random import new_draw, normal
from rotting.papers import levine2017
from rotting.policies import _guarded

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
        assert player.core.state.doubted[0] == 0


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
        assert player.core.state.doubted[0] == 0


def hope_of(rewards: list[float], pulls: int, family: models.Family, sigma: float) -> float:
    """The best mean at four times the next pull, by thetas at most 1,000 times as unlikely.

    Rewards are of the pulls 1, 2, ...
    """
    n = np.arange(1, len(rewards) + 1)
    means = [np.asarray(model.mean(n)) for model in family.members]
    squares = [float(((np.array(rewards) - mean) ** 2).sum()) for mean in means]
    return max(
        float(model.mean(4 * (pulls + 1)))
        for model, square in zip(family.members, squares, strict=True)
        if math.exp((min(squares) - square) / (2 * sigma**2)) >= 1 / 1000
    )


@pytest.mark.parametrize(
    ("constants", "doubt", "offs", "given_up"),
    [
        (False, 2.0, (0.0, 0.0, 0.0), False),
        (False, 2.0, (0.15, 0.0, 0.0), True),
        (False, 50.0, (0.15, 0.0, -0.1), False),
        (True, 2.0, (1.0, 0.5, 0.0), False),
        (True, 0.05, (1.0, 0.5, 0.0), True),
    ],
)
def test_doubts_and_hopes_are_those_of_the_definitions(
    constants: bool, doubt: float, offs: tuple[float, ...], given_up: bool
) -> None:
    """After every 16th reward of an arm: whether it doubts, is unsure, and each arm's hope."""
    family = models.Plateau(length=30).over([0.05, 0.4, 0.2])
    mu, sigma = mu_of(family), 0.3
    policy = policies.Guarded(family, sigma, constants=constants, doubt=doubt)
    params = policy.prepare(3, None, 1000)
    state = policy.verbs.init(params, 3, 500)
    rng = np.random.default_rng(3)
    history: list[tuple[int, float]] = []
    rewards: list[list[float]] = [[], [], []]
    thetas: Any = list(family.thetas)
    found = set()
    for _ in range(288):
        arm = int(rng.choice([0, 0, 0, 1, 1, 2]))
        n = len(rewards[arm]) + 1
        reward = mu(n, thetas[arm]) + offs[arm] + sigma * float(rng.normal())
        policy.verbs.pulled(params, state, arm)  # type: ignore[misc]
        policy.verbs.update(params, state, arm, n, reward)
        history.append((arm, reward))
        rewards[arm].append(reward)
        if not constants:
            # a table's powers and single ones may differ in the last bit
            assert state.hope[arm] == pytest.approx(hope_of(rewards[arm], n, family, sigma), 1e-14)
        if n % 16 == 0:
            doubted = twins.guarded.is_doubted(history, 3, thetas, mu, sigma, constants, doubt)
            assert state.doubted[0] == doubted
            if doubted:
                break
            unsure = not constants and twins.guarded.is_unsure(history, 3, thetas, mu, sigma)
            assert state.unsure[0] == unsure
            found.add(unsure)
    assert doubted == given_up
    assert found == ({False} if constants or not any(offs) else {False, True})


def test_who_is_asked_again() -> None:
    """A neglected arm with hopes, if SteadyUCB's index of it is above the favourite's."""
    family = models.Plateau(length=30).over([0.05, 0.4])
    policy = policies.Guarded(family, 0.3)
    params = policy.prepare(3, None, 500)
    state = policy.verbs.init(params, 3, 500)
    state.trusted.arms.pulls[:] = [20, 5, 4]
    least = params.trusted.mu[21, 0]
    state.fallback.width[:] = 0.0
    for means, hope, closest, expected in (
        ([1.0, 9.0, 2.0], [least, least, least], 0, 2),  # arm 1 is not neglected
        ([1.0, 9.0, 1.0], [least, least, least], 0, 0),  # no better
        ([1.0, 9.0, 2.0], [least, least, least - 1e-9], 0, 0),  # no hopes
        ([1.0, 9.0, 2.0], [least, least, params.trusted.mu[21, 1]], 1, 2),
        ([3.0, 9.0, 2.0], [least, least, least], 0, 0),
    ):
        state.fallback.mean[:], state.hope[:] = means, hope
        state.trusted.closest[:] = closest
        assert _guarded._hopeful(params, state, 0) == expected
    state.trusted.arms.pulls[:] = [4, 4, 20]
    state.fallback.mean[:], state.hope[:], state.trusted.closest[:] = [3.0, 4.0, 1.0], 1.0, 0
    assert _guarded._hopeful(params, state, 2) == 1
    state.fallback.mean[:] = [4.0, 4.0, 1.0]
    assert _guarded._hopeful(params, state, 2) == 0  # the first if several
