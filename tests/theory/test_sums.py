"""Sums of models in closed form."""

from __future__ import annotations

import numpy as np
import pytest

from rotting import models, theory
from rotting.theory.sums import FUNCTION_LIMIT


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
