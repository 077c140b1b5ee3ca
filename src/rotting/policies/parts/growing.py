"""Windows of lengths that grow by a factor, in O(log t) time and memory: for the EFF policies.

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
from typing import Any, NamedTuple

import numpy as np

from rotting import checks
from rotting.compilable import shared
from rotting.policies.base import FloatArray, IntArray

_ROUNDING = 1e-9  # 1.1 * 10 is not 11 in floats; the next window is


class Efficient(NamedTuple):
    """The fields that the state of an EFF policy starts with."""

    pulls: IntArray
    observed: IntArray
    waiting: IntArray  # how many arms have no observed reward yet
    total: FloatArray
    used: IntArray  # how many windows an arm has begun
    full: IntArray  # how many of them have a current sum
    begin: IntArray  # [arm, window]: observed rewards before the pending sum's first
    before: FloatArray  # [arm, window]: the sum of those
    current: FloatArray  # [arm, window]: the current mean


def lengths(growth: float, longest: int) -> IntArray:
    """The windows' lengths up to the first that is longer than `longest`.

    >>> lengths(1.5, 10)
    array([ 1,  2,  3,  5,  8, 12])
    """
    found = [1]
    while found[-1] <= longest:
        found.append(math.ceil(growth * found[-1] - _ROUNDING))
    return np.array(found, dtype=np.int64)


def check_growth(growth: Any) -> float:
    """Refuse windows that would not grow."""
    return checks.number("growth", growth, least=1.001, most=1e6)


def empty_windows(arms: int, windows: int) -> Efficient:
    """Nothing observed."""
    return Efficient(
        pulls=np.zeros(arms, dtype=np.int64),
        observed=np.zeros(arms, dtype=np.int64),
        waiting=np.full(1, arms, dtype=np.int64),
        total=np.zeros(arms),
        used=np.ones(arms, dtype=np.int64),
        full=np.zeros(arms, dtype=np.int64),
        begin=np.zeros((arms, windows), dtype=np.int64),
        before=np.zeros((arms, windows)),
        current=np.zeros((arms, windows)),
    )


@shared
def add_reward(lengths: Any, state: Any, arm: Any, reward: Any) -> None:
    """Let every pending sum grow, the longest first, and refresh those that are full."""
    n = state.observed[arm] + 1
    state.observed[arm] = n
    if n == 1:
        state.waiting[0] -= 1
    total = state.total[arm] + reward
    state.total[arm] = total
    longest = state.used[arm] - 1
    for j in range(longest, -1, -1):
        w = lengths[j]
        if n - state.begin[arm, j] < w:
            continue
        state.current[arm, j] = (total - state.before[arm, j]) / w
        if j == longest:
            state.full[arm] = j + 1
            if j + 1 < lengths.size:
                state.begin[arm, j + 1] = state.begin[arm, j]
                state.before[arm, j + 1] = state.before[arm, j]
                state.used[arm] = j + 2
        if j > 0:
            state.begin[arm, j] = state.begin[arm, j - 1]
            state.before[arm, j] = state.before[arm, j - 1]
        else:
            state.begin[arm, 0] = n
            state.before[arm, 0] = total
