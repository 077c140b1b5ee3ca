"""sqrt(c ln t) and 1 / sqrt(n), of upper confidence bounds: from tables, computed beyond them."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from rotting.kernel.arrays import FloatArray
from rotting.kernel.compilable import shared

_LONGEST = 1 << 20  # entries of a table


@functools.lru_cache(maxsize=8)
def log_padding(c: float, reach: int) -> FloatArray:
    """sqrt(c ln t) at index t, for t = 0..reach or a million; entry 0 is never read.

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
    """sqrt(c ln t), from the table of the same c where that reaches."""
    if t < padding.size:
        return padding[t]
    return math.sqrt(c * math.log(t))


@functools.lru_cache(maxsize=8)
def width_table(reach: int) -> FloatArray:
    """1 / sqrt(n) at index n, for n = 0..reach or a million; entry 0 is never read.

    Tabulated because a root and a division take longer than anything else in a decision.
    """
    widths = 1.0 / np.sqrt(np.maximum(1.0, np.arange(min(reach, _LONGEST) + 1)))
    widths.flags.writeable = False
    return widths


@shared
def width_at(widths: Any, n: Any) -> Any:
    """1 / sqrt(n), from the table where that reaches."""
    if n < widths.size:
        return widths[n]
    return 1.0 / math.sqrt(n)
