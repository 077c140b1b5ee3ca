"""pi_max with many arms: always one with the highest next mean, whatever was pulled."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from rotting import Arm, NoNoise, Scenario, models, policies, simulate
from rotting.kernel.random import new_draw, tie
from rotting.policies.parts.arms import TIME


def tables(arms: int, seed: int) -> list[list[float]]:
    """Means of few values, so that many tie."""
    rng = np.random.default_rng(seed)
    return [np.sort(rng.integers(0, 6, size=9))[::-1].astype(float).tolist() for _ in range(arms)]


@pytest.mark.parametrize("arms", [1, 2, 3, 4, 5, 8, 13])
def test_the_highest_next_mean_and_the_first_in_the_draw_of_ties(arms: int) -> None:
    """Pulls without a decision come in between: the heap is then repaired."""
    means = tables(arms, seed=arms)
    policy = policies.Oracle([Arm(models.Table(row)) for row in means])
    params = policy.prepare(arms, None, 200)
    state = policy.verbs.init(params, arms, 200)
    draw = new_draw(4)
    rng = np.random.default_rng(1)
    pulls = [0] * arms
    for t in range(120):
        ahead = [row[min(n, 8)] for row, n in zip(means, pulls, strict=True)]
        tied = [i for i in range(arms) if ahead[i] == max(ahead)]
        arm = int(policy.verbs.choose(params, state, draw))
        assert arm == min(tied, key=lambda i: tie(draw, i, pulls[i] + 1))
        if t % 5 == 3:
            arm = int(rng.integers(arms))
        policy.verbs.pulled(params, state, arm)  # type: ignore[misc]
        pulls[arm] += 1
        assert state.arms.pulls.tolist() == pulls
        assert state.arms.clock[TIME] == t + 1


def test_without_random_ties_it_collects_the_same() -> None:
    means = tables(6, seed=2)
    scenario = Scenario([Arm(models.Table(row)) for row in means], NoNoise(), 30)
    policy = policies.Oracle()
    params = policy.prepare_for(scenario, random_ties=False)._replace(means=scenario.world().means)
    bandits = scenario.bandits(0, 0, 1)
    state = policy.verbs.init(params, 6, 30)
    policy.verbs.set_truth(params, state, bandits.models[0], bandits.constants[0])  # type: ignore[misc]
    chosen = []
    for _ in range(30):
        chosen.append(int(policy.verbs.choose(params, state, new_draw(0))))
        policy.verbs.pulled(params, state, chosen[-1])  # type: ignore[misc]
    collected = sum(sum(means[arm][:n]) for arm, n in Counter(chosen).items())
    best = sum(sorted((x for row in means for x in row), reverse=True)[:30])
    assert collected == best
    result = simulate(policy, scenario, runs=2, engine="reference")
    assert np.all(result.regret == 0.0)
    assert result.total_reward.tolist() == [best, best]


def test_it_must_be_told_the_right_arms() -> None:
    arms = [Arm(models.Constant(0.5)), Arm(models.Constant(0.2))]
    scenario = Scenario([arms[1], arms[0]], NoNoise(), 5)
    with pytest.raises(ValueError, match="must be the scenario's own"):
        policies.Oracle(arms).prepare_for(scenario)
    with pytest.raises(ValueError, match="must be given to play online"):
        policies.Oracle().prepare(2, None, 10)
    with pytest.raises(ValueError, match="must be 3 arms, one a label, got 2"):
        policies.Oracle(arms).prepare(3, None, 10)
    told = policies.Oracle(arms).prepare(2, None, 10)
    assert told.random_ties
    assert told.models.size == 2


def test_one_arm_to_the_end() -> None:
    """Its last pull has no next mean."""
    scenario = Scenario([Arm(models.Polynomial(0.3))], NoNoise(), 5)
    assert simulate(policies.Oracle(), scenario, runs=1, engine="reference").pulls.tolist() == [[5]]
