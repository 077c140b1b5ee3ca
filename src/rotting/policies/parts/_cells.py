"""Rewards by cells of exposure numbers, unless said: 1, 2, 3, 4, 5-6, 7-8, 9-12, ..., 49 and more.

An arm's first showings are told apart one by one, later ones in groups that grow with their number:
curves bend early, and few keys are shown an arm very often.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from rotting.kernel.arrays import IntArray
from rotting.kernel.compilable import shared
from rotting.kernel.state import Counts, Numbers

ENDS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48)  # the last exposure of each cell but the last
_LEAST = 1e-300  # of what has a logarithm of Gamma here
_HALF_LOG_2PI = 0.5 * math.log(2.0 * math.pi)


class Cells(NamedTuple):
    """What was seen of each arm, [arm, cell]."""

    count: Counts  # type: ignore[assignment]  # rewards
    total: Numbers  # of them


def no_cells(arms: int, ends: tuple[int, ...] = ENDS) -> Cells:
    """Nothing observed."""
    shape = (arms, len(ends) + 1)
    return Cells(np.zeros(shape, dtype=np.int64), np.zeros(shape))


def cell_table(ends: tuple[int, ...] = ENDS) -> IntArray:
    """The cell of each pull number; those beyond the table are in the last cell.

    >>> cell_table()[[1, 4, 5, 6, 7, 49]].tolist()
    [0, 3, 4, 4, 5, 11]
    """
    return np.searchsorted(ends, np.arange(ends[-1] + 2)).astype(np.int64)


@shared
def cell_of(table: Any, pull: Any) -> Any:
    """The cell that a pull number lies in."""
    return table[min(pull, table.size - 1)]


@shared
def log_gamma(x: Any) -> Any:
    """ln Gamma(x) for x > 0, by Stirling's series from 8 on and the recurrence below.

    Not `math.lgamma`: plain Python has one of its own, which rounds otherwise than compiled code.
    """
    below = 1.0
    x = max(x, _LEAST)  # a made-up state must not lead to an endless loop
    while x < 8.0:
        below *= x
        x += 1.0
    inverse = 1.0 / x
    square = inverse * inverse
    series = 1.0 / 12.0 - square * (1.0 / 360.0 - square * (1.0 / 1260.0 - square / 1680.0))
    return (x - 0.5) * math.log(x) - x + _HALF_LOG_2PI + inverse * series - math.log(below)
