"""Thompson sampling: from normal posteriors, and from Beta posteriors of rewards in [0, 1]."""

from __future__ import annotations

import math
from typing import Any

from rotting.kernel import random
from rotting.kernel.compilable import shared
from rotting.policies.parts.openings import is_open

__all__ = [
    "beta",
    "gamma",
    "highest_beta",
    "highest_draw",
]

normal = random.normal
uniform = random.uniform
_SQUEEZE = 0.0331  # Marsaglia & Tsang's constant: a bound below their log condition


@shared
def highest_draw(mean: Any, width: Any, scale: Any, opening: Any, draw: Any) -> Any:
    """The open arm with the highest draw from Normal(mean, (scale width)^2).

    One normal for each open arm, in turn; closed ones take none.

    Args:
        mean: A number for each arm.
        width: A number for each arm, for instance 1 / sqrt(n).
        scale: The factor of the widths, for instance sigma.
        opening: `state.arms.opening`.
        draw: The random numbers of this decision.

    Returns:
        An arm; the first if several.

    >>> import numpy as np
    >>> from rotting.kernel.random import new_draw
    >>> from rotting.policies.parts.openings import AllOpen
    >>> highest_draw(np.array([0.0, 9.0]), np.ones(2), 0.1, AllOpen(), new_draw(seed=0))
    1
    """
    best = -1
    highest = -math.inf
    for i in range(mean.size):
        if not is_open(opening, i):
            continue
        value = mean[i] + scale * width[i] * normal(draw)
        if value > highest or best < 0:
            highest = value
            best = i
    return best


@shared
def gamma(shape: Any, draw: Any) -> Any:
    """A draw from Gamma(shape, 1), for shapes of at least one.

    Marsaglia & Tsang, "A simple method for generating gamma variables" (2000): the cube of a
    normal, accepted more than 95 times in 100, mostly without a logarithm.

    Args:
        shape: At least one; smaller numbers and NaN count as one.
        draw: The random numbers of this decision.

    Returns:
        A float.
    """
    if not shape >= 1.0:  # a forged state, perhaps with NaN, must not lead to an endless loop
        shape = 1.0
    d = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        x = normal(draw)
        v = 1.0 + c * x
        if v <= 0.0:
            continue
        v = v * v * v
        u = 1.0 - uniform(draw)  # never zero
        square = x * x
        if u < 1.0 - _SQUEEZE * square * square:
            return d * v
        if math.log(u) < 0.5 * square + d * (1.0 - v + math.log(v)):
            return d * v


@shared
def beta(a: Any, b: Any, draw: Any) -> Any:
    """A draw from Beta(a, b), for a and b of at least one: the share of one gamma in two.

    Args:
        a: At least one.
        b: At least one.
        draw: The random numbers of this decision.

    Returns:
        A float in [0, 1].
    """
    x = gamma(a, draw)
    y = gamma(b, draw)
    return x / (x + y)


@shared
def highest_beta(total: Any, observed: Any, opening: Any, draw: Any) -> Any:
    """The open arm with the highest draw from Beta(1 + total, 1 + observed - total).

    One draw for each open arm, in turn; closed ones take none.

    Args:
        total: The sum of each arm's rewards, which lie in [0, 1].
        observed: The number of each arm's rewards.
        opening: `state.arms.opening`.
        draw: The random numbers of this decision.

    Returns:
        An arm; the first if several.
    """
    best = -1
    highest = -math.inf
    for i in range(total.size):
        if not is_open(opening, i):
            continue
        value = beta(1.0 + total[i], 1.0 + (observed[i] - total[i]), draw)
        if value > highest or best < 0:
            highest = value
            best = i
    return best
