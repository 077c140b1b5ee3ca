"""Whether a family fits: both tests of residuals against their definitions."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rotting.policies._guarded import complete, differs, misses
from rotting.policies.parts.arms import Arms, no_pulls
from rotting.policies.parts.milestones import (
    LEVELS,
    Milestones,
    add_late_reward,
    add_reward,
    no_milestones,
)


def remember(kept: Milestones, arm: int, before: int, pull: int, reward: float) -> None:
    """One more reward of an arm; milestones are set by a mean of zero."""
    add_reward(kept, arm, before + 1, pull, reward, 0.0, 0.0)


SUMS = np.vstack([np.zeros(3), np.cumsum(np.random.default_rng(0).random((400, 3)), axis=0)])


@pytest.mark.parametrize("n", [1, 2, 63, 64, 65, 130])
def test_rewards_are_complete_if_they_are_those_of_the_first_pulls(n: int) -> None:
    kept = no_milestones(2, 400)
    for k in range(n):
        remember(kept, 1, k, k + 1, 1.0)
    assert complete(kept, 1, n)
    remember(kept, 1, n, n + 2, 1.0)
    assert not complete(kept, 1, n + 1)
    add_late_reward(kept, 1, n + 1, 1.0)
    assert complete(kept, 1, n + 2)


@pytest.mark.parametrize("n", [15, 16, 17, 32, 33, 48, 64, 80, 128, 144, 208, 256, 272, 300])
def test_a_miss_is_one_of_the_rewards_since_a_milestone_of_level_4_or_higher(n: int) -> None:
    """At a limit just below the largest |seen - expected| / sqrt(h) it misses, just above not."""
    rng = np.random.default_rng(n)
    for _ in range(8):
        k, constant = int(rng.integers(3)), float(rng.normal())
        rewards = np.diff(SUMS[: n + 1, k]) + constant + rng.normal(size=n)
        kept = no_milestones(2, 400)
        for i, reward in enumerate(rewards):
            remember(kept, 1, i, i + 1, reward)
        starts = [int(start) for start in kept.seen[1, LEVELS + 4 :] if start > 0]
        off = [
            abs(rewards[j:].sum() - (SUMS[n, k] - SUMS[j, k]) - constant * (n - j)) / (n - j) ** 0.5
            for j in starts
        ]
        assert len(off) == sum(n > level for level in (16, 32, 64, 128, 256))
        if n % 16 == 0:
            assert all(n - j >= 16 for j in starts)
        largest = max(off, default=0.0)
        assert misses(SUMS, kept, 1, n, k, constant, 0.999 * largest) == (n > 16)
        assert not misses(SUMS, kept, 1, n, k, constant, 1.001 * largest)


def test_a_limit_that_is_met_is_not_missed() -> None:
    """Sixteen rewards after the 16th that are one too large each: 16 = 4 sqrt(16)."""
    kept = no_milestones(1, 400)
    for i in range(32):
        remember(kept, 0, i, i + 1, float(i >= 16))
    assert kept.seen[0, LEVELS + 4] == 16
    assert not misses(np.zeros((33, 1)), kept, 0, 32, 0, 0.0, 4.0)
    assert misses(np.zeros((33, 1)), kept, 0, 32, 0, 0.0, 3.99)


def played(residuals: list[list[float]], closest: list[int]) -> tuple[Milestones, Arms]:
    """Arms whose rewards are those of their models and the residuals."""
    kept, arms = no_milestones(len(residuals), 2000), no_pulls(len(residuals))
    for arm, off in enumerate(residuals):
        means = np.diff(SUMS[: len(off) + 1, closest[arm]])
        for n, (mean, extra) in enumerate(zip(means, off, strict=True), start=1):
            remember(kept, arm, n - 1, n, mean + extra)
        arms.pulls[arm] = arms.observed[arm] = len(off)
    return kept, arms


def evidence(residuals: list[list[float]], i: int, variance: float) -> float:
    """Twice the log of the likelihood ratio, for arm i against all others."""
    own = np.array(residuals[i])
    others = np.concatenate([r for k, r in enumerate(residuals) if k != i])
    off = own.mean() - others.mean()
    m = 1.0 / (1.0 / own.size + 1.0 / others.size)
    return float(math.log(50 / (m + 50)) + off**2 / variance * m * m / (m + 50))


@pytest.mark.parametrize(
    "sizes", [(30, 40), (1, 250), (200, 300, 100), (60, 0, 70), (1, 90, 80), (5, 6, 7, 8)]
)
def test_an_arm_differs_when_the_odds_say_so(sizes: tuple[int, ...]) -> None:
    """The variance at which the largest ratio of likelihoods is 2 K decides."""
    rng = np.random.default_rng(sum(sizes))
    for shifted in (0, len(sizes) - 1):
        closest = rng.integers(3, size=len(sizes))
        residuals = [rng.normal(size=n).tolist() for n in sizes]
        shift = 1.0 if sizes[shifted] > 1 else 50.0
        residuals[shifted] = [x + shift for x in residuals[shifted]]
        kept, arms = played(residuals, closest.tolist())
        some = [i for i, n in enumerate(sizes) if n]

        def odds(variance: float, r: list[list[float]] = residuals, s: list[int] = some) -> float:
            return max(evidence(r, i, variance) / 2 for i in s) - math.log(20 * len(sizes))

        low, high = 1e-9, 1e3  # the odds fall as the variance rises
        assert odds(low) > 0 > odds(high)
        for _ in range(80):
            middle = math.sqrt(low * high)
            low, high = (middle, high) if odds(middle) > 0 else (low, middle)
        assert differs(SUMS, kept, arms, closest, 0.999 * low)
        assert not differs(SUMS, kept, arms, closest, 1.001 * low)


def test_one_arm_alone_differs_from_nothing() -> None:
    cases: list[list[list[float]]] = [[[5.0] * 40], [[5.0] * 40, []], [[], [5.0] * 40], [[], []]]
    for residuals in cases:
        kept, arms = played(residuals, [0] * len(residuals))
        assert differs(SUMS, kept, arms, np.zeros(2, dtype=np.int64), 1e-6) is False


def test_an_arm_with_a_gap_is_left_out() -> None:
    """Of such an arm no sum of means is known: neither does it differ nor do others from it."""
    kept, arms = played([[0.0] * 40, [0.0] * 40, [9.0] * 40], [0, 1, 2])
    closest = np.array([0, 1, 2])
    assert differs(SUMS, kept, arms, closest, 1.0)
    remember(kept, 2, 40, 42, 0.0)
    arms.pulls[2], arms.observed[2] = 42, 41
    assert not differs(SUMS, kept, arms, closest, 1.0)


def test_what_all_rewards_have_in_common_cancels_out() -> None:
    kept, arms = played([[7.0] * 40, [7.0] * 90], [0, 1])
    assert not differs(SUMS, kept, arms, np.array([0, 1]), 1e-6)
