"""The averaging window of SWA and wSWA, for the bounds and the policies alike."""

from __future__ import annotations

import math
from typing import Any

from rotting.kernel.compilable import shared

LONGEST = 2.0**30  # longer than any run, and below the overflow of 32 bits


@shared
def averaging_window(alpha: float, sigma: float, arms: Any, horizon: Any) -> int:
    """The averaging window M of SWA and wSWA (Algorithm 1).

    M = ceil(alpha 4^(2/3) sigma^(2/3) K^(-2/3) T^(2/3) ln^(1/3)(sqrt(2) T)), and at most 2^30.

    Args:
        alpha: The policy's parameter, positive.
        sigma: The noise level.
        arms: The number of arms, K.
        horizon: The number of rounds, T.

    Returns:
        The number of rewards to average.

    >>> averaging_window(alpha=0.2, sigma=0.2 ** 0.5, arms=2, horizon=30_000)
    395
    """
    scale = (4.0 * sigma * horizon / arms) ** (2 / 3)
    window: float = alpha * scale * math.log(math.sqrt(2.0) * horizon) ** (1 / 3)
    return math.ceil(min(window, LONGEST))
