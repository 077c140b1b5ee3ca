"""det, Ddet and bal against their twins."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

import twins.models
from helpers.cases import FAMILIES, mu_of
from rotting import models, theory
from rotting.theory import ddet, ddet_star, hardest_star
from twins import theory_star as naive


@pytest.mark.parametrize("name", list(FAMILIES))
def test_det_and_ddet(name: str) -> None:
    family = FAMILIES[name]
    mu = mu_of(family)
    first, second = family.members[:2]
    a, b = family.thetas[:2]
    for n in (1, 2, 3, 8, 21, 100, 333):
        for ours, theirs in (
            (theory.det, naive.det),
            (theory.ddet, naive.ddet),
        ):
            expected = theirs(n, a, b, mu, 0.5)
            if expected < 1e9:  # beyond, the difference is rounding
                assert float(ours(first, second, 0.5, n)) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("length", [0, 1, 3, 10])
@pytest.mark.parametrize(("a", "b"), [(0.1, 0.4), (0.3, 0.35), (0.45, 0.9), (0.0, 1.2), (0.5, 0.6)])
def test_det_never_rises_from_the_proved_point_on(a: float, b: float, length: int) -> None:
    """The lemmas, looked at for 30,000 pulls: from n = 2, or from nine plateaus on."""
    pair = (
        [models.Plateau(theta, length=length) for theta in (a, b)]
        if length
        else [models.Polynomial(theta) for theta in (a, b)]
    )
    n = np.arange(9 * length if length else 2, 30_000)
    values = theory.det(pair[0], pair[1], 1.0, n)
    assert np.all(np.diff(values) <= 1e-12 * values[:-1])


def det_of(a: float, b: float, mu: Callable[[int, float], float]) -> Callable[[int], float]:
    return lambda n: naive.det(n, a, b, mu, 0.5)


def test_det_star() -> None:
    for name in ("polynomial", "plateau"):
        family = FAMILIES[name]
        mu = mu_of(family)
        first, second = family.members[:2]
        a, b = family.thetas[:2]
        for level in (0.5, 0.05, 0.02):
            theirs = naive.star_down(det_of(a, b, mu), level, 900)
            ours = float(theory.det_star(first, second, 0.5, level))
            assert ours == theirs if theirs is not None else ours > 900


def test_ddet_against_its_twin() -> None:
    def mu(n: int, theta: float) -> float:
        return twins.models.plateau(n, theta, 10)

    a, b = models.Plateau(0.1, length=10), models.Plateau(0.4, length=10)
    fast = ddet(a, b, 0.5, np.arange(1, 121))
    slow = [naive.ddet(n, 0.1, 0.4, mu, 0.5) for n in range(1, 121)]
    np.testing.assert_allclose(fast, slow, rtol=1e-9)
    for level in (0.5, 0.05, 0.01):
        ours = ddet_star(a, b, 0.1, level)
        assert ours.exact
        assert ours.low == naive.ddet_star(level, 0.1, 0.4, mu, 0.1, 14_000)
    assert hardest_star(models.Polynomial().over([0.3]), 0.5, 0.1, "difference").high == 1


def test_bal_and_where_models_fall() -> None:
    """bal for n^-0.25 and n^-0.5: alpha^-0.25 <= n^-0.5 at alpha = n^2; beyond any table, too."""
    family = models.Polynomial().over([0.25, 0.5])
    assert theory.bal(family, 10) == 100
    assert theory.bal(family, 10**7) == pytest.approx(1e14, rel=1e-9)
    assert math.isinf(theory.bal(family, math.inf))
    for name, known in FAMILIES.items():
        if name == "exponential":
            continue
        mu = mu_of(known)
        for n in (1, 2, 9, 30):
            theirs = naive.bal(n, list(known.thetas), mu, 900)
            if theirs is not None:
                assert theory.bal(known, n) == theirs
    assert theory.mean_star(models.Step(50, 1.0, 0.2), 0.5) == 51
    assert math.isinf(theory.mean_star(models.Constant(0.5), 0.4))
    assert theory.mean_star(models.Polynomial(0.5), 2.0) == 1
