"""Sums of models in closed form."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rotting import models, theory
from rotting.theory import _sums
from rotting.theory._sums import FUNCTION_LIMIT


@pytest.mark.parametrize(
    "model",
    [
        models.Polynomial(0.3),
        models.Polynomial(1.0),
        models.Polynomial(0.0),
        models.Plateau(0.4, length=7),
        models.Plateau(0.4, length=1),
        models.Exponential(0.01),
        models.Exponential(0.0),
        models.Constant(0.3),
        models.Step(50, 1.0, 0.2),
        models.Table([1.0, 0.5, 0.4]),
        models.Function(lambda n: 1.0 / n),
    ],
    ids=repr,
)
def test_closed_sums_are_the_sums(model: models.Model) -> None:
    n = np.array([0, 1, 2, 6, 7, 8, 99, 100, 4095, 4096, 4097, 50_000])
    table = np.concatenate([[0.0], np.cumsum(model.table(50_000))])
    np.testing.assert_allclose(theory.cumulative(model, n), table[n], rtol=1e-12)


def test_sums_far_out() -> None:
    """Integral bounds: the sum of j^-0.3 over j <= n lies between two integrals."""
    n = 10**15
    total = float(theory.cumulative(models.Polynomial(0.3), n))
    assert ((n + 1) ** 0.7 - 1) / 0.7 < total < n**0.7 / 0.7
    with pytest.raises(ValueError, match="without a closed form"):
        theory.cumulative(models.Function(lambda n: 1.0 / n), FUNCTION_LIMIT + 1)
    with pytest.raises(ValueError, match="integers >= 0"):
        theory.cumulative(models.Polynomial(0.3), -1)


@pytest.mark.parametrize(
    "model",
    [
        models.Scaled(models.Polynomial(0.3), 2.5),
        models.Amplitude(models.Plateau(0.4, length=3), 0.7),
        models.Polynomial(1.0 + 1e-9),
        models.Polynomial(1.7),
        models.Polynomial(2.5),
        models.Plateau(1.0, length=2),
        models.Exponential(2.0),
        models.Step(1, 1.0, 0.5),
        models.Table([1.0]),
    ],
    ids=repr,
)
def test_sums_of_more_models(model: models.Model) -> None:
    n = np.arange(30)
    table = np.concatenate([[0.0], np.cumsum(model.table(30_000))])
    np.testing.assert_allclose(theory.cumulative(model, n), table[n], rtol=1e-12)
    for more in (4096, 4097, 4098, 8191, 30_000):  # where the formula takes over
        assert float(theory.cumulative(model, more)) == pytest.approx(table[more], rel=1e-13)


@pytest.mark.parametrize("theta", [0.1, 0.5, 1.0, 1.5, 2.5])
def test_the_formula_continues_the_sum(theta: float) -> None:
    """One term more is one term more, also where the first terms are no longer in a table."""
    model = models.Polynomial(theta)
    exact = math.fsum(j**-theta for j in range(1, 5001))
    assert float(theory.cumulative(model, 5000)) == pytest.approx(exact, rel=1e-14)
    small = _sums._euler_maclaurin(np.array([11.0, 10.0]), theta)
    # three terms of the formula leave an error of about theta^5 / (30240 n^(5 + theta))
    assert small[0] - small[1] == pytest.approx(11.0**-theta, abs=1e-7)


def test_no_pulls_and_arrays_of_any_shape() -> None:
    none = np.zeros(0, dtype=np.int64)
    for model in (models.Polynomial(0.3), models.Function(lambda n: 1.0 / n), models.Constant(2.0)):
        assert theory.cumulative(model, none).shape == (0,)
        assert float(theory.cumulative(model, 0)) == 0.0
        grid = theory.cumulative(model, [[0, 1], [2, 3]])
        assert grid.shape == (2, 2)
        np.testing.assert_allclose(grid.ravel(), theory.cumulative(model, [0, 1, 2, 3]))


def test_sums_are_refused() -> None:
    function = models.Function(lambda n: 1.0 / n)
    assert float(theory.cumulative(function, FUNCTION_LIMIT)) == pytest.approx(15.8262, abs=1e-3)
    for wrong in (1.5, [1.0, 2.0], [3, -1], "a"):
        with pytest.raises(ValueError, match="n must be integers >= 0"):
            theory.cumulative(models.Polynomial(0.3), wrong)
    for model in (models.Polynomial(), models.Plateau(length=3), models.Exponential()):
        with pytest.raises(ValueError, match="needs a theta for its sums"):
            theory.cumulative(model, 3)
