"""Detection of models by their sums: det, Ddet and misdetection probabilities (section 4)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from rotting import _checks
from rotting.kernel.arrays import FloatArray
from rotting.models import Family, Model
from rotting.theory._sums import cumulative

RULES = ("sum", "difference")
METHODS = ("exact", "bound")


def statistic(model: Model, n: npt.ArrayLike, rule: str = "sum") -> FloatArray:
    """The mean of a rule's statistic after n pulls, without a constant.

    Args:
        model: A model with its theta.
        n: A number of pulls, or an array of them.
        rule: "sum": the sum of mu(j) over j <= n (Eq. 6). "difference": the sum over the first
            floor(n/2) pulls less that over the rest (Eq. 9).

    Returns:
        An array with the shape of `n`.

    Raises:
        ValueError: The rule is unknown.

    >>> from rotting import models
    >>> statistic(models.Polynomial(1.0), [2, 4]).round(3)
    array([1.5  , 2.083])
    >>> statistic(models.Polynomial(1.0), [2, 4], "difference").round(3)
    array([0.5  , 0.917])
    """
    _checks.choice("rule", rule, RULES)
    pulls = np.asarray(n)
    if rule == "sum":
        return cumulative(model, pulls)
    return 2.0 * cumulative(model, pulls // 2) - cumulative(model, pulls)


def det(first: Model, second: Model, sigma: float, n: npt.ArrayLike) -> FloatArray:
    """det(n) = n sigma^2 / (difference of the sums)^2, small when models separate (Definition 4.2).

    Args:
        first: A model with its theta.
        second: Another one.
        sigma: The noise level.
        n: A number of pulls, or an array of them.

    Returns:
        An array with the shape of `n`; infinite where the sums are equal.

    Raises:
        ValueError: `sigma` is not positive.

    >>> from rotting import models
    >>> det(models.Polynomial(0.5), models.Polynomial(1.0), 1.0, [1, 2, 4]).round(2)
    array([  inf, 46.63,  8.14])
    """
    return _separation(first, second, sigma, n, "sum")


def ddet(first: Model, second: Model, sigma: float, n: npt.ArrayLike) -> FloatArray:
    """Ddet(n): det with the half-differences instead of the sums (Definition 4.2).

    It does not depend on an arm's constant at even n.

    Args:
        first: A model with its theta.
        second: Another one.
        sigma: The noise level.
        n: A number of pulls, or an array of them.

    Returns:
        An array with the shape of `n`; infinite where the half-differences are equal.

    Raises:
        ValueError: `sigma` is not positive.

    >>> from rotting import models
    >>> ddet(models.Polynomial(0.5), models.Polynomial(1.0), 1.0, [1, 2, 3, 4]).round(2)
    array([  inf, 46.63, 14.74, 48.59])
    """
    return _separation(first, second, sigma, n, "difference")


def _separation(
    first: Model, second: Model, sigma: float, n: npt.ArrayLike, rule: str
) -> FloatArray:
    sigma = _checks.number("sigma", sigma, above=0)
    pulls = np.asarray(n)
    difference = statistic(first, pulls, rule) - statistic(second, pulls, rule)
    with np.errstate(divide="ignore"):
        return np.asarray(pulls * sigma**2 / difference**2)


def misdetection(
    family: Family,
    n: npt.ArrayLike,
    sigma: float,
    rule: str = "sum",
    method: str = "exact",
    constant: float = 0.0,
) -> FloatArray:
    """The probability that a proximity rule misses the true model after n pulls.

    Args:
        family: The models.
        n: A number of pulls, or an array of them.
        sigma: The noise level.
        rule: "sum" or "difference", see `statistic`.
        method: "exact", for Gaussian noise: the statistic is one Gaussian with variance n sigma^2,
            and the rule picks the nearest of the values that Theta's models give; models with the
            same value go to the first in Theta's order. "bound" is Appendix D's 2 exp(-1 / (8
            det)), for sub-Gaussian noise, with det (or Ddet) of the true model and the one nearest
            to it.
        constant: The arm's constant. At odd n the difference keeps minus the constant, which shifts
            the statistic; at even n, and for the sum of a family without constants, it plays no
            part.

    Returns:
        An array [theta, n].

    Raises:
        ValueError: The rule or the method is unknown, or `sigma` is not positive.

    >>> from rotting import models
    >>> family = models.Polynomial().over([0.1, 0.4])
    >>> misdetection(family, [10, 100, 1000], sigma=1.0).round(4)[0]
    array([0.3221, 0.0131, 0.    ])
    """
    _checks.choice("method", method, METHODS)
    pulls = np.atleast_1d(np.asarray(n))
    values = np.stack([statistic(member, pulls, rule) for member in family.members])
    spread = _checks.number("sigma", sigma, above=0) * np.sqrt(pulls)
    shift = np.where(pulls % 2 == 1, -constant, 0.0) if rule == "difference" else np.zeros(1)
    return wrong_nearest(values, spread, shift, method)


def wrong_nearest(
    values: FloatArray, spread: FloatArray, shift: FloatArray, method: str
) -> FloatArray:
    """The probability that a shifted Gaussian around each of `values` is nearer to another one.

    `values` are [theta, n]; with the method "bound" it is a bound.
    """
    from scipy import special

    found = np.empty(values.shape)
    for k, own in enumerate(values):
        gaps = values - own
        gaps[k] = np.nan
        if method == "bound":
            nearest = _least(np.abs(gaps))
            found[k] = 2.0 * np.exp(-(nearest**2) / (8.0 * spread**2))
            continue
        above = _least(np.where(gaps > 0, gaps, np.nan))
        below = _least(np.where(gaps < 0, -gaps, np.nan))
        wrong = special.ndtr(-(above / 2 - shift) / spread)
        wrong += special.ndtr(-(below / 2 + shift) / spread)
        shadowed = np.any(gaps[:k] == 0, axis=0)  # an earlier model with the same value wins
        found[k] = np.where(shadowed, 1.0, wrong)
    return found


def _least(gaps: FloatArray) -> FloatArray:
    """The least of each column; infinite where there is none."""
    return np.asarray(np.where(np.isnan(gaps), np.inf, gaps).min(axis=0))
