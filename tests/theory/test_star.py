"""The star-down operator, and proved properties of det and Ddet."""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np
import pytest

from rotting import models, theory
from rotting.models import Model
from rotting.papers import levine2017
from rotting.theory import _far
from rotting.theory._decrease import decreasing_from
from rotting.theory._samples import settled_from

PAIRS = [(0.1, 0.4), (0.35, 0.4), (0.3, 0.45), (0.2, 1.3), (0.0, 0.3), (0.45, 0.7), (0.25, 0.3)]


def pair_of(a: float, b: float, length: int) -> tuple[Model, Model]:
    if length == 0:
        return models.Polynomial(a), models.Polynomial(b)
    return models.Plateau(a, length=length), models.Plateau(b, length=length)


def test_star_down_of_any_function() -> None:
    """10/n <= 0.5 from n = 20 on, but for n = 40; and it says how far it looked."""
    found = theory.star_down(lambda n: 10.0 / n + (n == 40), level=0.5, limit=1000)
    assert (found.low, found.high, found.examined, found.exact) == (41, 41, 1000, False)
    assert math.isinf(float(theory.star_down(lambda n: n * 1.0, level=5.0, limit=100)))
    assert theory.star_down(lambda n: 1.0 / n, 2.0, limit=10).low == 1
    slow = theory.star_down(lambda n: 10.0 / n, 0.5, limit=50, vectorised=False)
    assert slow.low == 20


@pytest.mark.parametrize("length", [0, 1, 3, 10])
@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_ddet_never_rises_from_the_proved_point_on(a: float, b: float, length: int) -> None:
    """Even n and odd n apart, for 40,000 pulls; and below every level there is an answer."""
    first, second = pair_of(a, b, length)
    start = decreasing_from(first, second, "difference")
    assert start is not None
    assert start < 10**7
    n = np.arange(int(start), int(start) + 40_000)
    values = theory.ddet(first, second, 1.0, n)
    # the halves' difference loses digits to cancellation: 1e-9 of the value
    assert np.all(values[2:] <= values[:-2] * (1 + 1e-9))
    assert np.all(np.isfinite(values))


@pytest.mark.parametrize("length", [0, 1, 7])
def test_the_inequality_behind_the_proof_is_needed(length: int) -> None:
    """Ddet does rise somewhere before: its two halves cross, so the first passage is not the last.

    For theta = 0.35 and 0.4 it is small at first, infinite near the crossing, and small again.
    """
    first, second = pair_of(0.35, 0.4, length)
    start = decreasing_from(first, second, "difference")
    assert start is not None
    values = theory.ddet(first, second, 1.0, np.arange(2 * length + 20, int(start), 2))
    assert np.any(values[1:] > values[:-1])


def test_answers_beyond_any_table() -> None:
    """The condition turns exactly at the answer, checked with 60 digits there."""
    for a, b, rule, level in (
        (0.45, 0.49, "sum", 0.001),
        (0.1, 0.4, "difference", 1e-12),
        (0.01, 0.02, "difference", 0.01),
    ):
        first, second = models.Polynomial(a), models.Polynomial(b)
        star = theory.det_star if rule == "sum" else theory.ddet_star
        found = star(first, second, 1.0, level)
        assert found.exact
        answer = int(found.low)
        assert answer > 10**12

        def value(n: int, pair: tuple[Model, Model] = (first, second), rule: str = rule) -> float:
            return float(n / _far.gap(*pair, n, rule) ** 2)

        assert value(answer) <= level * (1 + 1e-12)
        assert value(answer - 1) >= level * (1 - 1e-12)


def test_beyond_sixty_digits_the_answer_is_an_interval() -> None:
    found = theory.det_star(models.Polynomial(0.49), models.Polynomial(0.495), 1.0, 0.002)
    assert 1e40 < found.low < found.high
    assert not found.exact


def test_where_there_is_no_answer() -> None:
    for pair in (
        (models.Polynomial(0.6), models.Polynomial(0.7)),
        (models.Exponential(0.1), models.Exponential(0.2)),
    ):
        for star in (theory.det_star, theory.ddet_star):
            found = star(pair[0], pair[1], 1.0, 1e-3)
            assert math.isinf(found.low)
            assert found.exact
    open_case = theory.ddet_star(models.Plateau(0.5, 10), models.Plateau(0.9, 10), 1.0, 1e-9)
    assert open_case.examined is not None
    assert decreasing_from(models.Plateau(0.1, 5), models.Plateau(0.2, 6)) is None


def test_sums_of_sixty_digits() -> None:
    """Against a plain sum, and zeta(1/2) as everybody has it."""
    theta = Decimal("0.3")
    total = Decimal(0)
    for j in range(1, 3001):
        total = _far.DIGITS.add(total, _far.DIGITS.power(Decimal(j), -theta))
    assert abs(_far.DIGITS.subtract(_far.harmonic(3000, theta), total)) < Decimal("1e-30")
    assert float(_far.zeta(Decimal("0.5"))) == pytest.approx(-1.4603545088095868)
    for model in (models.Plateau(0.35, length=7), models.Polynomial(1.0), models.Polynomial(1.7)):
        for n in (1, 6, 7, 8, 99, 101, 54_321):
            ours = float(_far.cumulative(model, n))
            assert ours == pytest.approx(float(theory.cumulative(model, n)), rel=1e-13)


def test_the_papers_family_is_settled() -> None:
    """From there on the order of all seven half-differences is fixed (crossing at 1.47 million)."""
    start = settled_from(levine2017.FAMILY, "difference")
    assert start is not None
    assert 1.4e6 < start < 1.6e6
    values = np.array(
        [
            float(theory.statistic(member, int(start), "difference"))
            for member in levine2017.FAMILY.members
        ]
    )
    assert np.all(np.diff(values) < 0)
