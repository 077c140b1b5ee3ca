"""Cumulative sums of the models in closed form: the sum of mu(j) over j <= n, for n of any size.

Without tables, so n may be 10^15. Sums of n^-theta use the Euler-Maclaurin formula beyond the first
4,096 terms, where its next term is below 1e-20 of the sum.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
import numpy.typing as npt

from rotting.kernel.arrays import FloatArray
from rotting.models import (
    Amplitude,
    Constant,
    Exponential,
    Function,
    Model,
    Plateau,
    Polynomial,
    Scaled,
    Step,
    Table,
)

FUNCTION_LIMIT = 1 << 22  # pulls up to which the values of a Python function are summed
_EXACT = 4096


def cumulative(model: Model, n: npt.ArrayLike) -> FloatArray:
    """The sum of the means mu(1), ..., mu(n).

    Closed forms make n of any size fast; functions of your own are summed term by term.

    Args:
        model: A model with its theta.
        n: A number of pulls from 0, or an array of them.

    Returns:
        An array of floats with the shape of `n`.

    Raises:
        ValueError: A number is no integer or negative, the theta is open, or `n` is above 2^22 for
            a model without a closed form.

    >>> from rotting import models
    >>> cumulative(models.Plateau(1.0, length=2), [0, 1, 3, 5]).round(3)
    array([0.   , 1.   , 2.   , 2.667])
    """
    pulls = np.asarray(n)
    if not np.issubdtype(pulls.dtype, np.integer) or (pulls.size and pulls.min() < 0):
        raise ValueError(f"n must be integers >= 0, got {n!r}")
    return np.asarray(_sum(model, pulls.astype(np.int64)), dtype=np.float64)


@functools.singledispatch
def _sum(model: Model, n: Any) -> Any:
    """The sum for models without a closed form, from their tables."""
    most = int(n.max()) if n.size else 0
    if most > FUNCTION_LIMIT:
        raise ValueError(
            f"n must be at most {FUNCTION_LIMIT} for {model!r}, without a closed form, got {most}"
        )
    return np.pad(np.cumsum(model.table(max(1, most))), (1, 0))[n]


@_sum.register
def _(model: Polynomial, n: Any) -> Any:
    return harmonic(n, _theta(model))


@_sum.register
def _(model: Plateau, n: Any) -> Any:
    # n = q length + r: the first plateau holds length - 1 pulls, the next ones length each, and
    # the last one has r + 1 of its pulls among the first n
    theta = _theta(model)
    q, r = n // model.length, n % model.length
    # neighbouring n share their plateau: compute each plateau's sum once
    plateaus, which = np.unique(q, return_inverse=True)
    whole = model.length * harmonic(plateaus, theta) - 1.0
    last = (plateaus + 1.0) ** -theta
    which = which.reshape(q.shape)
    return whole[which] + (r + 1) * last[which]


@_sum.register
def _(model: Exponential, n: Any) -> Any:
    theta = _theta(model)
    return np.asarray(n, dtype=float) if theta == 0 else np.expm1(-theta * n) / math.expm1(-theta)


@_sum.register
def _(model: Constant, n: Any) -> Any:
    return model.value * n


@_sum.register
def _(model: Scaled, n: Any) -> Any:
    return model.factor * _sum(model.model, n)


@_sum.register
def _(model: Amplitude, n: Any) -> Any:
    return _theta(model) * _sum(model.model, n)


@_sum.register
def _(model: Step, n: Any) -> Any:
    return model.before * np.minimum(n, model.at) + model.after * np.maximum(n - model.at, 0)


@_sum.register
def _(model: Table, n: Any) -> Any:
    values = np.array(model.values)
    sums = np.pad(np.cumsum(values), (1, 0))
    return sums[np.minimum(n, values.size)] + values[-1] * np.maximum(n - values.size, 0)


@_sum.register
def _(model: Function, n: Any) -> Any:
    return _sum.dispatch(Model)(model, n)


def harmonic(n: Any, theta: float) -> Any:
    """The sum of j^-theta over j = 1..n, elementwise."""
    first, constant = _beginning(theta)
    counts = np.asarray(n)
    return np.where(
        counts <= _EXACT,
        first[np.minimum(counts, _EXACT)],
        constant + _euler_maclaurin(np.maximum(counts, 1), theta),
    )


@functools.lru_cache(maxsize=256)
def _beginning(theta: float) -> tuple[FloatArray, float]:
    """The sums of the first terms, and the Euler-Maclaurin formula's constant, zeta(theta)."""
    terms = np.arange(1, _EXACT + 1, dtype=np.float64) ** -theta
    sums = np.pad(np.cumsum(terms), (1, 0))
    total = math.fsum(terms)
    return sums, total - float(_euler_maclaurin(np.array(_EXACT), theta))


def _euler_maclaurin(n: Any, theta: float) -> Any:
    """The sum of j^-theta up to n, up to a constant."""
    x = np.asarray(n, dtype=np.float64)
    # (x^(1-theta) - 1) / (1 - theta), which keeps its digits near theta = 1
    integral = np.log(x) if theta == 1.0 else np.expm1((1.0 - theta) * np.log(x)) / (1.0 - theta)
    third = theta * (theta + 1.0) * (theta + 2.0)
    tail = x**-theta * (0.5 - theta / (12.0 * x) + third / (720.0 * x**3))
    return integral + tail


def _theta(model: Any) -> float:
    if model.theta is None:
        raise ValueError(f"{type(model).__name__} needs a theta for its sums")
    return float(model.theta)
