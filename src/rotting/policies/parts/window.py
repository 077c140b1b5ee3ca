"""The mean of each arm's last M observed rewards, in the order of their pulls; for SWA and wSWA.

A ring per arm holds the latest observed rewards sorted by pull. A prompt reward is appended; a late
one moves to its place among those of later pulls. A reward older than all that the ring keeps is
too late to count. An arm with nothing observed has the mean minus infinity.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from rotting.compilable import shared
from rotting.policies.base import FloatArray, IntArray

ROOM = ("ring_pull", "ring_reward")  # see `Verbs`
_FRESHEN = 256  # rings' lengths of rewards between two fresh sums; a power of two


class Window(NamedTuple):
    """The fields that a windowed policy's state starts with."""

    pulls: IntArray
    base: IntArray  # pulls of earlier epochs, whose rewards do not count
    observed: IntArray  # observed rewards, of this epoch
    waiting: IntArray  # how many arms have none
    total: FloatArray  # of the window
    mean: FloatArray
    newest: IntArray  # the latest pull observed
    ring_pull: IntArray  # [arm, place]; the length is a power of two
    ring_reward: FloatArray


def room(window: int) -> int:
    """Length of a ring that holds a window: the next power of two."""
    return 1 << (window - 1).bit_length()


def empty_window(arms: int, window: int) -> Window:
    """Nothing pulled, nothing observed, room for windows up to the given one."""
    return Window(
        pulls=np.zeros(arms, dtype=np.int64),
        base=np.zeros(arms, dtype=np.int64),
        observed=np.zeros(arms, dtype=np.int64),
        waiting=np.full(1, arms, dtype=np.int64),
        total=np.zeros(arms),
        mean=np.full(arms, -math.inf),
        newest=np.zeros(arms, dtype=np.int64),
        ring_pull=np.zeros((arms, room(window)), dtype=np.int64),
        ring_reward=np.zeros((arms, room(window))),
    )


def grow_window(state: Any, window: int) -> Any:
    """The same with rings for a longer window, each reward at its new place."""
    arms, old = state.ring_pull.shape
    if room(window) <= old:
        return state
    longer = empty_window(arms, window)
    new = longer.ring_pull.shape[1]
    for arm in range(arms):
        kept = np.arange(max(0, state.observed[arm] - old), state.observed[arm])
        longer.ring_pull[arm, kept % new] = state.ring_pull[arm, kept % old]
        longer.ring_reward[arm, kept % new] = state.ring_reward[arm, kept % old]
    return state._replace(ring_pull=longer.ring_pull, ring_reward=longer.ring_reward)


@shared
def sum_again(state: Any, arm: Any, window: Any) -> None:
    """Add up the window afresh: when it changes, and now and then lest rounding piles up."""
    size = state.ring_reward.shape[1]
    n = state.observed[arm]
    filled = min(n, window, size)
    total = 0.0
    for k in range(n - filled, n):
        total += state.ring_reward[arm, k & (size - 1)]
    state.total[arm] = total
    if n > 0:
        state.mean[arm] = total / filled


@shared
def observe(state: Any, arm: Any, pull: Any, reward: Any, window: Any) -> None:
    """Put a reward into its place among the arm's observed ones; the window is the last of them."""
    if pull <= state.base[arm]:
        return
    size = state.ring_reward.shape[1]
    mask = size - 1
    window = min(window, size)
    n = state.observed[arm]
    place = n  # among all observed rewards, in pull order
    if pull > state.newest[arm]:
        state.newest[arm] = pull
    else:
        while place > 0 and place > n - size and state.ring_pull[arm, (place - 1) & mask] > pull:
            place -= 1
        if place <= n - size:
            return  # older than all that is kept
    for k in range(n, place, -1):
        state.ring_pull[arm, k & mask] = state.ring_pull[arm, (k - 1) & mask]
        state.ring_reward[arm, k & mask] = state.ring_reward[arm, (k - 1) & mask]
    # with a full ring the shift has overwritten the oldest reward, which leaves the window if
    # that is as long as the ring; the sum is then made from what is there
    leaving = state.ring_reward[arm, (n - window) & mask] if n >= window else 0.0
    state.ring_pull[arm, place & mask] = pull
    state.ring_reward[arm, place & mask] = reward
    state.observed[arm] = n + 1
    if n == 0:
        state.waiting[0] -= 1
    # now and then the sum is made afresh, lest rounding piles up
    if place < n or (n & (_FRESHEN * size - 1)) == 0:
        sum_again(state, arm, window)
        return
    state.total[arm] += reward - leaving
    state.mean[arm] = state.total[arm] / min(n + 1, window)
