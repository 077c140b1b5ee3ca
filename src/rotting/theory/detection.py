"""Telling models apart by their sums: det, Ddet, misdetection probabilities, m* (section 4).

Everything here is computed from closed-form sums (`rotting.theory.sums`). What is said of "all n"
is said of all n up to a limit, which is a parameter: det and Ddet need not be monotone (the
half-differences of two models may cross), so searches look for the last n that fails, never for the
first that does not.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from rotting import checks
from rotting.models import Family, FloatArray, Model
from rotting.theory.sums import cumulative

LIMIT = 1 << 22  # how far searches look unless told otherwise: 4,194,304 pulls
RULES = ("sum", "difference")
METHODS = ("exact", "bound")
_BLOCK = 1 << 17


def statistic(model: Model, n: npt.ArrayLike, rule: str = "sum") -> FloatArray:
    """The mean of a rule's statistic after n pulls, without a constant.

    "sum": the sum of mu(j) over j <= n (Eq. 6). "difference": that over the first floor(n/2) pulls
    less that over the rest (Eq. 9).
    """
    checks.choice("rule", rule, RULES)
    pulls = np.asarray(n)
    if rule == "sum":
        return cumulative(model, pulls)
    return 2.0 * cumulative(model, pulls // 2) - cumulative(model, pulls)


def det(first: Model, second: Model, sigma: float, n: npt.ArrayLike) -> FloatArray:
    """det(n) = n sigma^2 / (difference of the sums)^2 (Definition 4.2); infinite at no difference.

    >>> from rotting import models
    >>> det(models.Polynomial(0.5), models.Polynomial(1.0), 1.0, [1, 2, 4]).round(2)
    array([  inf, 46.63,  8.14])
    """
    return _separation(first, second, sigma, n, "sum")


def ddet(first: Model, second: Model, sigma: float, n: npt.ArrayLike) -> FloatArray:
    """Ddet(n): det with the half-differences instead of the sums (Definition 4.2).

    >>> from rotting import models
    >>> ddet(models.Polynomial(0.5), models.Polynomial(1.0), 1.0, [1, 2, 3, 4]).round(2)
    array([  inf, 46.63, 14.74, 48.59])
    """
    return _separation(first, second, sigma, n, "difference")


def _separation(
    first: Model, second: Model, sigma: float, n: npt.ArrayLike, rule: str
) -> FloatArray:
    sigma = checks.number("sigma", sigma, above=0)
    pulls = np.asarray(n)
    difference = statistic(first, pulls, rule) - statistic(second, pulls, rule)
    with np.errstate(divide="ignore"):
        return np.asarray(pulls * sigma**2 / difference**2)


@functools.lru_cache(maxsize=64)
def ddet_star(family: Family, sigma: float, level: float, limit: int = LIMIT) -> int | None:
    """The largest over all pairs of Ddet's star-down at a level: from there on Ddet <= level.

    Looked at up to the limit; None if a pair still exceeds the level there. A family of one model
    needs no detection: 1.
    """
    checks.number("level", level, above=0)
    sigma = checks.number("sigma", sigma, above=0)
    needed = 1
    for n in _blocks_down(limit, 1):
        values = [statistic(member, n, "difference") for member in family.members]
        for a, b in itertools.combinations(values, 2):
            above = np.flatnonzero(n * sigma**2 > level * (a - b) ** 2)
            if above.size:
                needed = max(needed, int(n[above[-1]]) + 1)
        if needed > 1:
            return None if needed > limit else needed
    return needed


def misdetection(
    family: Family,
    n: npt.ArrayLike,
    sigma: float,
    rule: str = "sum",
    method: str = "exact",
    constant: float = 0.0,
) -> FloatArray:
    """Probability that a proximity rule misses the true model after n pulls, [theta, n].

    "exact", for Gaussian noise: the statistic is one Gaussian with variance n sigma^2, and the
    rule picks the nearest of the values that Theta's models give; models with the same value go
    to the first in Theta's order. "bound" is Appendix D's 2 exp(-1 / (8 det)), for sub-Gaussian
    noise, with det (or Ddet) of the true model and the one nearest to it.

    At odd n the difference keeps minus the arm's constant, which shifts the statistic; at even n,
    and for the sum of a family without constants, it plays no part.

    >>> from rotting import models
    >>> family = models.Polynomial().over([0.1, 0.4])
    >>> misdetection(family, [10, 100, 1000], sigma=1.0).round(4)[0]
    array([0.3221, 0.0131, 0.    ])
    """
    from scipy import special

    sigma = checks.number("sigma", sigma, above=0)
    checks.choice("method", method, METHODS)
    pulls = np.atleast_1d(np.asarray(n))
    values = np.stack([statistic(member, pulls, rule) for member in family.members])
    spread = sigma * np.sqrt(pulls)
    shift = np.where(pulls % 2 == 1, -constant, 0.0) if rule == "difference" else 0.0
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
    """The least of each column, infinite where there is none."""
    return np.asarray(np.where(np.isnan(gaps), np.inf, gaps).min(axis=0))


def m_star(
    family: Family,
    p: float,
    sigma: float,
    rule: str = "sum",
    method: str = "exact",
    *,
    even: bool = False,
    constant: float = 0.0,
    limit: int = LIMIT,
) -> FloatArray:
    """m*(p; theta), one per theta in Theta's order: pulls after which misdetection is at most p.

    The smallest m such that the probability is at most p for every n from m to the limit (Eq. 11);
    infinite where it still exceeds p there. `rule="difference"` gives m*_diff; `even=True` looks at
    even n only, as the proof of Theorem 4.2 does. See `misdetection` for methods and constants.

    >>> from rotting import models
    >>> family = models.Plateau(length=100).over([0.1, 0.4])
    >>> m_star(family, p=0.01, sigma=0.2 ** 0.5, limit=10_000)
    array([264., 264.])
    """
    p = checks.number("p", p, above=0, below=1)
    limit = checks.integer("limit", limit, least=2)
    step = 2 if even else 1
    found = np.full(len(family), math.nan)
    top = limit - limit % step
    for n in _blocks_down(limit, step):
        probabilities = misdetection(family, n, sigma, rule, method, constant)
        for k in np.flatnonzero(np.isnan(found)):
            above = np.flatnonzero(probabilities[k] > p)
            if above.size:
                last = int(n[above[-1]])
                found[k] = math.inf if last == top else last + step
        if not np.any(np.isnan(found)):
            break
    return np.where(np.isnan(found), float(step), found)


def _blocks_down(limit: int, step: int) -> Iterator[Any]:
    """The numbers step, 2 step, ..., limit in blocks, the last block first."""
    count = limit // step
    for last in range(count, 0, -_BLOCK):
        yield np.arange(max(1, last - _BLOCK + 1), last + 1, dtype=np.int64) * step
