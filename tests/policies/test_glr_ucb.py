"""GLR-UCB: its divergence, its upper bound and its test for a change, by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rotting import policies
from rotting.policies import _glr_ucb
from rotting.policies.parts.arms import WAITING


def kl(x: float, y: float) -> float:
    """Of two Bernoulli laws; 0 ln 0 is 0."""
    first = x * math.log(x / y) if x > 0 else 0.0
    return first + ((1 - x) * math.log((1 - x) / (1 - y)) if x < 1 else 0.0)


def test_divergence() -> None:
    assert _glr_ucb.divergence(0.5, 1.0, 3.0) == pytest.approx(4.0 / 0.5)
    for x in (0.0, 0.2, 0.7, 1.0):
        for y in (0.1, 0.5, 0.95):
            assert _glr_ucb.divergence(0.0, x, y) == pytest.approx(kl(x, y), abs=1e-6)
    assert _glr_ucb.divergence(0.0, 0.5, 1.0) > 5  # large, not infinite
    assert _glr_ucb.divergence(0.0, 0.5, 0.0) > 5


@pytest.mark.parametrize("mean", [-0.1, 0.0, 0.3, 0.99, 1.0, 1.2])
def test_the_upper_bound_has_the_divergence_of_its_level(mean: float) -> None:
    assert _glr_ucb._upper(0.5, mean, 2.0) == pytest.approx(mean + 0.5 * 2.0)
    for level in (0.001, 0.1, 1.0):
        upper = _glr_ucb._upper(0.0, mean, level)
        within = min(1.0, max(0.0, mean))
        assert within <= upper <= 1.0
        if 0.0 <= mean < 0.95 and upper < 0.9999:
            assert kl(within, upper) == pytest.approx(level, rel=1e-3)


@pytest.mark.parametrize("sigma", [0.5, None])
@pytest.mark.parametrize("at", [20, 64, 100, 135])
def test_a_change_is_seen_when_the_ratio_of_some_split_says_so(
    sigma: float | None, at: int
) -> None:
    """All splits by hand, over chunks of 64; the arm restarts at the first ratio too large."""
    policy = policies.GLRUCB(sigma=sigma, delta=0.05, every=1)
    rng = np.random.default_rng(at)
    params = policy.prepare(2, None, 300)
    state = policy.verbs.init(params, 2, 300)
    rewards: list[float] = []
    for n in range(1, 200):
        mean = 0.8 if n <= at else 0.3
        reward = float(rng.random() < mean) if sigma is None else mean + 0.5 * float(rng.normal())
        rewards.append(reward)
        total, most = sum(rewards), -1.0
        for s in range(1, n):
            first, second = sum(rewards[:s]) / s, sum(rewards[s:]) / (n - s)
            if sigma is None:
                value = s * kl(first, total / n) + (n - s) * kl(second, total / n)
            else:
                value = s * (n - s) / n * (first - second) ** 2 / (2 * sigma**2)
            most = max(most, value)
        threshold = (1 + 1 / n) * math.log(2 * n**1.5 / 0.05)
        policy.verbs.pulled(params, state, 1)  # type: ignore[misc]
        assert state.asked.tolist() == [0, n]
        policy.verbs.update(params, state, 1, n, reward)
        begun = state.arms.observed[1] == 0
        assert begun == (most >= threshold), n
        if begun:
            break
    assert begun
    assert n > at
    assert state.restart.tolist() == [0, n]
    assert state.asked.tolist() == [0, 0]
    assert state.arms.pulls.tolist() == [0, n]
    assert state.arms.clock[WAITING] == 2
    assert state.history.total[1] == 0.0


def test_arms_without_rewards_are_asked_in_turn() -> None:
    """The first of the arms scored least often, but never more often than the least pulled arm."""
    policy = policies.GLRUCB(sigma=0.5, delta=0.05, every=1)
    params = policy.prepare(4, None, 300)
    state = policy.verbs.init(params, 4, 300)
    for pulls, asked, observed, expected in (
        ([0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], 0),
        ([1, 0, 0, 0], [1, 0, 0, 0], [1, 0, 0, 0], 1),
        ([5, 4, 6, 4], [5, 2, 1, 4], [5, 0, 0, 4], 2),
        ([5, 4, 6, 4], [5, 4, 5, 4], [5, 0, 0, 4], 1),
        ([5, 3, 6, 4], [5, 3, 4, 4], [5, 3, 0, 4], -1),
        ([5, 3, 6, 4], [5, 3, 3, 4], [5, 3, 0, 4], 2),
        ([2, 2, 2, 9], [2, 2, 2, 2], [0, 2, 0, 0], 0),
    ):
        state.arms.pulls[:], state.asked[:], state.arms.observed[:] = pulls, asked, observed
        assert _glr_ucb._without_rewards(state) == expected


@pytest.mark.parametrize("sigma", [0.5, None])
def test_the_highest_upper_bound_is_chosen(sigma: float | None) -> None:
    """ln(t - tau) / n, tau the arm's restart; an arm whose rewards are late has no bound."""
    policy = policies.GLRUCB(sigma=sigma, delta=0.05, every=1)
    params = policy.prepare(3, None, 300)
    state = policy.verbs.init(params, 3, 300)
    state.arms.pulls[:] = state.asked[:] = [9, 12, 9]
    state.arms.observed[:] = [9, 4, 0]
    state.arms.clock[:] = [30, 1, 3]
    state.history.total[:] = [4.5, 1.6, 0.0]
    state.restart[:] = [0, 20, 0]
    for other in (0, 12):
        state.asked[2] = 9 + other  # not to be scored before the others
        arm = policy.verbs.choose(params, state, None)
    upper = [
        _glr_ucb._upper(params.sigma, 0.5, math.log(31) / 9),
        _glr_ucb._upper(params.sigma, 0.4, math.log(11) / 4),
    ]
    assert state.bound.tolist() == [*upper, -math.inf]
    assert arm == int(np.argmax(upper))
