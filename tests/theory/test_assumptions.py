"""The paper's assumptions, decided with a reason or a witness."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from rotting import models, theory
from rotting.papers import levine2017

EXAMPLE = models.Polynomial().over([0.01, 0.2, 0.49])  # Example 4.1


@pytest.mark.parametrize("family", [EXAMPLE, levine2017.FAMILY], ids=["example", "paper"])
def test_the_papers_families_meet_all_assumptions(family: models.Family) -> None:
    for verdict in theory.check_assumptions(family):
        assert verdict.holds is True
        assert verdict.why


def test_failures_have_a_witness() -> None:
    """Each worked by hand.

    theta = 0 does not fade; of 0.6 and 0.7 neither is below 1/2, so their sums differ by less
    than n^0.4 and det = n / that^2 grows; exponentials' sums are bounded; 0.3 - 0.5 is negative.
    """
    zero = models.Polynomial().over([0.0, 0.3])
    assert theory.check_rotting_models(zero).witness == 0.0
    assert theory.check_simultaneous(zero).holds is False
    assert theory.check_difference_detection(zero).holds is True  # a constant's halves vanish
    fast = models.Plateau(length=5).over([0.6, 0.2, 0.7])
    assert theory.check_simultaneous(fast).witness == (0.6, 0.7)
    assert theory.check_difference_detection(fast).witness == (0.6, 0.7)
    assert theory.check_simultaneous(models.Polynomial().over([0.5, 0.6])).witness == (0.5, 0.6)
    fading = models.Exponential().over([0.1, 0.2])
    assert theory.check_rotting_models(fading).holds is True
    assert theory.check_simultaneous(fading).holds is False
    assert theory.check_difference_detection(fading).holds is False
    assert theory.check_simultaneous(models.Exponential().over([0.1])).holds is True
    low = theory.check_rotting(models.Step(10, 0.3, 0.1), constant=-0.2)
    assert low.holds is False
    assert low.witness[1] == 11
    assert theory.check_rotting(models.Polynomial(0.5), constant=-0.1).witness[1] == 100
    assert theory.check_rotting(models.Constant(0.1), models.Table([0.5, 0.2])).holds is True


def test_what_is_not_known_is_not_decided() -> None:
    open_case = theory.check_rotting(models.Function(lambda n: 1.0 / np.log(n + 1.0)))
    assert open_case.holds is None
    assert open_case.examined == 1 << 16
    assert "not decided" in str(open_case)


def test_functions_are_looked_at_one_by_one() -> None:
    rising = models.Function(lambda n: np.where(n < 10_000, 0.5, 1.0))
    assert theory.check_rotting(rising).witness[1] == 10_000
    dip = models.Function(lambda n: np.where(n > 5000, -1.0, 1.0))
    assert theory.check_rotting(dip).witness[1] == 5001


def test_reasons_have_the_right_powers() -> None:
    """The hardest pair of Example 4.1 is 0.2 and 0.49: Ddet ~ n^(2 * 0.2 - 1).

    det* is then ln(zeta)^(1 / 0.6), and bal takes it to the power 0.49 / 0.01.
    """
    assert "n^-0.6 for the hardest pair" in theory.check_difference_detection(EXAMPLE).why
    assert f"ln(zeta)^{49 / 0.6:.4g}, o(zeta)" in theory.check_simultaneous(EXAMPLE).why
    zero = models.Polynomial().over([0.0, 0.3, 0.4])  # a constant's halves vanish: 0.4 leads
    assert "n^-0.2 for the hardest pair" in theory.check_difference_detection(zero).why


def test_at_and_beyond_one_half() -> None:
    at, beyond = models.Polynomial().over([0.5, 0.6]), models.Polynomial().over([0.51, 0.6])
    for check, what in (
        (theory.check_simultaneous, "det"),
        (theory.check_difference_detection, "Ddet"),
    ):
        assert check(at).why == f"{what} of theta = 0.5 and 0.6 stays above a positive limit"
        assert check(beyond).why == f"{what} of theta = 0.51 and 0.6 grows without bound"
        assert check(models.Polynomial().over([0.7])).why == "one model needs no detection"
    fading = models.Exponential().over([0.0, 0.2])
    assert theory.check_simultaneous(fading).witness == 0.0  # never fades
    assert theory.check_difference_detection(fading).witness == (0.0, 0.2)
    assert "bounded, so Ddet grows" in theory.check_difference_detection(fading).why


def test_positive_in_the_end() -> None:
    """What underflows is positive; what is lowered falls below zero some day, unless it is flat."""
    assert theory.check_rotting(models.Exponential(1.0)).holds is True
    assert theory.check_rotting(models.Exponential(1.0), constant=0.5).holds is True
    late = theory.check_rotting(models.Polynomial(0.01), constant=-0.5)
    assert late.holds is False
    assert late.witness[1] is None
    assert "in the end" in late.why
    assert theory.check_rotting(models.Polynomial(0.0), constant=-0.5).holds is True
    assert theory.check_rotting(models.Constant(0.5), constant=-0.5).witness[1] == 1
    assert theory.check_rotting(models.Constant(-0.5)).witness[1] == 1
    assert theory.check_rotting(models.Table([0.5, 0.4, 0.3]), constant=-0.3).witness[1] == 3
    assert theory.check_rotting(models.Step(4, 0.5, 0.3), constant=-0.3).witness[1] == 5
    with pytest.raises(ValueError, match="limit must be an integer from 1 to"):
        theory.check_rotting(models.Polynomial(0.1), limit=0)


def test_an_early_end_of_the_search() -> None:
    """Pulls are checked up to the limit, the last one included."""
    rising = models.Function(lambda n: np.where(n < 9000, 0.5, 1.0))
    assert theory.check_rotting(rising, limit=8999).examined == 8999
    assert theory.check_rotting(rising, limit=9000).witness[1] == 9000


def test_what_stays_does_not_vanish() -> None:
    for member, last in (
        (models.Constant(0.25), 0.25),
        (models.Step(5, 1.0, 0.5), 0.5),
        (models.Table([1.0, 0.8, 0.75]), 0.75),
        (models.Scaled(models.Step(5, 1.0, 0.5), 0.5), 0.25),
        (models.Scaled(models.Polynomial(0.0), 0.5), 0.5),
    ):
        family = models.MixedFamily((models.Polynomial(0.1), member))
        found = theory.check_rotting_models(family)
        assert found.holds is False
        assert found.witness == member
        assert f"stays at {last:g} and" in found.why
    family = models.MixedFamily((models.Polynomial(0.1), models.Function(lambda n: 0.5 * n**-0.3)))
    open_case = theory.check_rotting_models(family)
    assert open_case.holds is None
    assert f"the largest is {65536**-0.1:.4g}" in open_case.why
    three = models.MixedFamily((*family.members, models.Polynomial(0.2)))
    alone = models.MixedFamily(family.members[1:])
    for check, of, what in (
        (theory.check_simultaneous, theory.det, "det"),
        (theory.check_difference_detection, theory.ddet, "Ddet"),
    ):
        largest = max(
            float(of(a, b, 1.0, 1 << 16)) for a, b in itertools.combinations(three.members, 2)
        )
        found = check(three)
        assert (found.holds, found.examined) == (None, 1 << 16)
        assert f"the largest {what} is {largest:.4g} sigma^2 at n = 65536" in found.why
        assert f"the largest {what} is 0 sigma^2" in check(alone).why
