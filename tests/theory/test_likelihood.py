"""Detection by likelihood needs fewer pulls."""

from __future__ import annotations

import math

import numpy as np
import pytest

from helpers.cases import FAMILIES, PAIR, mu_of
from rotting import models, theory
from rotting.theory import _likelihood
from twins import theory_likelihood as naive
from twins.theory_detection import normal_cdf

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


PAIRS = [
    (models.Polynomial(0.1), models.Polynomial(0.4)),
    (models.Plateau(0.1, length=3), models.Plateau(0.4, length=3)),
    (models.Plateau(0.1, length=3), models.Plateau(0.4, length=4)),
    (models.Exponential(0.01), models.Exponential(0.2)),
    (models.Polynomial(0.3), models.Exponential(0.1)),
    (models.Polynomial(0.3), models.Constant(0.5)),
    (models.Constant(0.5), models.Step(4, 1.0, 0.2)),
]


@pytest.mark.parametrize("profiled", [False, True])
@pytest.mark.parametrize("pair", PAIRS, ids=repr)
def test_squared_distances(pair: tuple[models.Model, models.Model], profiled: bool) -> None:
    """By the definition, at many n at once; of a model to itself it is zero."""
    first, second = pair
    d = first.table(60) - second.table(60)
    n = np.array([0, 1, 2, 3, 4, 10, 59, 60])
    expected = [np.sum((d[:k] - (d[:k].mean() if profiled and k else 0.0)) ** 2) for k in n]
    found = theory.squared_distance(first, second, n, profiled)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert np.all(theory.squared_distance(first, first, n, profiled) < 1e-12)
    assert float(theory.squared_distance(first, second, 10, profiled)) == found[5]
    exact = [normal_cdf(-math.sqrt(square) / 0.6) for square in expected]
    asked = {} if not profiled else {"profiled": True}
    wrong = theory.likelihood_misdetection(first, second, n, 0.3, **asked)
    np.testing.assert_allclose(wrong, exact, atol=1e-7)
    np.testing.assert_array_equal(theory.squared_distance(first, second, n, **asked), found)


def test_how_far_models_without_a_formula_are_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_likelihood, "FUNCTION_LIMIT", 50)
    first, second = PAIRS[-1]
    assert float(theory.squared_distance(first, second, 50)) == pytest.approx(1.0 + 0.09 * 46)
    with pytest.raises(ValueError, match="n must be at most 50 for these models, got 51"):
        theory.squared_distance(first, second, 51)
    assert theory.squared_distance(first, second, np.zeros(0, dtype=np.int64)).shape == (0,)


def test_pulls_that_the_likelihood_needs() -> None:
    first, second = models.Exponential(0.1), models.Exponential(0.2)
    assert theory.m_star_likelihood(first, second, 0.01, 1.0) == math.inf  # they fade away
    for p in (0.0, 1.0):
        with pytest.raises(ValueError, match="p must be a number > 0 and < 1"):
            theory.m_star_likelihood(first, second, p, 1.0)
    with pytest.raises(ValueError, match="sigma must be a number > 0"):
        theory.likelihood_misdetection(first, second, 5, 0.0)
    both = models.Polynomial(0.1), models.Polynomial(0.4)
    assert theory.m_star_likelihood(*both, 0.5, 1.0) == 1  # a fair coin at first
    with_none = theory.m_star_likelihood(*both, 0.01, 0.1)
    assert with_none == theory.m_star_likelihood(*both, 0.01, 0.1, profiled=False)
    assert with_none < theory.m_star_likelihood(*both, 0.01, 0.1, profiled=True)
    with pytest.raises(ValueError, match="second must differ from first in theta only"):
        theory.likelihood_savings(models.Polynomial(0.1), models.Plateau(0.4, 3), 0.01, 1.0)
    with pytest.raises(ValueError, match=r"a theta each, got 0\.1 and None"):
        theory.likelihood_savings(models.Polynomial(0.1), models.Constant(0.2), 0.01, 1.0)
    with pytest.raises(ValueError, match=r"a theta each, got None and 0\.1"):
        theory.likelihood_savings(models.Polynomial(), models.Polynomial(0.1), 0.01, 1.0)
