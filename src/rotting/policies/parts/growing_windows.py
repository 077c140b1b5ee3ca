"""Windows whose lengths grow by a factor, in O(log t) time and memory: for the EFF policies.

The lengths are w_0 = 1, w_{j+1} = ceil(m w_j). Each window has a *current* sum of w_j rewards in a
row, not always the very last ones, and a *pending* one that grows with every reward. When a pending
sum has w_j rewards it becomes the current one, and the pending one restarts from what the next
shorter window has pending. When the longest one in use is full for the first time, the next is
begun, with the same rewards. So a current sum ends less than w_j rewards ago.

A pending sum is the difference of two running sums, so only its beginning is kept. Rewards count in
the order of their arrival.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, NamedTuple

import numpy as np

from rotting.kernel.arrays import FloatArray, IntArray
from rotting.kernel.compilable import shared
from rotting.kernel.state import Counts, Numbers, Place
from rotting.parameters import Number

__all__ = [
    "Growing",
    "Growth",
    "add_to_windows",
    "empty_windows",
    "lengths",
    "window_tables",
]

Growth = Annotated[float, Number(least=1.001, most=1e6)]
"""The factor between lengths, as the type of a policy's parameter."""

_ROUNDING = 1e-9  # 1.1 * 170 is a little above 187 in floats, but the next window is 187


class Growing(NamedTuple):
    """Windows of growing lengths of each arm.

    Attributes:
        total: The sum of all the arm's rewards.
        used: The number of windows that are begun.
        full: The number of windows that have a current mean.
        begin: [arm, window]: observed rewards before the pending sum's first.
        before: [arm, window]: the sum of those.
        current: [arm, window]: the current mean.

    >>> lengths, roots = window_tables(2.0, longest=4)
    >>> windows = empty_windows(arms=1, windows=lengths.size)
    >>> for n, reward in enumerate([1.0, 1.0, 0.0], start=1):
    ...     add_to_windows(lengths, windows, 0, n, reward)
    >>> windows.full.tolist(), windows.current[0, :2].tolist()
    ([2], [0.0, 0.5])
    """

    total: Numbers
    used: Annotated[IntArray, Place("begin", least=1, axis=1, end=True)]
    full: Annotated[IntArray, Place("begin", axis=1, end=True)]
    begin: Counts
    before: Numbers
    current: Numbers


def lengths(growth: float, longest: int) -> IntArray:
    """The windows' lengths up to the first that is longer than `longest`.

    Args:
        growth: The factor between lengths.
        longest: The largest number of rewards, as `reach` of `prepare`.

    Returns:
        Whole numbers from 1 up.

    >>> lengths(1.5, 10)
    array([ 1,  2,  3,  5,  8, 12])
    """
    found = [1]
    while found[-1] <= longest:
        found.append(math.ceil(growth * found[-1] - _ROUNDING))
    return np.array(found, dtype=np.int64)


def window_tables(growth: float, longest: int) -> tuple[IntArray, FloatArray]:
    """The windows' lengths w, and 1 / sqrt(w).

    Args:
        growth: The factor between lengths.
        longest: The largest number of rewards.

    Returns:
        Two arrays.
    """
    found = lengths(growth, longest)
    return found, 1.0 / np.sqrt(found.astype(np.float64))


def empty_windows(arms: int, windows: int) -> Growing:
    """The part at its start: nothing observed.

    Args:
        arms: The number of arms.
        windows: The number of lengths.

    Returns:
        For a field of the state; `init` makes it.
    """
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
    """Add a reward to every pending sum, the longest first, and refresh the full windows.

    Args:
        lengths: The windows' lengths.
        windows: The part.
        arm: The arm.
        n: The number of its rewards, this one included.
        reward: The reward.
    """
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
