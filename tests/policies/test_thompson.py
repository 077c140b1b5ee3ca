"""Thompson sampling on all rewards: its draws have the posteriors' moments; inspect."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rotting import policies
from rotting.kernel.random import new_draw
from rotting.policies import Thompson
from rotting.policies.parts.sampling import beta, gamma

DRAWS = 4000


@pytest.mark.parametrize("shape", [1.0, 1.7, 40.0])
def test_gamma_draws(shape: float) -> None:
    """Mean, variance and third moment are shape, shape and 2 shape, within 4.5 standard errors."""
    draw = new_draw(4)
    found = np.array([gamma(shape, draw) for _ in range(DRAWS)]) - shape
    assert found.min() > -shape
    for power, moment in ((1, 0.0), (2, shape), (3, 2 * shape)):
        powers = found**power
        assert abs(powers.mean() - moment) < 4.5 * powers.std() / math.sqrt(DRAWS)


@pytest.mark.parametrize(("a", "b"), [(1.0, 1.0), (3.0, 12.5)])
def test_beta_draws(a: float, b: float) -> None:
    draw = new_draw(5)
    found = np.array([beta(a, b, draw) for _ in range(DRAWS)])
    mean = a / (a + b)
    assert 0.0 < found.min() < found.max() < 1.0
    for power, moment in ((1, mean), (2, mean * (a + 1) / (a + b + 1))):
        powers = found**power
        assert abs(powers.mean() - moment) < 4.5 * powers.std() / math.sqrt(DRAWS)


def test_rewards_beyond_count_as_the_nearer_end() -> None:
    player = Thompson().online(["a"], compiled=False)
    for reward in (7.0, -3.0, 0.25):
        player.update(player.select(), reward)
    assert player.core.state.total.tolist() == [1.25]


def test_what_it_says_of_an_arm() -> None:
    """Mean and standard deviation of Beta(2, 3); before any reward those of Beta(1, 1)."""
    player = Thompson().online(["a", "b"], seed=1, compiled=False)
    first = player.select()
    assert "posterior has mean 0.5 and standard deviation 0.28" in player.explain()
    player.update(first, 1.0)
    while player.pulls[first.arm] < 3:
        player.update(player.select(), 0.0)
    row = {row.arm: row for row in player.table()}[first.arm]
    assert row.estimate == pytest.approx(2 / 5)
    assert row.padding == pytest.approx(math.sqrt(2 * 3 / (25 * 6)))


def test_with_sigma_each_arm_goes_once_first() -> None:
    player = policies.Thompson(sigma=0.3).online(range(4), compiled=False)
    assert [player.select().arm for _ in range(4)] == [0, 1, 2, 3]
