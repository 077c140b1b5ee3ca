"""Every window of every arm's last rewards, exactly: for RAW-UCB, RAW-UCB++ and FEWA.

The mean of the last h rewards is (C_N - C_j) / h, j = N - h, with C the running sums of an arm's
observed rewards in pull order. They are kept in chunks of 64, all arms' in one arena, each chunk
linked to the one before: memory is one number and one pull per observed reward.

A full chunk knows a line that its sums stay close to, C_j = slope j + [low, top]. This bounds the
means of 64 windows at once, and most chunks need no closer look: RAW-UCB's minimum over all windows
then costs a few chunks instead of the whole history, and is still exact. Late rewards are put in
their place among those of later pulls, which takes the time of walking there.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from rotting.compilable import shared
from rotting.policies.base import FloatArray, IntArray

CHUNK = 64
NOWHERE = -1


class History(NamedTuple):
    """The fields that the state of a policy over all windows starts with."""

    pulls: IntArray
    observed: IntArray
    waiting: IntArray  # how many arms have no observed reward yet
    total: FloatArray  # C_N
    last: IntArray  # each arm's latest chunk
    free: IntArray  # the first unused chunk
    sums: FloatArray  # [chunk, place]: C_j, the sum before the (j+1)-th reward
    pull: IntArray  # [chunk, place]: the pull of that reward
    before: IntArray  # the chunk before
    slope: FloatArray
    top: FloatArray
    low: FloatArray


def empty_history(arms: int, capacity: int) -> History:
    """Nothing observed; room for so many rewards."""
    chunks = capacity // CHUNK + arms + 1
    return History(
        pulls=np.zeros(arms, dtype=np.int64),
        observed=np.zeros(arms, dtype=np.int64),
        waiting=np.full(1, arms, dtype=np.int64),
        total=np.zeros(arms),
        last=np.full(arms, NOWHERE, dtype=np.int64),
        free=np.zeros(1, dtype=np.int64),
        sums=np.zeros((chunks, CHUNK)),
        pull=np.zeros((chunks, CHUNK), dtype=np.int64),
        before=np.full(chunks, NOWHERE, dtype=np.int64),
        slope=np.zeros(chunks),
        top=np.zeros(chunks),
        low=np.zeros(chunks),
    )


_ARENA = ("sums", "pull", "before", "slope", "top", "low")


def grow_history(state: Any, arms: int, capacity: int) -> Any:
    """The same with room for more rewards."""
    larger = empty_history(arms, capacity)
    old = state.before.size
    if larger.before.size <= old:
        return state
    for name in _ARENA:
        getattr(larger, name)[:old] = getattr(state, name)
    return state._replace(**{name: getattr(larger, name) for name in _ARENA})


@shared
def remember(state: Any, arm: Any, pull: Any, reward: Any) -> None:
    """Put a reward into its place among the arm's observed ones."""
    n = state.observed[arm]
    place = n & (CHUNK - 1)
    if place == 0:
        chunk = state.free[0]
        state.free[0] = chunk + 1
        state.before[chunk] = state.last[arm]
        state.last[arm] = chunk
    chunk = state.last[arm]
    state.sums[chunk, place] = state.total[arm]
    state.pull[chunk, place] = pull
    state.total[arm] += reward
    state.observed[arm] = n + 1
    if n == 0:
        state.waiting[0] -= 1
    if _came_late(state, chunk, place, pull):
        _sort_in(state, arm, n, reward)
    elif place == CHUNK - 1:
        _fit_line(state, chunk, n - place)


@shared
def _came_late(state: Any, chunk: Any, place: Any, pull: Any) -> Any:
    """Whether the reward before the one just put at (chunk, place) is of a later pull."""
    if place > 0:
        return state.pull[chunk, place - 1] > pull
    earlier = state.before[chunk]
    return earlier >= 0 and state.pull[earlier, CHUNK - 1] > pull


@shared
def _sort_in(state: Any, arm: Any, n: Any, reward: Any) -> None:
    """Move the newest reward, the n-th from 0, before those of later pulls."""
    chunk, place, k = state.last[arm], n & (CHUNK - 1), n
    while k > 0 and _came_late(state, chunk, place, state.pull[chunk, place]):
        other, spot = (chunk, place - 1) if place > 0 else (state.before[chunk], CHUNK - 1)
        late = state.pull[chunk, place]
        state.pull[chunk, place] = state.pull[other, spot]
        state.pull[other, spot] = late
        state.sums[chunk, place] = state.sums[other, spot] + reward
        chunk, place, k = other, spot, k - 1
    # the lines of all chunks from there on
    ordinal = n // CHUNK
    walk = state.last[arm]
    while walk >= 0 and ordinal * CHUNK + CHUNK > k:
        if ordinal * CHUNK + CHUNK <= n + 1:
            _fit_line(state, walk, ordinal * CHUNK)
        walk = state.before[walk]
        ordinal -= 1


@shared
def _fit_line(state: Any, chunk: Any, start: Any) -> None:
    """The line through a full chunk's ends, and how far its sums stray from it.

    `start` is j of its first sum.
    """
    slope = (state.sums[chunk, CHUNK - 1] - state.sums[chunk, 0]) / (CHUNK - 1)
    top = -math.inf
    low = math.inf
    for k in range(CHUNK):
        off = state.sums[chunk, k] - slope * (start + k)
        if off > top:
            top = off
        if off < low:
            low = off
    state.slope[chunk] = slope
    state.top[chunk] = top
    state.low[chunk] = low
