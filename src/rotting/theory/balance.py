"""Where models fall to a level, and bal (Definition 4.3): by bisection, for pulls of any number."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal

from rotting import checks
from rotting.models import Family, Model
from rotting.theory import far

FARTHEST = 10**300  # about the largest number of pulls that a float can hold


def first_true(
    holds: Callable[[int], bool], start: int = 1, step: int = 1, farthest: int = FARTHEST
) -> float:
    """The smallest n = start, start + step, ... at which a monotone condition holds, by bisection.

    Monotone: once true, it stays true. An integer of any size, or infinite if the condition does
    not hold at `farthest`.

    >>> first_true(lambda n: n * n > 10**30)
    1000000000000001
    """
    if holds(start):
        return start
    low, high = 0, 1  # in steps from the start; false at low
    while not holds(start + high * step):
        if start + high * step >= farthest:
            return math.inf
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(start + middle * step) else (middle, high)
    return start + high * step


def mean_star(model: Model, level: float | Decimal) -> float:
    """The star-down of a model: the smallest N with mu(n) <= level for all n >= N, or infinity.

    Models never rise, so the first passage is the last. A level that is a float is compared with
    means as floats; one that is a Decimal, as `least_mean` gives it, exactly.

    >>> from rotting import models
    >>> mean_star(models.Polynomial(0.5), 0.1)
    100
    """
    if isinstance(level, Decimal):
        exact = level
        return first_true(lambda n: far.at_most(far.mean(model, n), exact))
    least = checks.number("level", level)
    farthest = FARTHEST if far.known(model) else 1 << 62
    return first_true(lambda n: mean_at(model, n) <= least, farthest=farthest)


def mean_at(model: Model, n: int) -> float:
    """mu(n) as a float, for n of any size where the model is known well enough."""
    return float(far.mean(model, n)) if far.known(model) else float(model.mean(n))


def least_mean(family: Family, n: int) -> float | Decimal:
    """The least of the family's mu(n): a Decimal of 60 digits where all models are known well."""
    if all(far.known(member) for member in family.members):
        return min(far.mean(member, n) for member in family.members)
    return min(mean_at(member, n) for member in family.members)


def bal(family: Family, n: float) -> float:
    """bal(n): the smallest alpha with max over theta of mu(alpha) <= min over theta of mu(n).

    How often an arm may have to be pulled before every arm that was pulled n times is as good;
    bal(infinity) is infinity. Means that are equal in exact arithmetic are equal here.

    >>> from rotting import models
    >>> bal(models.Polynomial().over([0.25, 0.5]), 10)
    100
    """
    if math.isinf(n):
        return math.inf
    pulls = n if isinstance(n, int) and n >= 1 else checks.integer("n", n, least=1)
    level = least_mean(family, pulls)
    return max(mean_star(member, level) for member in family.members)
