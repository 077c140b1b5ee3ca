"""The star-down operator (Definition 4.1), and that of det and Ddet for any number of pulls.

For n^-theta and its plateaus the answer is exact: `rotting.theory._decrease` proves from which n on
det and Ddet never rise; beyond it, 60-digit sums are bisected, and before it every n is examined.
For other functions the tail is unknown, so the answer says up to which n it was searched.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np

from rotting import _checks
from rotting.kernel.arrays import FloatArray
from rotting.models import Family, Model
from rotting.theory import _far
from rotting.theory._balance import FARTHEST, first_true
from rotting.theory._decrease import decreasing_from
from rotting.theory._detection import ddet, det

LIMIT = 1 << 22  # the default end of searches: 4,194,304 pulls
_BLOCK = 1 << 17
_TOO_FAR = 10**40  # beyond, 60 digits may not separate neighbours: answers become intervals


@dataclass(frozen=True)
class StarDown:
    """The smallest N with f(n) <= level for all n >= N: a number in [low, high].

    `float()` returns `high`, from which on the condition holds as far as is known.

    Attributes:
        low: The lower end; infinite if there is no N.
        high: The upper end; equal to `low` for an exact answer.
        examined: None for a proved answer; else the last n examined, beyond which nothing is known.

    >>> float(StarDown(7, 7))
    7.0
    """

    low: float
    high: float
    examined: int | None = None

    def __float__(self) -> float:
        return float(self.high)

    @property
    def exact(self) -> bool:
        """Whether the answer is one proved number (or proved infinite)."""
        return self.low == self.high and self.examined is None


def star_down(
    function: Callable[[Any], Any], level: float, limit: int = LIMIT, vectorised: bool = True
) -> StarDown:
    """The star-down at a level of any function of n = 1, 2, ...

    It searches for the last n above the level, not for the first below: functions need not be
    monotone.

    Args:
        function: Gets an array of n, or one n if not `vectorised`.
        level: The level.
        limit: The largest n examined.
        vectorised: Whether the function takes arrays.

    Returns:
        A `StarDown`; infinite if the function is above the level at `limit` itself.

    Raises:
        ValueError: `level` is not finite, or `limit` is below 1.

    >>> star_down(lambda n: 10.0 / n + (n == 40), level=0.5)
    StarDown(low=41, high=41, examined=4194304)
    """
    limit = _checks.integer("limit", limit, least=1)
    level = _checks.number("level", level)
    values = function if vectorised else lambda n: np.array([float(function(int(k))) for k in n])
    found = last_above(values, level, limit) + 1
    answer = math.inf if found > limit else found
    return StarDown(answer, answer, limit)


def last_above(function: Callable[[Any], Any], level: float, limit: int, step: int = 1) -> int:
    """The last of step, 2 step, ..., limit at which the function exceeds the level, or 0."""
    for n in blocks_down(limit, step):
        above = np.flatnonzero(np.asarray(function(n)) > level)
        if above.size:
            return int(n[above[-1]])
    return 0


def blocks_down(limit: int, step: int = 1) -> Iterator[Any]:
    """The numbers step, 2 step, ..., limit in blocks, the last block first."""
    count = limit // step
    for last in range(count, 0, -_BLOCK):
        yield np.arange(max(1, last - _BLOCK + 1), last + 1, dtype=np.int64) * step


def det_star(first: Model, second: Model, sigma: float, level: float) -> StarDown:
    """The star-down of two models' det: the pulls after which it stays at or below a level.

    Args:
        first: A model with its theta.
        second: Another one.
        sigma: The noise level.
        level: The level, positive.

    Returns:
        A `StarDown`.

    Raises:
        ValueError: `sigma` or `level` is not positive.

    >>> from rotting import models
    >>> det_star(models.Polynomial(0.1), models.Polynomial(0.4), sigma=1.0, level=0.01)
    StarDown(low=473, high=473, examined=None)
    """
    return _star(first, second, sigma, level, "sum")


def ddet_star(first: Model, second: Model, sigma: float, level: float) -> StarDown:
    """The star-down of two models' Ddet: the pulls after which it stays at or below a level.

    Args:
        first: A model with its theta.
        second: Another one.
        sigma: The noise level.
        level: The level, positive.

    Returns:
        A `StarDown`.

    Raises:
        ValueError: `sigma` or `level` is not positive.

    >>> from rotting import models
    >>> ddet_star(models.Polynomial(0.1), models.Polynomial(0.4), sigma=1.0, level=0.01)
    StarDown(low=269650, high=269650, examined=None)
    """
    return _star(first, second, sigma, level, "difference")


def hardest_star(family: Family, sigma: float, level: float, rule: str = "sum") -> StarDown:
    """The largest star-down of det or Ddet over all pairs of a family.

    Args:
        family: The models.
        sigma: The noise level.
        level: The level, positive.
        rule: "sum" for det, "difference" for Ddet.

    Returns:
        A `StarDown`; 1 for a family of one model, which needs no detection.

    Raises:
        ValueError: `sigma` or `level` is not positive.

    >>> from rotting import models
    >>> hardest_star(models.Polynomial().over([0.1, 0.2, 0.4]), sigma=1.0, level=0.01)
    StarDown(low=2920, high=2920, examined=None)
    """
    stars = [_star(a, b, sigma, level, rule) for a, b in itertools.combinations(family.members, 2)]
    looked = [star.examined for star in stars if star.examined is not None]
    return StarDown(
        max([1, *(star.low for star in stars)]),
        max([1, *(star.high for star in stars)]),
        min(looked) if looked else None,
    )


def _star(first: Model, second: Model, sigma: float, level: float, rule: str) -> StarDown:
    level = _checks.number("level", level, above=0)
    sigma = _checks.number("sigma", sigma, above=0, most=1e100)
    separation = det if rule == "sum" else ddet

    def values(n: Any) -> FloatArray:
        return separation(first, second, sigma, n)

    start = decreasing_from(first, second, rule)
    if start is None:
        return star_down(values, level)
    if math.isinf(start):
        return StarDown(math.inf, math.inf)
    ratio = _far.DIGITS.divide(_far.DIGITS.power(Decimal(sigma), 2), Decimal(level))

    def below(n: int) -> bool:
        square = _far.DIGITS.power(_far.gap(first, second, n, rule), 2)
        return _far.DIGITS.multiply(n, ratio) <= square

    return StarDown(*last_failing(below, int(start), rule, lambda n: values(n) > level))


def last_failing(
    holds: Callable[[int], bool], start: int, rule: str, fails: Callable[[Any], Any]
) -> tuple[float, float]:
    """The n from which a condition holds for ever.

    From `start` on it must keep holding once it holds.

    For half-differences that is true of even n and of odd n separately. If the condition holds at
    the start, the n before are searched with the vectorised `fails`, downwards from the start (or
    LIMIT, if less).
    """
    step = 1 if rule == "sum" else 2
    firsts = [first_true(holds, n, step) for n in range(start, start + step)]
    late = [
        found - step
        for n, found in zip(range(start, start + step), firsts, strict=True)
        if found > n
    ]
    if late and math.isinf(max(late)):
        return FARTHEST, math.inf  # above the level up to the largest float; perhaps for ever
    if late:
        found = max(late) + 1
        # 60 digits separate n from n + 1 up to about here; beyond, the answer is an interval
        return (found, found) if found < _TOO_FAR else (found * (1 - 1e-12), found * (1 + 1e-12))
    before = last_above(fails, 0, min(start - 1, LIMIT)) + 1
    return (before, before if start - 1 <= LIMIT else start)
