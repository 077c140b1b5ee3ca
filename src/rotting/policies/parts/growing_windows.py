"""Windows whose lengths grow by a factor, in O(log t) time and memory: for the EFF policies.

The lengths are w_0 = 1, w_{j+1} = ceil(m w_j). Each window has a *current* sum of w_j rewards in a
row, not always the very last ones, and a *pending* one that grows with every reward. When a
pending sum has w_j rewards it becomes the current one, and the pending one restarts from what the
next shorter window has pending. When the longest one in use is full for the first time, the next
is begun, with the same rewards. So a current sum ends less than w_j rewards ago.

A pending sum is the difference of two running sums, so only its beginning is kept. Rewards count
in the order of their arrival.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, NamedTuple

import numpy as np

from rotting.kernel.arrays import FloatArray, IntArray
from rotting.kernel.compilable import shared
from rotting.kernel.state import Counts, Numbers, Place
from rotting.parameters import Number

Growth = Annotated[float, Number(least=1.001, most=1e6)]  # the factor

_ROUNDING = 1e-9  # 1.1 * 170 is a little above 187 in floats, but the next window is 187


class Growing(NamedTuple):
    """Windows of growing lengths of each arm."""

    total: Numbers  # of all the arm's rewards
    used: Annotated[
        IntArray, Place("begin", least=1, axis=1, end=True)
    ]  # how many windows are begun
    full: Annotated[IntArray, Place("begin", axis=1, end=True)]  # how many have a current mean
    begin: Counts  # [arm, window]: observed rewards before the pending sum's first
    before: Numbers  # [arm, window]: the sum of those
    current: Numbers  # [arm, window]: the current mean


def lengths(growth: float, longest: int) -> IntArray:
    """The windows' lengths up to the first that is longer than `longest`.

    >>> lengths(1.5, 10)
    array([ 1,  2,  3,  5,  8, 12])
    """
    found = [1]
    while found[-1] <= longest:
        found.append(math.ceil(growth * found[-1] - _ROUNDING))
    return np.array(found, dtype=np.int64)


def window_tables(growth: float, longest: int) -> tuple[IntArray, FloatArray]:
    """The lengths w, and 1 / sqrt(w)."""
    found = lengths(growth, longest)
    return found, 1.0 / np.sqrt(found.astype(np.float64))


def empty_windows(arms: int, windows: int) -> Growing:
    """Nothing observed."""
    return Growing(
        total=np.zeros(arms),
        used=np.ones(arms, dtype=np.int64),
        full=np.zeros(arms, dtype=np.int64),
        begin=np.zeros((arms, windows), dtype=np.int64),
        before=np.zeros((arms, windows)),
        current=np.zeros((arms, windows)),
    )


@shared
def add_to_windows(lengths: Any, windows: Growing, arm: Any, n: Any, reward: Any) -> None:
    """Let every pending sum grow by the n-th reward, the longest first, and refresh the full."""
    total = windows.total[arm] + reward
    windows.total[arm] = total
    longest = windows.used[arm] - 1
    for j in range(longest, -1, -1):
        w = lengths[j]
        if n - windows.begin[arm, j] < w:
            continue
        windows.current[arm, j] = (total - windows.before[arm, j]) / w
        if j == longest:
            windows.full[arm] = j + 1
            if j + 1 < lengths.size:
                windows.begin[arm, j + 1] = windows.begin[arm, j]
                windows.before[arm, j + 1] = windows.before[arm, j]
                windows.used[arm] = j + 2
        if j > 0:
            windows.begin[arm, j] = windows.begin[arm, j - 1]
            windows.before[arm, j] = windows.before[arm, j - 1]
        else:
            windows.begin[arm, 0] = n
            windows.before[arm, 0] = total
