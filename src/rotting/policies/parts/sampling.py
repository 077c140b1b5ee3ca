"""Thompson sampling: from normal posteriors, and from Beta posteriors of rewards in [0, 1]."""

from __future__ import annotations

import math
from typing import Any

from rotting.kernel import random
from rotting.kernel.compilable import shared
from rotting.policies.parts.openings import is_open

normal = random.normal
uniform = random.uniform
_SQUEEZE = 0.0331  # Marsaglia & Tsang's constant: a bound below their log condition


@shared
def highest_draw(mean: Any, width: Any, scale: Any, opening: Any, draw: Any) -> Any:
    """The arm with the highest draw from Normal(mean, (scale width)^2).

    One normal for each open arm, in turn; closed ones take none.
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
    """
    if not shape >= 1.0:  # a made-up state, with NaN perhaps, must not lead to an endless loop
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
    """A draw from Beta(a, b), for a and b of at least one: the share of one gamma in two."""
    x = gamma(a, draw)
    y = gamma(b, draw)
    return x / (x + y)


@shared
def highest_beta(total: Any, observed: Any, opening: Any, draw: Any) -> Any:
    """The arm with the highest draw from Beta(1 + total, 1 + observed - total).

    One draw for each open arm, in turn; closed ones take none.
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
