"""The paper's assumptions, decided with a reason or a witness."""

from __future__ import annotations

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
