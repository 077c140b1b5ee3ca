"""The mean of each arm's last M observed rewards, in the order of their pulls; for SWA and wSWA.

A ring buffer per arm holds the latest observed rewards sorted by pull. A prompt reward is appended;
a late one moves to its place among those of later pulls. A reward older than all that the ring
keeps is too late to count.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, NamedTuple

import numpy as np

from rotting.kernel.arrays import FloatArray, IntArray
from rotting.kernel.compilable import seldom, shared
from rotting.kernel.state import Counts, Finite, Numbers, Uncleared, Within
from rotting.policies.parts.arms import Arms, rewarded
from rotting.policies.parts.openings import is_open

__all__ = [
    "Window",
    "count_unfilled",
    "empty_window",
    "least_filled",
    "observe",
    "sum_window",
    "window_mean",
]

_FRESH_SUM_EVERY = 256  # turns of the ring, against rounding; a power of two


class Window(NamedTuple):
    """The last rewards of each arm. Memory: a ring of the window's length for each.

    Attributes:
        base: The pulls of earlier epochs, whose rewards do not count.
        total: The sum of the rewards in the window.
        newest: The latest pull observed.
        ring_pull: [arm, place]: the pull of each reward.
        ring_reward: [arm, place]: the rewards.

    >>> from rotting.policies.parts.arms import no_pulls
    >>> arms, window = no_pulls(1), empty_window(1, longest=2)
    >>> for pull, reward in enumerate([1.0, 0.5, 0.25], start=1):
    ...     mean = observe(window, arms, 0, pull, reward, 2)
    >>> float(mean)
    0.375
    """

    base: Counts
    total: Numbers
    newest: Counts
    ring_pull: Annotated[IntArray, Within(0), Uncleared()]
    ring_reward: Annotated[FloatArray, Finite(), Uncleared()]

    def grown(self, larger: Window, state: Any) -> Window:
        """The same in longer rings: a reward's place is its number modulo the ring's length.

        Rings of new arms come last.
        """
        old, new = self.ring_pull.shape[1], larger.ring_pull.shape[1]
        arms = self.base.size
        if new <= old and larger.base.size == arms:
            return self
        for arm, n in enumerate(state.arms.observed):
            kept = np.arange(max(0, n - min(old, new)), n)
            larger.ring_pull[arm, kept % new] = self.ring_pull[arm, kept % old]
            larger.ring_reward[arm, kept % new] = self.ring_reward[arm, kept % old]
        for name in ("base", "total", "newest"):
            getattr(larger, name)[:arms] = getattr(self, name)
        return larger


def empty_window(arms: int, longest: int) -> Window:
    """The part at its start: nothing observed.

    Args:
        arms: The number of arms.
        longest: The longest window; rings have the next power of two.

    Returns:
        For a field of the state; `init` makes it.
    """
    ring = 1 << (longest - 1).bit_length()
    return Window(
        base=np.zeros(arms, dtype=np.int64),
        total=np.zeros(arms),
        newest=np.zeros(arms, dtype=np.int64),
        ring_pull=np.zeros((arms, ring), dtype=np.int64),
        ring_reward=np.zeros((arms, ring)),
    )


@shared
def window_mean(window: Window, arms: Arms, arm: Any, length: Any) -> Any:
    """The mean of the arm's last rewards, or minus infinity if there are none.

    Args:
        window: The part.
        arms: The state's `Arms`.
        arm: The arm.
        length: M, the length of the window.

    Returns:
        A float.
    """
    n = arms.observed[arm]
    if n == 0:
        return -math.inf
    return window.total[arm] / min(n, length, window.ring_reward.shape[1])


@shared
@seldom
def count_unfilled(window: Window, arms: Arms, length: Any) -> Any:
    """The number of open arms with fewer than `length` pulls since their `base`.

    Args:
        window: The part.
        arms: The state's `Arms`.
        length: M, the length of the window.

    Returns:
        A whole number.
    """
    count = 0
    for i in range(arms.pulls.size):
        if is_open(arms.opening, i) and arms.pulls[i] - window.base[i] < length:
            count += 1
    return count


@shared
@seldom
def least_filled(window: Window, arms: Arms, length: Any) -> Any:
    """The least pulled of the open arms with fewer than `length` pulls since their `base`.

    Called round after round, without arms that come and go, it returns each arm in turn.

    Args:
        window: The part.
        arms: The state's `Arms`.
        length: M, the length of the window.

    Returns:
        An arm, the first if several, or -1 for none.
    """
    least = -1
    fewest = length
    for i in range(arms.pulls.size):
        pulls = arms.pulls[i] - window.base[i]
        if pulls < fewest and is_open(arms.opening, i):
            least = i
            fewest = pulls
    return least


@shared
@seldom
def sum_window(window: Window, arms: Arms, arm: Any, length: Any) -> None:
    """Add up the window again: for a new length, a late reward, and now and then against rounding.

    Args:
        window: The part.
        arms: The state's `Arms`.
        arm: The arm.
        length: M, the length of the window.
    """
    ring = window.ring_reward.shape[1]
    n = arms.observed[arm]
    total = 0.0
    for k in range(n - min(n, length, ring), n):
        total += window.ring_reward[arm, k & (ring - 1)]
    window.total[arm] = total


@shared
def observe(window: Window, arms: Arms, arm: Any, pull: Any, reward: Any, length: Any) -> Any:
    """Put a reward into its place among the arm's observed ones, and count it.

    Rewards of pulls up to `base`, and those older than all that the ring keeps, do not count.

    Args:
        window: The part.
        arms: The state's `Arms`.
        arm: The arm.
        pull: The number of the reward's pull.
        reward: The reward.
        length: M, the length of the window.

    Returns:
        The mean of the window, as `window_mean`.
    """
    if pull <= window.base[arm]:
        return window_mean(window, arms, arm, length)
    ring = window.ring_reward.shape[1]
    mask = ring - 1
    length = min(length, ring)
    n = arms.observed[arm]
    place = n  # among all observed rewards, in pull order
    if pull > window.newest[arm]:
        window.newest[arm] = pull
    else:
        while place > 0 and place > n - ring and window.ring_pull[arm, (place - 1) & mask] > pull:
            place -= 1
        if place <= n - ring:
            return window_mean(window, arms, arm, length)  # older than all that is kept
    for k in range(n, place, -1):
        window.ring_pull[arm, k & mask] = window.ring_pull[arm, (k - 1) & mask]
        window.ring_reward[arm, k & mask] = window.ring_reward[arm, (k - 1) & mask]
    # with a full ring the shift has overwritten the oldest reward, which leaves the window if
    # that is as long as the ring; `sum_window` then adds up what is there
    leaving = window.ring_reward[arm, (n - length) & mask] if n >= length else 0.0
    window.ring_pull[arm, place & mask] = pull
    window.ring_reward[arm, place & mask] = reward
    rewarded(arms, arm, 1)
    if place < n or (n & (_FRESH_SUM_EVERY * ring - 1)) == 0:
        sum_window(window, arms, arm, length)
    else:
        window.total[arm] += reward - leaving
    return window.total[arm] / min(n + 1, length)
