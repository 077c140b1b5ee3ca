"""Sums in 60 digits: known constants, and no seam where the formula takes over from the sum."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal, localcontext

import mpmath
import pytest

from rotting import models
from rotting.theory import _far
from rotting.theory._star_down import ddet_star
from rotting.theory._sums import cumulative

SMALL = Decimal("1e-31")


def test_known_constants() -> None:
    """zeta(1/2), and Euler's constant, which is what is left of the harmonic sum."""
    half = Decimal("-1.46035450880958681288949915251529801246722933101258")
    euler = Decimal("0.57721566490153286060651209008240243104215933593992")
    with localcontext(_far.DIGITS):
        assert abs(_far.zeta(Decimal("0.5")) - half) < SMALL
        assert abs(_far.zeta(Decimal(1)) - euler) < SMALL
    assert _far.zeta(Decimal(0)) == Decimal("-0.5")


@pytest.mark.parametrize("theta", ["0.1", "0.5", "0.9", "1", "2.5"])
@pytest.mark.parametrize("n", [1, 99, 100, 101, 150, 10**4])
def test_one_term_more_is_one_term_more(theta: str, n: int) -> None:
    power = Decimal(theta)
    with localcontext(_far.DIGITS):
        step = _far.harmonic(n + 1, power) - _far.harmonic(n, power)
        assert abs(step - Decimal(n + 1) ** -power) < SMALL
    assert _far.harmonic(0, power) == 0
    assert _far.harmonic(1, power) == 1


@pytest.mark.parametrize("rule", ["sum", "difference"])
def test_the_same_as_in_floats(rule: str) -> None:
    for model in (models.Polynomial(0.3), models.Plateau(0.4, length=7)):
        for n in (1, 6, 7, 8, 13, 14, 699, 700, 701, 12_345):
            assert float(_far.mean(model, n)) == pytest.approx(float(model.mean(n)), rel=1e-14)
            total = float(cumulative(model, n))
            if rule == "difference":
                total = 2 * float(cumulative(model, n // 2)) - total
            assert float(_far.statistic(model, n, rule)) == pytest.approx(total, rel=1e-10)
    first, second = models.Polynomial(0.1), models.Polynomial(0.4)
    apart = _far.statistic(first, 50, rule) - _far.statistic(second, 50, rule)
    assert abs(_far.gap(first, second, 50, rule) - apart) < Decimal("1e-25")


def test_which_models_are_known() -> None:
    assert _far.known(models.Polynomial(0.3))
    assert _far.known(models.Plateau(0.3, length=3))
    assert not _far.known(models.Polynomial())
    assert not _far.known(models.Exponential(0.3))


# Different thetas each: results are cached, and a cached one would hide the context.
CONTEXTS = [(6, 0.01, 0.02), (28, 0.013, 0.02), (100, 0.015, 0.03)]


@pytest.fixture(params=CONTEXTS, ids=lambda case: f"{case[0]} digits")
def pair(request: pytest.FixtureRequest) -> Iterator[tuple[float, float]]:
    """Two thetas, in a caller's context of 6, 28 or 100 digits."""
    digits, first, second = request.param
    with localcontext() as context, mpmath.workdps(90):
        context.prec = digits
        yield first, second


def half_difference(first: float, second: float, n: int) -> mpmath.mpf:
    """The half-difference of the two models' sums, by zeta(theta) - zeta(theta, n + 1)."""

    def total(pulls: int, theta: float) -> mpmath.mpf:
        return mpmath.zeta(theta) - mpmath.zeta(theta, pulls + 1)

    first, second = mpmath.mpf(first), mpmath.mpf(second)
    halves = 2 * (total(n // 2, first) - total(n // 2, second))
    return halves - (total(n, first) - total(n, second))


def test_sums_do_not_depend_on_the_callers_precision(pair: tuple[float, float]) -> None:
    for n in (7, 101, 10**6 + 1, 10**30):
        found = _far.gap(models.Polynomial(pair[0]), models.Polynomial(pair[1]), n, "difference")
        right = half_difference(*pair, n)
        off = abs(mpmath.mpf(str(found)) - right)
        assert off < mpmath.mpf("1e-25") * max(1, abs(right))
    for theta in pair:
        mean = _far.mean(models.Plateau(theta, length=7), 10**20)
        right = mpmath.mpf(10**20 // 7 + 1) ** -mpmath.mpf(repr(theta))
        assert float(mean) == float(right)


def test_the_exact_answer_is_that_of_other_arithmetic(pair: tuple[float, float]) -> None:
    """Below the level at N and after, above it at N - 1: Ddet is n over the square."""
    level = 0.01
    first, second = (models.Polynomial(theta) for theta in pair)
    found = ddet_star(first, second, sigma=1.0, level=level)
    assert found.exact
    n = int(found.low)

    def below(pulls: int) -> bool:
        gap = half_difference(*pair, pulls)
        return bool(gap > 0 and mpmath.mpf(pulls) / mpmath.mpf(level) <= gap * gap)

    assert below(n)
    assert below(n + 1)
    assert not below(n - 1)


def test_the_crossing_of_the_papers_example() -> None:
    """Found with 90 digits by others; 28 digits gave ...172684."""
    star = ddet_star(models.Polynomial(0.01), models.Polynomial(0.02), sigma=1.0, level=0.01)
    assert star.low == 4950935596179400623525490168942


def test_means_are_compared_exactly_at_any_size() -> None:
    small, large = Decimal("0.01"), Decimal("0.49")
    for n in (2, 10, 100, 10**6):
        level = _far.Mean(n, large)
        assert _far.Mean(n**49, small).at_most(level)
        assert level.at_most(_far.Mean(n**49, small))
        assert _far.Mean(n**49 + 1, small).at_most(level)
        assert not _far.Mean(n**49 - 1, small).at_most(level)
