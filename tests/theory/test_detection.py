"""Misdetection and m*, against twins, simulation and known figures."""

from __future__ import annotations

import math
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from helpers.cases import FAMILIES, PAIR, mu_of
from rotting import models, theory
from rotting.papers import levine2017
from rotting.theory import _detection
from twins import theory_detection as naive

SIGMA = 0.2**0.5


@pytest.mark.parametrize("name", list(FAMILIES))
@pytest.mark.parametrize("constant", [0.0, 0.7])
def test_misdetection(name: str, constant: float) -> None:
    family = FAMILIES[name]
    mu, thetas = mu_of(family), list(family.thetas)
    numbers = [2, 3, 10, 41, 100, 301]
    sums = theory.misdetection(family, numbers, 0.5)
    halves = theory.misdetection(family, numbers, 0.5, "difference", constant=constant)
    bounds = theory.misdetection(family, numbers, 0.5, method="bound")
    for k, theta in enumerate(thetas):
        for place, n in enumerate(numbers):
            expected = naive.misdetection_sum(n, theta, thetas, mu, 0.5)
            if sums[k, place] < 1.0 and expected < 1.0:
                assert sums[k, place] == pytest.approx(expected, abs=1e-9)
            bound = naive.misdetection_bound_sum(n, theta, thetas, mu, 0.5)
            assert bounds[k, place] == pytest.approx(bound, rel=1e-6)
            expected = naive.misdetection_difference(n, theta, thetas, mu, 0.5, constant)
            if halves[k, place] < 1.0 and expected < 1.0:
                assert halves[k, place] == pytest.approx(expected, abs=1e-9)


def test_misdetection_is_what_happens() -> None:
    """Exact probabilities against 4,000 simulated arms, within four standard errors."""
    rng = np.random.default_rng(0)
    for family in FAMILIES.values():
        for n in (10, 55, 200):
            table = family.table(n)
            values = np.cumsum(table, axis=1)[:, -1]
            exact = theory.misdetection(family, n, 0.5)[:, 0]
            for k in range(len(family)):
                sums = values[k] + 0.5 * math.sqrt(n) * rng.standard_normal(4000)
                nearest = np.abs(sums[:, None] - values).argmin(axis=1)
                missed = np.mean(nearest != k)
                error = math.sqrt(max(exact[k] * (1 - exact[k]), 1e-4) / 4000)
                assert abs(missed - exact[k]) < 4 * error


def test_models_that_coincide() -> None:
    """On the first plateau all models are one: the first in Theta's order is always detected."""
    found = theory.misdetection(models.Plateau(length=100).over([0.4, 0.1]), 50, 0.5)[:, 0]
    assert found.tolist() == [0.0, 1.0]


def test_m_star_of_the_papers_family() -> None:
    """K = 10, delta = 0.1, p = delta / K; the figures were found by two other implementations."""
    family = levine2017.FAMILY
    found = theory.m_star(family, 0.01, SIGMA, limit=100_000)
    assert found.tolist() == [1098, 1307, 1478, 1700, 1997, 2413, 2213]
    assert theory.m_star(family, 0.01, SIGMA, method="bound", limit=100_000).max() == 4070
    assert theory.m_star(PAIR, 0.01, SIGMA, limit=100_000).max() == 264
    assert theory.m_star(PAIR, 0.01, SIGMA, method="bound", limit=100_000).max() == 335


def test_m_star_of_half_differences() -> None:
    """Even n, all n (with no constant), and the bound; and how a constant matters at odd n."""

    def found(**options: Any) -> float:
        return float(theory.m_star(PAIR, 0.01, SIGMA, "difference", limit=10**6, **options).max())

    assert found(even=True) == 95_468
    assert found() == 95_504
    assert found(method="bound") == 117_630
    assert found(constant=0.5) != 95_504
    assert found(even=True, constant=0.5) == 95_468
    full = theory.m_star(levine2017.FAMILY, 0.01, SIGMA, "difference")
    assert full.max() == 3_366_924  # of theta = 0.1 and 0.15, whose halves cross at 1.47 million


def test_m_star_against_its_twin() -> None:
    family = models.Polynomial().over([0.1, 0.45])
    mu, thetas = mu_of(family), list(family.thetas)
    for even in (False, True):
        ours = theory.m_star(family, 0.05, 0.5, limit=400, even=even)
        for k, theta in enumerate(thetas):
            theirs = naive.m_star(
                0.05,
                theta,
                thetas,
                mu,
                0.5,
                naive.misdetection_sum,
                400,
                2 if even else 1,
            )
            assert ours[k] == theirs
    far = float(theory.m_star(family, 1e-9, 5.0, limit=400)[0])  # beyond the limit, by the proof
    assert theory.misdetection(family, int(far), 5.0)[0, 0] <= 1e-9
    assert theory.misdetection(family, int(far) - 1, 5.0)[0, 0] > 1e-9


def test_m_star_looks_at_everything_before_its_proof_begins() -> None:
    """Plateaus of a million: proved from 9 million on, but distinguished soon after the first."""
    long = models.Plateau(length=10**6).over([0.1, 0.4])
    assert theory.m_star(long, 0.01, 0.01).max() == 1_000_265


def test_m_star_of_the_papers_family_in_a_gigabyte() -> None:
    """m*_diff looks at millions of pulls of seven models, in blocks."""
    script = (
        "import resource; from rotting import theory; from rotting.papers import levine2017 as p\n"
        "assert theory.m_star(p.FAMILY, 0.01, p.SIGMA, 'difference').max() > 3e6\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    # a child of a child: a process begins with the memory of the one that it was forked from
    outer = (
        f"import subprocess, sys; subprocess.run([sys.executable, '-c', {script!r}], check=True)"
    )
    found = subprocess.run(
        [sys.executable, "-c", outer], capture_output=True, text=True, check=True
    )
    assert int(found.stdout) < 1 << 20  # kilobytes


def test_arguments_of_detection() -> None:
    first, second = PAIR.members
    with pytest.raises(ValueError, match="rule must be one of"):
        theory.statistic(first, 5, "product")
    with pytest.raises(ValueError, match="method must be one of"):
        theory.misdetection(PAIR, 5, 1.0, method="guess")
    for sigma in (0.0, -1.0, math.nan):
        with pytest.raises(ValueError, match="sigma must be"):
            theory.det(first, second, sigma, 5)
        with pytest.raises(ValueError, match="sigma must be"):
            theory.misdetection(PAIR, 5, sigma)


def test_a_constant_matters_at_odd_numbers_of_the_difference_only() -> None:
    """The constant shifts the statistic by minus itself; a constant of zero shifts nothing."""
    n = np.array([150, 151])
    plain = theory.misdetection(PAIR, n, 0.5, "difference")
    np.testing.assert_array_equal(
        plain, theory.misdetection(PAIR, n, 0.5, "difference", constant=0.0)
    )
    moved = theory.misdetection(PAIR, n, 0.5, "difference", constant=0.7)
    np.testing.assert_array_equal(moved[:, 0], plain[:, 0])
    assert np.all(moved[:, 1] != plain[:, 1])
    values = [float(theory.statistic(member, 151, "difference")) for member in PAIR.members]
    up = 1 if values[1] > values[0] else -1  # where the second lies, seen from the first
    nearer = -0.7 * up > 0
    assert (moved[0, 1] > plain[0, 1]) == nearer
    assert (moved[1, 1] < plain[1, 1]) == nearer
    sums = theory.misdetection(PAIR, n, 0.5, "sum", constant=0.7)
    np.testing.assert_array_equal(sums, theory.misdetection(PAIR, n, 0.5))


@pytest.mark.parametrize("method", ["exact", "bound"])
def test_the_nearest_of_given_values(method: str) -> None:
    """By hand: cells end half way to the neighbours; of equal values the first has the cell."""
    values = np.array([[0.0], [3.0], [1.0], [1.0]])
    found = _detection.wrong_nearest(values, np.array([0.5]), np.array([0.25]), method)[:, 0]
    if method == "bound":
        gaps = [1.0, 2.0, 0.0, 0.0]
        assert found == pytest.approx([2 * math.exp(-(gap**2) / 2.0) for gap in gaps])
        return
    assert found[0] == pytest.approx(naive.normal_cdf(-(0.5 - 0.25) / 0.5))
    assert found[1] == pytest.approx(naive.normal_cdf(-(1.0 + 0.25) / 0.5))
    both = naive.normal_cdf(-(1.0 - 0.25) / 0.5) + naive.normal_cdf(-(0.5 + 0.25) / 0.5)
    assert found[2] == pytest.approx(both)
    assert found[3] == 1.0
    alone = _detection.wrong_nearest(values[:1], np.array([0.5]), np.array([0.25]), method)
    assert alone.tolist() == [[0.0]]
