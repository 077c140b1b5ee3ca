"""Sigma from differences: its value for rewards of every kind, and which differences count."""

from __future__ import annotations

import math
import random as python_random
from collections.abc import Callable

import pytest

from rotting.policies import SteadyUCB
from rotting.policies.parts.noise_estimate import (
    CENTRE,
    COUNT,
    SIGMA,
    SUM,
    count_difference,
    difference,
    first_reward,
    no_noise,
    nothing_differed,
)


def estimate(rewards: list[float]) -> float:
    """What a player of one arm makes of its rewards."""
    player = SteadyUCB(None).online(["a"], compiled=False)
    for reward in rewards:
        player.update(player.select(), reward)
    return float(player.core.state.noise.totals[SIGMA])


# 2,000 rewards, of which the last 1,008 count: three standard errors of 0.5 sqrt(3 / 1,008) each
CLOSE = 3 * 0.5 * math.sqrt(3 / 1008)


@pytest.mark.parametrize(("offset", "scale"), [(0, 1.0), (1e8, 1.0), (-1e8, 1e-6), (3.0, 1e6)])
@pytest.mark.parametrize("shape", ["level", "line", "steep", "one fall", "many falls"])
def test_neither_place_nor_scale_nor_decline_is_taken_for_noise(
    shape: str, offset: float, scale: float
) -> None:
    means: dict[str, Callable[[int], float]] = {
        "level": lambda n: 0.0,
        "line": lambda n: -0.1 * n,
        "steep": lambda n: 1000.0 * n**-0.5,
        "one fall": lambda n: 1000.0 * (n < 1500),
        "many falls": lambda n: -100.0 * (n // 150),
    }
    rng = python_random.Random(5)
    rewards = [offset + scale * (means[shape](n) + rng.gauss(0.0, 1.0)) for n in range(1, 2001)]
    assert estimate(rewards) / scale == pytest.approx(1.0, rel=CLOSE)


@pytest.mark.parametrize("rate", [0.02, 0.3, 0.97])
def test_the_noise_of_clicks_is_not_cut(rate: float) -> None:
    """One or zero: most differences are zero, and the others are no falls."""
    rng = python_random.Random(2)
    found = estimate([float(rng.random() < rate) for _ in range(4000)])
    clicks = min(rate, 1.0 - rate) * 2000
    assert found == pytest.approx(math.sqrt(rate * (1.0 - rate)), rel=3 / math.sqrt(clicks))


def test_the_first_rewards_spread_serves_until_there_are_two_differences() -> None:
    noise = no_noise(3)
    assert (noise.latest.size, noise.totals.size) == (3, 10)
    for arm, reward in enumerate([5.0, 7.0, 9.0]):
        first_reward(noise, arm, reward)
    assert noise.totals[SIGMA] == 2.0
    count_difference(noise, 100.0, False)
    assert noise.totals[SIGMA] == 2.0
    count_difference(noise, 0.0, False)
    assert noise.totals[SIGMA] == math.sqrt(2500.0 * (1 + 4 / 2))


def test_a_fall_counts_no_more_than_the_largest_difference_before() -> None:
    noise = no_noise(1)
    assert nothing_differed(noise)
    for off, fell in ((1.0, False), (-3.0, False), (-50.0, True), (-2.0, True)):
        count_difference(noise, off, fell)
    assert noise.totals[SUM] == 0.5 + 4.5 + 4.5 + 2.0
    assert not nothing_differed(noise)


def test_the_last_two_epochs_count() -> None:
    """They have 16, 32, 64, ... differences; here d^2 / 2 is 1, 2, 3, ..."""
    noise = no_noise(1)
    seen = []
    for k in range(1, 200):
        seen.append(float(k))
        count_difference(noise, math.sqrt(2.0 * k), False)
        kept = k - (0 if k < 48 else 16 if k < 112 else 48)
        assert noise.totals[COUNT] + noise.totals[COUNT + 3] == kept
        if k > 1:
            square = sum(seen[-kept:]) / kept * (1 + 4 / kept)
            assert noise.totals[SIGMA] == pytest.approx(math.sqrt(square))


def test_a_late_reward_has_no_difference() -> None:
    """Others are compared with the latest pull before them, whatever was lost in between."""
    rng = python_random.Random(8)
    player = SteadyUCB(None).online(["a"], compiled=False)
    decisions = [player.select() for _ in range(14)]
    shown = {pull: rng.gauss(0.0, 1.0) for pull in (2, 1, 3, 6, 5, 4, 9, 14)}
    for pull, reward in shown.items():
        player.update(decisions[pull - 1], reward)
    pairs = ((2, 3), (3, 6), (6, 9), (9, 14))
    totals = player.core.state.noise.totals
    assert totals[COUNT] == len(pairs)
    assert totals[SUM] <= sum((shown[b] - shown[a]) ** 2 / 2 for a, b in pairs) * (1 + 1e-12)
    assert player.core.state.noise.latest[0] + player.core.state.shift[0] == pytest.approx(
        shown[14]
    )


def test_counts_and_squares_below_zero_are_no_state() -> None:
    for place in range(no_noise(2).totals.size):
        noise = no_noise(2)
        noise.totals[place] = -1.0
        refused = noise.wrong(None, None, ())
        assert (refused is None) == (place == CENTRE)


def test_the_spread_of_two_first_rewards() -> None:
    """Of one there is none; of two the variance has one degree of freedom."""
    noise = no_noise(2)
    first_reward(noise, 0, 5.0)
    assert noise.totals[SIGMA] == 0.0
    first_reward(noise, 1, 7.0)
    assert noise.totals[SIGMA] == math.sqrt(2.0)


def test_whether_rewards_have_differed_in_the_last_two_epochs() -> None:
    noise = no_noise(2)
    first_reward(noise, 0, 5.0)
    first_reward(noise, 1, 7.0)  # of another arm: no difference
    count_difference(noise, 0.0, False)
    assert nothing_differed(noise)
    count_difference(noise, 4.0, False)
    assert not nothing_differed(noise)
    for _ in range(14):
        count_difference(noise, 0.0, False)
    assert noise.totals[COUNT] == 0.0  # the next epoch begins
    assert not nothing_differed(noise)
    count_difference(noise, 4.0, False)  # as much as in the epoch before
    assert not nothing_differed(noise)
    for _ in range(31 + 64):
        count_difference(noise, 0.0, False)
    assert noise.totals[COUNT] == 0.0
    assert nothing_differed(noise)  # both are forgotten


def test_the_largest_difference_is_that_of_the_last_two_epochs() -> None:
    noise = no_noise(1)
    for off in [5.0] + [1.0] * 15:
        count_difference(noise, off, False)
    count_difference(noise, -100.0, True)
    assert noise.totals[SUM] == 12.5  # of the epoch before
    for _ in range(31):
        count_difference(noise, 2.0, False)
    for off, counted in ((-3.0, 4.5), (-100.0, 12.5)):  # that fall was itself cut to 12.5
        before = noise.totals[SUM]
        count_difference(noise, off, True)
        assert noise.totals[SUM] - before == counted
    noise = no_noise(1)
    for off in [5.0] + [1.0] * 15 + [2.0] * 32:
        count_difference(noise, off, False)
    count_difference(noise, -100.0, True)
    assert noise.totals[SUM] == 2.0  # five was two epochs ago


def test_the_difference_to_the_reward_before() -> None:
    noise = no_noise(2)
    first_reward(noise, 0, 5.0)
    first_reward(noise, 1, 7.0)
    assert [difference(noise, 1, reward) for reward in (4.0, 4.5)] == [-3.0, 0.5]
    assert noise.latest.tolist() == [5.0, 4.5]
