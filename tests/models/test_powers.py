"""Means that are equal in exact arithmetic are equal floats, and nothing else becomes equal."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from rotting import models
from rotting.models._powers import multiples, powers

THETAS = [0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4]  # of the paper's section Simulations
PLATEAUS = 301  # that 30,000 pulls reach


def exact(m: int, theta: float) -> int:
    """m^(20 theta): equal for two means if and only if the means are."""
    return int(m ** round(20 * theta))


def test_the_papers_family_has_87_equal_pairs() -> None:
    """Before, 12 of them differed by one unit in the last place."""
    table = {theta: models.Plateau(theta, length=1).table(PLATEAUS) for theta in THETAS}
    equal = 0
    for first, second in itertools.combinations(THETAS, 2):
        by_power = {exact(k, second): k for k in range(2, PLATEAUS + 1)}
        for m in range(2, PLATEAUS + 1):
            k = by_power.get(exact(m, first))
            if k is not None:
                equal += 1
                assert table[first][m - 2] == table[second][k - 2], (m, first, k, second)
    assert equal == 87


def test_means_that_differ_stay_apart() -> None:
    table = {theta: models.Polynomial(theta).table(PLATEAUS) for theta in THETAS}
    by_mean: dict[float, set[int]] = {}
    for theta, m in itertools.product(THETAS, range(1, PLATEAUS + 1)):
        by_mean.setdefault(float(table[theta][m - 1]), set()).add(exact(m, theta))
    assert all(len(values) == 1 for values in by_mean.values())


def test_roots_of_any_kind() -> None:
    """Squares, cubes, powers of powers: theta is as many times larger for the root."""
    for base, e in [(2, 2), (2, 40), (3, 12), (6, 6), (7, 3), (1009, 3), (10, 12), (12, 11)]:
        for theta in (0.01, 0.15, 0.3, 1.1):
            large = float(Fraction(str(theta)) * e)
            assert powers(np.array(base**e), theta) == powers(np.array(base), large)


def test_no_mean_depends_on_those_beside_it() -> None:
    whole = powers(np.arange(1, 20_001), 0.15)
    for start in range(1, 20_001, 128):
        part = powers(np.arange(start, min(start + 128, 20_001)), 0.15)
        np.testing.assert_array_equal(part, whole[start - 1 : start + 127])
    mixed = np.random.default_rng(0).permutation(np.arange(1, 20_001))
    np.testing.assert_array_equal(powers(mixed, 0.15), whole[mixed - 1])
    sparse = mixed[:40]
    np.testing.assert_array_equal(powers(sparse, 0.15), whole[sparse - 1])
    np.testing.assert_array_equal(powers(sparse.reshape(8, 5), 0.15).ravel(), whole[sparse - 1])
    assert powers(np.zeros((0, 3), dtype=np.int64), 0.15).shape == (0, 3)


@pytest.mark.parametrize("theta", [0.0, 1e-300, 1e-15, 1e-12, 1e-10, 1e-9, 1e-6, 0.3, 2.0, 40.0])
def test_no_mean_rises(theta: float) -> None:
    assert np.all(np.diff(powers(np.arange(1, 300_000), theta)) <= 0.0)
    late = powers(np.arange(10**12, 10**12 + 2000), theta)
    assert np.all(np.diff(late) <= 0.0)


def test_a_mean_is_the_power_that_it_was() -> None:
    m = np.arange(1, 100_000)
    for theta in (0.15, 0.5, 1.0, 2.5):
        np.testing.assert_allclose(powers(m, theta), m.astype(float) ** -theta, rtol=1e-15)


def test_exponentials_have_ties_as_well() -> None:
    """exp(-0.9) is both the 10th mean of theta = 0.1 and the 4th of 0.3, but 0.1 * 9 > 0.3 * 3."""
    k = np.arange(1, 200)
    for kind in (models.Exponential, models.Settling):
        for slow, fast, times in ((0.1, 0.3, 3), (0.07, 0.21, 3), (0.02, 0.14, 7)):
            np.testing.assert_array_equal(kind(slow).mean(times * k + 1), kind(fast).mean(k + 1))
    long = 0.1234567890123456
    np.testing.assert_array_equal(multiples(long, np.arange(9)), long * np.arange(9.0))
    theta = 0.123456789012
    short = multiples(theta, np.array([3, 7, 11]))
    np.testing.assert_array_equal(multiples(theta, np.array([3, 7, 11, 10**6]))[:3], short)
