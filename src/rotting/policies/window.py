"""The mean of each arm's last M rewards, shared by SWA and wSWA.

Rewards lie in a ring per arm at the place of their pull number. A pull enters the window when it
is decided and counts from when its reward is observed; a reward whose pull has left the window is
too late. An arm with nothing observed in its window keeps the last mean it had.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from rotting.compilable import shared
from rotting.policies.base import FloatArray, IntArray


class Window(NamedTuple):
    """The fields that a windowed policy's state starts with."""

    pulls: IntArray
    base: IntArray  # pulls of earlier epochs, which do not count
    filled: IntArray  # observed rewards in the window
    total: FloatArray
    mean: FloatArray
    ring: FloatArray  # [arm, place], NaN until observed; its length is a power of two


def room(window: int) -> int:
    """Length of a ring that holds a window: the next power of two."""
    return 1 << (window - 1).bit_length()


def empty_window(arms: int, window: int) -> Window:
    """Nothing pulled, nothing observed, room for windows up to the given one."""
    return Window(
        pulls=np.zeros(arms, dtype=np.int64),
        base=np.zeros(arms, dtype=np.int64),
        filled=np.zeros(arms, dtype=np.int64),
        total=np.zeros(arms),
        mean=np.full(arms, -math.inf),
        ring=np.full((arms, room(window)), math.nan),
    )


def longer_ring(ring: FloatArray, pulls: IntArray, window: int) -> FloatArray:
    """The ring with room for a longer window, each reward at its new place."""
    arms, old = ring.shape
    longer = np.full((arms, room(window)), math.nan)
    for arm in range(arms):
        kept = np.arange(max(0, pulls[arm] - old), pulls[arm])
        longer[arm, kept % longer.shape[1]] = ring[arm, kept % old]
    return longer


@shared
def enter(state: Any, arm: Any, window: Any) -> None:
    """A pull of the arm is decided: it enters the window, the one `window` pulls older leaves."""
    mask = state.ring.shape[1] - 1
    pull = state.pulls[arm] + 1
    state.pulls[arm] = pull
    leaving = pull - window
    if leaving > state.base[arm]:
        reward = state.ring[arm, (leaving - 1) & mask]
        if reward == reward:
            state.total[arm] -= reward
            state.filled[arm] -= 1
    state.ring[arm, (pull - 1) & mask] = math.nan


@shared
def sum_again(state: Any, arm: Any, window: Any) -> None:
    """Add up the window afresh."""
    mask = state.ring.shape[1] - 1
    total = 0.0
    count = 0
    for pull in range(max(state.base[arm], state.pulls[arm] - window), state.pulls[arm]):
        reward = state.ring[arm, pull & mask]
        if reward == reward:
            total += reward
            count += 1
    state.total[arm] = total
    state.filled[arm] = count
    if count > 0:
        state.mean[arm] = total / count


@shared
def observe(state: Any, arm: Any, pull: Any, reward: Any, window: Any) -> None:
    """The reward of a pull: it counts if the pull is in the window."""
    if pull <= state.pulls[arm] - window or pull <= state.base[arm]:
        return
    place = (pull - 1) & (state.ring.shape[1] - 1)
    state.ring[arm, place] = reward
    if place == 0:  # once a turn of the ring, lest rounding piles up
        sum_again(state, arm, window)
        return
    state.total[arm] += reward
    state.filled[arm] += 1
    state.mean[arm] = state.total[arm] / state.filled[arm]
