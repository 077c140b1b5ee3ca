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

__all__ = [
    "Widths",
    "find_window",
    "square_roots",
    "window_sum",
    "window_worth",
]

_CLOSE = 1e-9  # a chunk that misses the best by less, relatively, may do so by rounding: look


class Widths(NamedTuple):
    """How width(h) depends on h: scale sqrt(ln t / h) for RAW-UCB, and RAW-UCB++'s.

    Attributes:
        plus: Whether the widths are RAW-UCB++'s.
        power: beta / alpha, for RAW-UCB++.
        root: sqrt(h) at h, for RAW-UCB: `square_roots`.
    """

    plus: bool
    power: float
    root: FloatArray


@functools.lru_cache(maxsize=8)
def square_roots(reach: int) -> FloatArray:
    """A table of sqrt(h) at index h, read-only.

    Args:
        reach: The last h.

    Returns:
        An array of length reach + 1.

    >>> square_roots(4).round(3)
    array([0.   , 1.   , 1.414, 1.732, 2.   ])
    """
    roots = np.sqrt(np.arange(reach + 1, dtype=np.float64))
    roots.flags.writeable = False
    return roots


@shared
def _spread(widths: Widths, scale: Any, log_x: Any, h: Any) -> Any:
    """width(h) h, concave in h, so that over a range of windows it is least at an end.

    `scale` includes sqrt(ln t) (RAW-UCB); for RAW-UCB++ `log_x` is ln(t / K).
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
    """The sum of the rewards in the arm's window.

    Args:
        history: The part with all rewards.
        starts: The part with each arm's window.
        arm: The arm.

    Returns:
        A float.
    """
    return history.total[arm] - history.sums[starts.chunk[arm], starts.start[arm] & (CHUNK - 1)]


@shared
def window_worth(
    widths: Widths, history: History, starts: Starts, arm: Any, n: Any, scale: Any, log_x: Any
) -> Any:
    """mean(h) + width(h) of the arm's window as it stands.

    Args:
        widths: How widths depend on h.
        history: The part with all rewards.
        starts: The part with each arm's window.
        arm: The arm.
        n: The number of its rewards.
        scale: The factor of the widths; for RAW-UCB with sqrt(ln t).
        log_x: ln(t / K), for RAW-UCB++.

    Returns:
        A float: the arm's index or more.
    """
    h = n - starts.start[arm]
    return (window_sum(history, starts, arm) + _spread(widths, scale, log_x, h)) / h


@shared
def find_window(
    widths: Widths, history: History, starts: Starts, arm: Any, n: Any, scale: Any, log_x: Any
) -> Any:
    """Find the arm's best window, beginning with the one it has, and keep it in `starts`.

    Args:
        widths: How widths depend on h.
        history: The part with all rewards.
        starts: The part with each arm's window, which changes.
        arm: The arm.
        n: The number of its rewards.
        scale: The factor of the widths; for RAW-UCB with sqrt(ln t).
        log_x: ln(t / K), for RAW-UCB++.

    Returns:
        The least mean(h) + width(h).

    >>> from rotting.policies.parts.history import empty_history, no_starts, remember
    >>> history, starts = empty_history(1, 3), no_starts(1)
    >>> for n, reward in enumerate([1.0, 1.0, 0.0]):
    ...     remember(history, 0, n, n + 1, reward)
    >>> starts.chunk[0] = history.last[0]
    >>> widths = Widths(False, 0.0, square_roots(3))
    >>> float(find_window(widths, history, starts, 0, 3, scale=0.1, log_x=0.0))
    0.1
    """
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
