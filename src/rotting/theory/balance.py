"""Where models fall to a level, and bal (Definition 4.3): by bisection, for pulls of any number."""

from __future__ import annotations

import math
from collections.abc import Callable

from rotting import checks
from rotting.models import Family, Model

FARTHEST = 1 << 62


def first_true(holds: Callable[[int], bool], start: int = 1) -> float:
    """The smallest n >= start from which a condition holds, for one that once true stays true.

    Infinite if it does not hold at 2^62.

    >>> first_true(lambda n: n * n > 10**30)
    1000000000000001.0
    """
    low, high = start - 1, start
    while not holds(high):
        if high >= FARTHEST:
            return math.inf
        low, high = high, min(2 * high, FARTHEST)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return float(high)


def mean_star(model: Model, level: float) -> float:
    """The star-down of a model: the smallest N with mu(n) <= level for all n >= N, or infinity.

    Models never rise, so the first passage is the last.

    >>> from rotting import models
    >>> mean_star(models.Polynomial(0.5), 0.1)
    100.0
    """
    level = checks.number("level", level)
    return first_true(lambda n: float(model.mean(n)) <= level)


def bal(family: Family, n: float) -> float:
    """bal(n): the smallest alpha with max over theta of mu(alpha) <= min over theta of mu(n).

    How often an arm may have to be pulled before every arm that was pulled n times is as good;
    bal(infinity) is infinity.

    >>> from rotting import models
    >>> bal(models.Polynomial().over([0.25, 0.5]), 10)
    100.0
    """
    if math.isinf(n):
        return math.inf
    pulls = checks.integer("n", n, least=1)
    least = min(float(member.mean(pulls)) for member in family.members)
    return max(mean_star(member, least) for member in family.members)
