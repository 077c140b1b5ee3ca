"""Detection by likelihood, which uses every reward and not only their sum (beyond the paper).

With Gaussian noise the log-likelihood ratio of two models is one Gaussian. With s^2 the sum of
d(j)^2 over j <= n, d the difference of the models, it has mean s^2 / (2 sigma^2) and variance
s^2 / sigma^2 when the first is true: the other is preferred with probability Phi(-s / (2 sigma)).
With an unknown constant profiled out, d is replaced by d less its mean.

Neither sum of squares falls as n grows, so the probability never rises, and bisection finds the
number of pulls exactly.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import numpy.typing as npt

from rotting import _checks
from rotting.kernel.arrays import FloatArray
from rotting.models import Exponential, Family, Model, Plateau, Polynomial
from rotting.theory._balance import first_true
from rotting.theory._samples import m_star
from rotting.theory._sums import FUNCTION_LIMIT, cumulative


def squared_distance(
    first: Model, second: Model, n: npt.ArrayLike, profiled: bool = False
) -> FloatArray:
    """The sum of d(j)^2 over j <= n, with d the difference of two models' means.

    Args:
        first: A model with its theta.
        second: Another one.
        n: A number of pulls, or an array of them.
        profiled: Whether to subtract the mean of d from d, for arms with an unknown constant.

    Returns:
        An array with the shape of `n`.

    Raises:
        ValueError: `n` is above 2^22 for models without a closed form.

    >>> from rotting import models
    >>> squared_distance(models.Constant(1.0), models.Constant(0.5), [1, 4])
    array([0.25, 1.  ])
    """
    pulls = np.asarray(n)
    squares = (
        _products(first, first, pulls)
        - 2.0 * _products(first, second, pulls)
        + _products(second, second, pulls)
    )
    if profiled:
        total = cumulative(first, pulls) - cumulative(second, pulls)
        squares = squares - total**2 / np.maximum(pulls, 1)
    return np.maximum(squares, 0.0)


def _products(first: Any, second: Any, n: Any) -> FloatArray:
    """The sum of mu1(j) mu2(j): where exponents add up, the sum of a model of the same kind."""
    for kind in (Polynomial, Plateau, Exponential):
        same = isinstance(first, kind) and isinstance(second, kind)
        if same and dataclasses.replace(first, theta=0.0) == dataclasses.replace(second, theta=0.0):
            return cumulative(dataclasses.replace(first, theta=first.theta + second.theta), n)
    most = int(np.max(n, initial=1))
    if most > FUNCTION_LIMIT:
        raise ValueError(f"n must be at most {FUNCTION_LIMIT} for these models, got {most}")
    sums = np.cumsum(first.table(most) * second.table(most))
    return np.asarray(np.concatenate([[0.0], sums])[n])


def likelihood_misdetection(
    first: Model, second: Model, n: npt.ArrayLike, sigma: float, profiled: bool = False
) -> FloatArray:
    """The probability that after n pulls of the first model the second has the higher likelihood.

    Exact for Gaussian noise.

    Args:
        first: The true model.
        second: The other one.
        n: A number of pulls, or an array of them.
        sigma: The noise level.
        profiled: Whether arms have an unknown constant.

    Returns:
        An array with the shape of `n`.

    Raises:
        ValueError: `sigma` is not positive, or `n` is too large for models without a closed form.

    >>> from rotting import models
    >>> a, b = models.Polynomial(0.1), models.Polynomial(0.4)
    >>> likelihood_misdetection(a, b, [10, 100], sigma=1.0).round(4)
    array([0.3094, 0.0123])
    """
    from scipy import special

    sigma = _checks.number("sigma", sigma, above=0)
    return np.asarray(
        special.ndtr(-np.sqrt(squared_distance(first, second, n, profiled)) / (2.0 * sigma))
    )


def m_star_likelihood(
    first: Model, second: Model, p: float, sigma: float, profiled: bool = False
) -> float:
    """The pulls after which the likelihood rule confuses two models with probability at most p.

    Compare it with `m_star` for the sum and, profiled, for the half-differences.

    Args:
        first: A model with its theta.
        second: Another one.
        p: The probability.
        sigma: The noise level.
        profiled: Whether arms have an unknown constant.

    Returns:
        The number of pulls; infinite if 2^62 are not enough.

    Raises:
        ValueError: An argument is outside its range.

    >>> from rotting import models
    >>> m_star_likelihood(models.Polynomial(0.1), models.Polynomial(0.4), p=0.01, sigma=1.0)
    107
    """
    p = _checks.number("p", p, above=0, below=1)

    def sure(n: int) -> bool:
        return float(likelihood_misdetection(first, second, n, sigma, profiled)) <= p

    return first_true(sure, farthest=1 << 62)


def likelihood_savings(first: Model, second: Model, p: float, sigma: float) -> dict[str, float]:
    """The pulls that each rule needs to identify one of two models with probability 1 - p.

    "sum" and "difference" are the paper's rules (m* and, over even n, m*_diff), "likelihood" and
    "profiled" the likelihood rule without and with an unknown constant. Compare "profiled" with
    "difference": both work whatever the constant is.

    Args:
        first: A model with its theta.
        second: Another theta of the same shape.
        p: The probability of confusing them.
        sigma: The noise level.

    Returns:
        The number of pulls of each rule, by name.

    Raises:
        ValueError: A model has no theta, or they differ in more than theta.

    >>> from rotting import models
    >>> likelihood_savings(models.Polynomial(0.1), models.Polynomial(0.4), p=0.01, sigma=1.0)
    {'sum': 109.0, 'likelihood': 107.0, 'difference': 54006.0, 'profiled': 29174.0}
    """
    a, b = getattr(first, "theta", None), getattr(second, "theta", None)
    if a is None or b is None:
        raise ValueError(f"first and second must have a theta each, got {a} and {b}")
    pair = Family(first, (a, b))
    if pair.members[1] != second:
        raise ValueError(f"second must differ from first in theta only, got {second!r}")
    return {
        "sum": float(m_star(pair, p, sigma).max()),
        "likelihood": float(m_star_likelihood(first, second, p, sigma)),
        "difference": float(m_star(pair, p, sigma, "difference", even=True).max()),
        "profiled": float(m_star_likelihood(first, second, p, sigma, profiled=True)),
    }
