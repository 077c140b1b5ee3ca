"""Sums in 60 digits: known constants, and no seam where the formula takes over from the sum."""

from __future__ import annotations

from decimal import Decimal, localcontext

import pytest

from rotting import models
from rotting.theory import far
from rotting.theory.sums import cumulative

SMALL = Decimal("1e-31")


def test_known_constants() -> None:
    """zeta(1/2), and Euler's constant, which is what is left of the harmonic sum."""
    half = Decimal("-1.46035450880958681288949915251529801246722933101258")
    euler = Decimal("0.57721566490153286060651209008240243104215933593992")
    with localcontext(far.DIGITS):
        assert abs(far.zeta(Decimal("0.5")) - half) < SMALL
        assert abs(far.zeta(Decimal(1)) - euler) < SMALL
    assert far.zeta(Decimal(0)) == Decimal("-0.5")


@pytest.mark.parametrize("theta", ["0.1", "0.5", "0.9", "1", "2.5"])
@pytest.mark.parametrize("n", [1, 99, 100, 101, 150, 10**4])
def test_one_term_more_is_one_term_more(theta: str, n: int) -> None:
    power = Decimal(theta)
    with localcontext(far.DIGITS):
        step = far.harmonic(n + 1, power) - far.harmonic(n, power)
        assert abs(step - Decimal(n + 1) ** -power) < SMALL
    assert far.harmonic(0, power) == 0
    assert far.harmonic(1, power) == 1


@pytest.mark.parametrize("rule", ["sum", "difference"])
def test_the_same_as_in_floats(rule: str) -> None:
    for model in (models.Polynomial(0.3), models.Plateau(0.4, length=7)):
        for n in (1, 6, 7, 8, 13, 14, 699, 700, 701, 12_345):
            assert float(far.mean(model, n)) == pytest.approx(float(model.mean(n)), rel=1e-14)
            total = float(cumulative(model, n))
            if rule == "difference":
                total = 2 * float(cumulative(model, n // 2)) - total
            assert float(far.statistic(model, n, rule)) == pytest.approx(total, rel=1e-10)
    first, second = models.Polynomial(0.1), models.Polynomial(0.4)
    apart = far.statistic(first, 50, rule) - far.statistic(second, 50, rule)
    assert abs(far.gap(first, second, 50, rule) - apart) < Decimal("1e-25")


def test_which_models_are_known() -> None:
    assert far.known(models.Polynomial(0.3))
    assert far.known(models.Plateau(0.3, length=3))
    assert not far.known(models.Polynomial())
    assert not far.known(models.Exponential(0.3))
