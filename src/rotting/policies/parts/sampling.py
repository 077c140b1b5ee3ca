"""Thompson sampling from normal posteriors."""

from __future__ import annotations

import math
from typing import Any

from rotting import random
from rotting.compilable import shared
from rotting.policies.parts.openings import is_open

normal = random.normal


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
