"""The pulls at which models fall to a level, and bal (Definition 4.3), by bisection."""

from __future__ import annotations

import math
from collections.abc import Callable

from rotting import _checks
from rotting.models import Family, Model
from rotting.theory import _far

FARTHEST = 10**300  # close to the largest number of pulls that a float can hold


def first_true(
    holds: Callable[[int], bool], start: int = 1, step: int = 1, farthest: int = FARTHEST
) -> float:
    """The smallest n = start, start + step, ... at which a monotone condition holds, by bisection.

    Monotone: once true, it stays true. Returns an integer of any size, or infinity if the condition
    does not hold at `farthest`.

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


def mean_star(model: Model, level: float) -> float:
    """The star-down of a model: the smallest N with mu(n) <= level for all n >= N.

    Models never rise, so the first passage is the last. Means are compared with the level as
    floats.

    Args:
        model: A model with its theta.
        level: The level.

    Returns:
        The number of pulls; infinite if the mean never falls to the level.

    Raises:
        ValueError: `level` is not finite.

    >>> from rotting import models
    >>> mean_star(models.Polynomial(0.5), 0.1)
    100
    """
    least = _checks.number("level", level)
    farthest = FARTHEST if _far.known(model) else 1 << 62
    return first_true(lambda n: mean_at(model, n) <= least, farthest=farthest)


def mean_at(model: Model, n: int) -> float:
    """mu(n) as a float, for n of any size where exact means are available."""
    return float(_far.mean(model, n)) if _far.known(model) else float(model.mean(n))


def falls_to_least(family: Family, n: int) -> list[float]:
    """For each model the smallest N with mu(N) <= min over theta of mu(n), or infinity.

    Means that are equal in exact arithmetic are equal here, where all models have exact means.
    """
    if not all(_far.known(member) for member in family.members):
        level = min(mean_at(member, n) for member in family.members)
        return [mean_star(member, level) for member in family.members]
    least = _far.mean(family.members[0], n)
    for member in family.members[1:]:
        mean = _far.mean(member, n)
        least = mean if mean.at_most(least) else least

    def falls(model: Model) -> float:
        return first_true(lambda at: _far.mean(model, at).at_most(least))

    return [falls(member) for member in family.members]


def bal(family: Family, n: float) -> float:
    """bal(n): how long until the slowest model is as low as the fastest at n (Definition 4.3).

    It is the smallest alpha with max over theta of mu(alpha) <= min over theta of mu(n): the most
    pulls of an arm before every arm with n pulls is as good. Means that are equal in exact
    arithmetic are equal here.

    Args:
        family: The models.
        n: A number of pulls, from 1; or infinity, whose bal is infinite.

    Returns:
        The number of pulls, infinite if there is none.

    Raises:
        ValueError: `n` is no integer, or below 1.

    >>> from rotting import models
    >>> bal(models.Polynomial().over([0.25, 0.5]), 10)
    100
    """
    if math.isinf(n):
        return math.inf
    pulls = n if isinstance(n, int) and n >= 1 else _checks.integer("n", n, least=1)
    return max(falls_to_least(family, pulls))
