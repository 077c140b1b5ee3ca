"""How soon two models can be told apart by the halves of their sums (Definition 4.2)."""

from __future__ import annotations

import functools
import itertools

import numpy as np

from rotting import checks
from rotting.models import Family, FloatArray, Model

LIMIT = 1 << 22  # how far the tail is searched: 4,194,304 pulls


def ddet(first: Model, second: Model, sigma: float, length: int) -> FloatArray:
    """Ddet(n) for n = 1..length: n sigma^2 over the squared difference of the half-differences.

    With d(j) = mu(j; theta1) - mu(j; theta2), the denominator is the square of the sum of d over
    the first floor(n/2) pulls minus that over the rest; infinite where that is zero.

    >>> from rotting import models
    >>> ddet(models.Polynomial(0.5), models.Polynomial(1.0), 1.0, length=4).round(2)
    array([  inf, 46.63, 14.74, 48.59])
    """
    sigma = checks.number("sigma", sigma, above=0)
    return _ddet(np.cumsum(first.table(length)) - np.cumsum(second.table(length)), sigma)


def _ddet(sums: FloatArray, sigma: float) -> FloatArray:
    """Ddet from the differences of the models' cumulative sums."""
    n = np.arange(1, sums.size + 1)
    padded = np.pad(sums, (1, 0))
    difference = 2.0 * padded[n // 2] - padded[n]
    with np.errstate(divide="ignore"):
        return np.asarray(n * sigma**2 / difference**2)


@functools.lru_cache(maxsize=64)
def ddet_star(family: Family, sigma: float, level: float, limit: int = LIMIT) -> int | None:
    """The largest over all pairs of Ddet's star-down at a level: from there on Ddet <= level.

    Ddet is not monotone, since the half-differences of two models may cross; so this looks for the
    last n <= limit at which it exceeds the level, never for the first at which it does not. None if
    a pair still exceeds the level at the limit. A family of one model needs no detection: 1.
    """
    checks.number("level", level, above=0)
    needed = 1
    sums = [np.cumsum(member.table(limit)) for member in family.members]
    for first, second in itertools.combinations(sums, 2):
        above = np.flatnonzero(_ddet(first - second, sigma) > level)
        if above.size:
            if above[-1] == limit - 1:
                return None
            needed = max(needed, int(above[-1]) + 2)
    return needed
