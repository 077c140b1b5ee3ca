"""Thompson sampling from normal posteriors."""

from __future__ import annotations

import math
from typing import Any

from rotting import random
from rotting.compilable import shared

normal = random.normal


@shared
def highest_draw(mean: Any, width: Any, scale: Any, draw: Any) -> Any:
    """The arm with the highest draw from Normal(mean, (scale width)^2), one normal each in turn."""
    best = -1
    highest = -math.inf
    for i in range(mean.size):
        value = mean[i] + scale * width[i] * normal(draw)
        if value > highest or best < 0:
            highest = value
            best = i
    return best
