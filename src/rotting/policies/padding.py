"""Tables of sqrt(c ln t), the growing part of every upper confidence bound here."""

from __future__ import annotations

import functools

import numpy as np

from rotting.policies.base import FloatArray


@functools.lru_cache(maxsize=8)
def log_padding(c: float, capacity: int) -> FloatArray:
    """sqrt(c ln t) at index t, for t = 0..capacity; entry 0 is never read.

    >>> log_padding(2.0, 3).round(3)
    array([0.   , 0.   , 1.177, 1.482])
    """
    padding = np.sqrt(c * np.log(np.maximum(np.arange(capacity + 1), 1)))
    padding.flags.writeable = False
    return padding
