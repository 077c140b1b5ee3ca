"""The cost of wearing out, by hand, row by row."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rotting.logs._diagnosis.cost import cost_of, fall


def test_the_fall_is_the_mean_over_rows() -> None:
    numbers = [1, 2, 3, 3]
    use = np.log(numbers)
    for theta in (0.0, 0.3, 1.5, -0.4):
        expected = 1.0 - math.fsum(n**-theta for n in numbers) / 4
        assert fall(use, theta) == pytest.approx(expected)
    assert fall(use, 0.0) == 0.0
    assert fall(use, -0.4) < 0.0


def test_the_cost_is_what_first_showings_would_have_paid_more() -> None:
    numbers, rewards = [1, 2, 3, 4], [1.0, 0.0, 2.0, 5.0]
    found = cost_of(np.array(rewards), np.log(numbers), 0.5, 0.1, 0.9)
    for lost, share, theta in (
        (found.lost, found.share, 0.5),
        (found.lost_low, found.share_low, 0.1),
        (found.lost_high, found.share_high, 0.9),
    ):
        would = math.fsum(r * n**theta for n, r in zip(numbers, rewards, strict=True))
        assert lost == pytest.approx(would - 8.0)
        assert share == pytest.approx((would - 8.0) / would)
    assert found.lost_low < found.lost < found.lost_high


def test_rewards_that_fall_by_the_curve_lose_what_the_curve_takes() -> None:
    use = np.log(np.arange(1, 11))
    rewards = 7.0 * np.exp(-0.4 * use)
    found = cost_of(rewards, use, 0.4, 0.4, 0.4)
    assert found.lost == pytest.approx(70.0 - rewards.sum())
    assert found.share == pytest.approx(fall(use, 0.4))


def test_nothing_is_lost_of_nothing() -> None:
    found = cost_of(np.zeros(3), np.log([1.0, 2.0, 3.0]), 0.5, 0.1, 0.9)
    assert tuple(found) == (0.0,) * 6


def test_an_absurd_curve_costs_a_finite_sum() -> None:
    found = cost_of(np.ones(2), np.array([0.0, 3.0]), 0.0, -1e6, 1e6)
    assert all(math.isfinite(value) for value in found)
