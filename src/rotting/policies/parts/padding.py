"""sqrt(c ln t) and 1 / sqrt(n), of upper confidence bounds: from tables, computed beyond them."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from rotting.kernel.arrays import FloatArray
from rotting.kernel.compilable import shared

__all__ = [
    "log_padding",
    "padding_at",
    "width_at",
    "width_table",
]

_LONGEST = 1 << 20  # entries of a table


@functools.lru_cache(maxsize=8)
def log_padding(c: float, reach: int) -> FloatArray:
    """A table of sqrt(c ln t) at index t; entry 0 is never read.

    Args:
        c: The factor, for instance 2 sigma^2.
        reach: The last t, as `prepare` gets it; a table ends at a million.

    Returns:
        A read-only array, for the params.

    >>> log_padding(2.0, 3).round(3)
    array([0.   , 0.   , 1.177, 1.482])
    """
    length = min(reach, _LONGEST)
    # math.log, not NumPy's: `padding_at` must give the same bits beyond the table
    logs = np.fromiter(map(math.log, range(1, length + 1)), dtype=np.float64, count=length)
    padding = np.sqrt(c * np.concatenate([[0.0], logs]))
    padding.flags.writeable = False
    return padding


@shared
def padding_at(padding: Any, c: Any, t: Any) -> Any:
    """sqrt(c ln t), from the table where that reaches.

    Args:
        padding: The table of the same c.
        c: The factor.
        t: The round, from 1.

    Returns:
        A float.

    >>> round(float(padding_at(log_padding(2.0, 3), 2.0, 100)), 3)
    3.035
    """
    if t < padding.size:
        return padding[t]
    return math.sqrt(c * math.log(t))


@functools.lru_cache(maxsize=8)
def width_table(reach: int) -> FloatArray:
    """A table of 1 / sqrt(n) at index n; entry 0 is never read.

    Tabulated because a root and a division take longer than anything else in a decision.

    Args:
        reach: The last n, as `prepare` gets it; a table ends at a million.

    Returns:
        A read-only array, for the params.
    """
    widths = 1.0 / np.sqrt(np.maximum(1.0, np.arange(min(reach, _LONGEST) + 1)))
    widths.flags.writeable = False
    return widths


@shared
def width_at(widths: Any, n: Any) -> Any:
    """1 / sqrt(n), from the table where that reaches.

    Args:
        widths: The table.
        n: A number of rewards, from 1.

    Returns:
        A float.

    >>> float(width_at(width_table(3), 4))
    0.5
    """
    if n < widths.size:
        return widths[n]
    return 1.0 / math.sqrt(n)
