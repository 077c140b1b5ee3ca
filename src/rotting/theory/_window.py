"""The averaging window of SWA and wSWA: the bounds and the policies read it here."""

from __future__ import annotations

import math
from typing import Any

from rotting.kernel.compilable import shared

LONGEST = 2.0**30  # a window that no run can fill; longer ones would overflow 32 bits


@shared
def averaging_window(alpha: float, sigma: float, arms: Any, horizon: Any) -> int:
    """M = ceil(alpha 4^(2/3) sigma^(2/3) K^(-2/3) T^(2/3) ln^(1/3)(sqrt(2) T)), Algorithm 1.

    >>> averaging_window(alpha=0.2, sigma=0.2 ** 0.5, arms=2, horizon=30_000)
    395
    """
    scale = (4.0 * sigma * horizon / arms) ** (2 / 3)
    window: float = alpha * scale * math.log(math.sqrt(2.0) * horizon) ** (1 / 3)
    return math.ceil(min(window, LONGEST))
