"""RAW-UCB's window of an arm: the last h rewards with the least mean(h) + width(h), found exactly.

A chunk of windows is skipped when the line that its sums stay close to (`parts.history`) shows that
none of them is below the best found so far.
"""

from __future__ import annotations

import functools
import math
from typing import Any, NamedTuple

import numpy as np

from rotting.kernel.arrays import FloatArray
from rotting.kernel.compilable import shared
from rotting.policies.parts.history import CHUNK, History, Starts

_CLOSE = 1e-9  # a chunk that misses the best by less, relatively, may do so by rounding: look


class Widths(NamedTuple):
    """How width(h) depends on h: RAW-UCB's is scale sqrt(ln t / h), RAW-UCB++ has its own."""

    plus: bool  # whether they are RAW-UCB++'s
    power: float  # beta / alpha, for RAW-UCB++
    root: FloatArray  # sqrt(h) at h


@functools.lru_cache(maxsize=8)
def square_roots(reach: int) -> FloatArray:
    """sqrt(h) at index h, for h = 0..reach."""
    roots = np.sqrt(np.arange(reach + 1, dtype=np.float64))
    roots.flags.writeable = False
    return roots


@shared
def _spread(widths: Widths, scale: Any, log_x: Any, h: Any) -> Any:
    """width(h) h, concave in h, so that over a range of windows it is least at an end.

    `scale` holds sqrt(ln t) already (RAW-UCB); for RAW-UCB++ `log_x` is ln(t / K).
    """
    if not widths.plus:
        return scale * widths.root[h]
    more = log_x - math.log(h)
    if more <= 0.0:
        return 0.0
    if widths.power > 0.0:
        more += widths.power * math.log1p(more)
    return scale * math.sqrt(h * more)


@shared
def window_sum(history: History, starts: Starts, arm: Any) -> Any:
    """The sum of the rewards in the arm's window."""
    return history.total[arm] - history.sums[starts.chunk[arm], starts.start[arm] & (CHUNK - 1)]


@shared
def window_worth(
    widths: Widths, history: History, starts: Starts, arm: Any, n: Any, scale: Any, log_x: Any
) -> Any:
    """mean(h) + width(h) of the arm's window as it stands; n is the number of its rewards."""
    h = n - starts.start[arm]
    return (window_sum(history, starts, arm) + _spread(widths, scale, log_x, h)) / h


@shared
def find_window(
    widths: Widths, history: History, starts: Starts, arm: Any, n: Any, scale: Any, log_x: Any
) -> Any:
    """Find the arm's best window, beginning with the one it had; returns what it is worth."""
    total = history.total[arm]
    close = _CLOSE * max(abs(total), scale)
    best = window_worth(widths, history, starts, arm, n, scale, log_x)
    chunk = history.last[arm]
    start = ((n - 1) // CHUNK) * CHUNK  # j of the chunk's first sum
    filled = n - start
    while chunk >= 0:
        longest = n - start
        look = True
        if filled == CHUNK:
            # skip the chunk if total - C_j + spread(h) >= best h for all of its windows
            rise = history.slope[chunk] - best
            j = start + CHUNK - 1 if rise > 0.0 else start
            least = min(
                _spread(widths, scale, log_x, longest),
                _spread(widths, scale, log_x, longest - CHUNK + 1),
            )
            look = total - best * n - history.top[chunk] - rise * j + least < close
        if look:
            for place in range(filled - 1, -1, -1):
                h = longest - place
                value = total - history.sums[chunk, place] + _spread(widths, scale, log_x, h)
                if value < best * h:
                    best = value / h
                    starts.chunk[arm] = chunk
                    starts.start[arm] = start + place
        chunk = history.before[chunk]
        start -= CHUNK
        filled = CHUNK
    return best
