"""Detection by likelihood needs fewer pulls."""

from __future__ import annotations

import pytest

from cases import FAMILIES, PAIR, mu_of
from rotting import models, theory
from twins import theory_likelihood as naive

SIGMA = 0.2**0.5
SIGMA = 0.2**0.5


@pytest.mark.parametrize("name", list(FAMILIES))
def test_likelihood_rule(name: str) -> None:
    family = FAMILIES[name]
    mu = mu_of(family)
    first, second = family.members[:2]
    a, b = family.thetas[:2]
    for n in (2, 10, 41, 300):
        for profiled, twin in (
            (False, naive.likelihood_misdetection),
            (True, naive.likelihood_misdetection_profiled),
        ):
            ours = float(theory.likelihood_misdetection(first, second, n, 0.5, profiled))
            assert ours == pytest.approx(twin(n, a, b, mu, 0.5), abs=1e-6)


def test_the_likelihood_needs_fewer_pulls() -> None:
    """Two plateau models, p = 0.01: against 264 pulls by the sum, 95,468 by the halves."""
    first, second = PAIR.members
    plain = theory.m_star_likelihood(first, second, 0.01, SIGMA)
    profiled = theory.m_star_likelihood(first, second, 0.01, SIGMA, profiled=True)
    assert plain <= 264
    assert plain < profiled < 95_468
    for n, option in ((plain, False), (profiled, True)):
        here = theory.likelihood_misdetection(first, second, int(n), SIGMA, option)
        before = theory.likelihood_misdetection(first, second, int(n) - 1, SIGMA, option)
        assert float(here) <= 0.01 < float(before)


def test_likelihood_saves_pulls() -> None:
    """The paper's plateau pair: 219 against 264 by the sum; 350 against 95,468 by the halves."""
    first, second = models.Plateau(length=100).over([0.1, 0.4]).members
    saved = theory.likelihood_savings(first, second, 0.01, SIGMA)
    assert saved == {"sum": 264, "likelihood": 219, "difference": 95_468, "profiled": 350}
    with pytest.raises(ValueError, match="a theta each"):
        theory.likelihood_savings(models.Constant(0.1), models.Constant(0.2), 0.01, 1.0)
