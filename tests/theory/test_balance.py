"""Bisection for the first n at which a condition holds."""

from __future__ import annotations

import math

import pytest

from rotting import models
from rotting.theory._balance import bal, first_true, mean_at, mean_star


@pytest.mark.parametrize("start", [1, 5])
@pytest.mark.parametrize("step", [1, 2, 3])
def test_the_first_of_all(start: int, step: int) -> None:
    for border in range(40):
        expected = next(n for n in range(start, 100, step) if n >= border)
        assert first_true(lambda n, border=border: n >= border, start, step) == expected  # type: ignore[misc]


def test_no_further_than_asked() -> None:
    """1, 2, 3, 5, 9, ..., 65 are looked at: at the farthest the search ends."""
    assert first_true(lambda n: n >= 70, farthest=65) == math.inf
    assert first_true(lambda n: n >= 70, farthest=66) == 70
    assert first_true(lambda n: n >= 60, farthest=65) == 60
    assert first_true(lambda n: False, farthest=10**9) == math.inf


def test_where_models_fall_to_a_level() -> None:
    assert mean_star(models.Step(7, 1.0, 0.2), 0.2) == 8
    assert mean_star(models.Constant(0.5), 0.4) == math.inf
    assert mean_star(models.Plateau(0.5, length=10), 0.5) == 30
    family = models.Polynomial().over([0.25, 0.5])
    assert bal(family, math.inf) == math.inf
    assert bal(family, 1) == 1
    with pytest.raises(ValueError, match="n must be an integer >= 1"):
        bal(family, 0)


def test_means_far_out() -> None:
    assert mean_at(models.Polynomial(0.5), 10**200) == 1e-100
    assert mean_at(models.Step(7, 1.0, 0.2), 8) == 0.2
    assert mean_at(models.Plateau(0.5, length=10), 30) == 0.5


def test_from_one_in_steps_of_one_unless_asked_otherwise() -> None:
    asked: list[int] = []

    def holds(n: int) -> bool:
        asked.append(n)
        return n >= 3

    assert first_true(holds) == 3
    assert asked[:3] == [1, 2, 3]
    assert first_true(lambda n: n >= 10**299) == 10**299
    assert first_true(lambda n: n >= 3 * 10**300) == math.inf  # about what a float can hold


def test_how_far_other_models_are_followed() -> None:
    """Up to 2^62 pulls, as far as they can be counted."""
    for at in (2**61, 2**62):
        assert mean_star(models.Step(at, 1.0, 0.2), 0.5) == at + 1
    with pytest.raises(ValueError, match="level must be a finite number"):
        mean_star(models.Constant(0.5), math.inf)


def test_bal_is_that_of_the_slowest_and_the_fastest() -> None:
    family = models.Polynomial().over([0.5, 0.25, 0.4])
    assert bal(family, 4) == bal(family, 4.0) == 16  # alpha^-0.25 <= 4^-0.5
    assert bal(models.Polynomial().over([0.3]), 7) == 7
    for wrong in (0.5, -1, 2.5, math.nan):
        with pytest.raises(ValueError, match="n must be an integer >= 1"):
            bal(family, wrong)


def test_bal_of_powers_is_that_of_whole_numbers() -> None:
    """alpha^-a <= n^-c is alpha^x >= n^y for a = x/20, c = y/20; before, 1 in 40 was off."""
    for x, y in ((1, 2), (3, 4), (3, 9), (2, 5), (7, 8), (4, 19)):
        family = models.Polynomial().over([x / 20, y / 20])
        for n in range(2, 60):
            alpha = int(bal(family, n))
            assert alpha**x >= n**y > (alpha - 1) ** x, (x, y, n)
    example = models.Polynomial().over([0.01, 0.2, 0.49])
    for n in (2, 3, 10, 11, 20, 100, 12345):
        assert bal(example, n) == n**49


def test_bal_of_equal_plateaus() -> None:
    """From the 2,600th pull on theta = 0.2 pays 27^-0.2, which is 81^-0.15: from 8,000 on."""
    assert bal(models.Plateau(length=100).over([0.15, 0.2]), 2600) == 8000
