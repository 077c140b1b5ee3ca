"""Exp3.S: its weights when rewards are late, and its stored probabilities."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rotting import policies
from rotting.kernel.random import new_draw, uniform
from rotting.policies import _exp3s


def test_a_late_reward_is_credited_with_the_probability_of_its_pull() -> None:
    """Or, once there were eight more pulls of the arm, of a later one; weights and arms by hand."""
    policy = policies.EXP3S(gamma=0.3, alpha=0.02, low=-1.0, high=3.0)
    params = policy.prepare(3, None, 100)
    state = policy.verbs.init(params, 3, 100)
    draw = new_draw(7)
    rng = np.random.default_rng(2)
    weights = np.ones(3)
    pulls = [0, 0, 0]
    remembered: dict[tuple[int, int], float] = {}
    waiting: list[tuple[int, int]] = []
    for _ in range(300):
        chances = 0.7 * weights / weights.sum() + 0.1
        u = float(uniform(draw.copy()))
        arm = int(policy.verbs.choose(params, state, draw))
        assert arm == min(2, int(np.searchsorted(np.cumsum(chances), u, side="right")))
        policy.verbs.pulled(params, state, arm)  # type: ignore[misc]
        pulls[arm] += 1
        remembered[arm, pulls[arm] % 8] = chances[arm]
        waiting.append((arm, pulls[arm]))
        while len(waiting) > 6 or (waiting and rng.random() < 0.3):
            late, pull = waiting.pop(int(rng.integers(len(waiting))))
            reward = float(rng.normal(late, 2.0))
            policy.verbs.update(params, state, late, pull, reward)
            share = math.e * 0.02 / 3 * weights.sum()
            x = min(1.0, max(0.0, (reward + 1.0) / 4.0))
            weights[late] *= math.exp(0.3 * x / (remembered[late, pull % 8] * 3))
            weights += share
            assert state.weight / state.weight.sum() == pytest.approx(weights / weights.sum())
    assert state.chance.shape == (3, 8)


def test_large_weights_are_made_small_together() -> None:
    policy = policies.EXP3S()
    params = policy.prepare(3, None, 100)
    state = policy.verbs.init(params, 3, 100)
    for large in (0.9e100, 1.1e100):
        state.weight[:] = [1e50, large, 2e99]
        state.chance[:] = 1.0
        policy.verbs.update(params, state, 0, 1, 0.0)
        share = math.e * 1e-4 / 3 * (large + 2e99)
        expected = np.array([share, large + share, 2e99 + share])
        if large > 1e100:
            expected /= expected.max()
        assert state.weight == pytest.approx(expected)


def test_numbers_at_the_ends_draw_the_first_and_the_last_arm(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Also where rounding leaves the probabilities short of one."""
    policy = policies.EXP3S(gamma=0.5)
    params = policy.prepare(3, None, 100)
    state = policy.verbs.init(params, 3, 100)
    first = 0.5 * 1.0 / 3.0 + 0.5 / 3  # a number that equals it is beyond the first arm
    for u, arm in ((0.0, 0), (0.3, 0), (first, 1), (0.4, 1), (0.9, 2), (1.0, 2)):
        monkeypatch.setattr(_exp3s, "uniform", lambda draw, u=u: u)
        assert policy.verbs.choose(params, state, new_draw(1)) == arm
        assert state.chance[arm, 1] == pytest.approx(1 / 3)
        state.chance[:] = 0.0
    with pytest.raises(ValueError, match=r"high must be a number > 1, got 1\.0"):
        policies.EXP3S(low=1.0, high=1.0)
