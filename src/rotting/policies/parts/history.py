"""Every observed reward of every arm as running sums: for rules that look at all windows.

The mean of the last h rewards is (C_N - C_j) / h, j = N - h, with C the running sums of an arm's
observed rewards in pull order. They are kept in chunks of 64, all arms' in one arena, each chunk
linked to the one before. Memory: one number and one pull per observed reward.

A full chunk has a line that its sums stay close to, C_j = slope j + [low, top]. This bounds the
means of 64 windows at once, and most chunks need no closer look: RAW-UCB's minimum over all windows
then costs a few chunks instead of the whole history, and is still exact. Late rewards are put in
their place among those of later pulls, in time proportional to the number of those.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, NamedTuple

import numpy as np

from rotting.kernel.arrays import IntArray
from rotting.kernel.compilable import seldom, shared
from rotting.kernel.state import AtMost, Counts, Numbers, Place

__all__ = [
    "CHUNK",
    "History",
    "Starts",
    "empty_history",
    "forget_history",
    "no_starts",
    "remember",
]

CHUNK = 64
NOWHERE = -1


class History(NamedTuple):
    """Running sums in chunks. The number of an arm's rewards, n, is in the state's `Arms`.

    Attributes:
        total: C_N of each arm.
        last: Each arm's latest chunk.
        free: The first unused chunk.
        sums: [chunk, place]: C_j, the sum before the (j+1)-th reward.
        pull: [chunk, place]: the pull of that reward.
        before: The previous chunk of each.
        slope: The slope of each full chunk's line.
        top: The largest C_j - slope j in the chunk.
        low: The smallest.

    >>> history = empty_history(arms=2, capacity=10)
    >>> remember(history, 0, 0, 1, 0.5)
    >>> remember(history, 0, 1, 2, 0.25)
    >>> history.total.tolist()
    [0.75, 0.0]
    """

    total: Numbers
    last: Annotated[IntArray, Place("before", least=NOWHERE)]
    free: Annotated[IntArray, Place("before")]
    sums: Numbers
    pull: Counts
    before: Annotated[IntArray, Place("before", least=NOWHERE)]
    slope: Numbers
    top: Numbers
    low: Numbers

    def chunks(self, arm: int, n: int) -> list[int]:
        """The chunks of an arm's n rewards, the first one first; empty if they do not add up."""
        found: list[int] = []
        chunk = int(self.last[arm])
        while chunk != NOWHERE and len(found) * CHUNK < n:
            found.append(chunk)
            chunk = int(self.before[chunk])
        return found[::-1] if chunk == NOWHERE and n <= len(found) * CHUNK else []

    def wrong(self, state: Any, params: Any, waiting: Any) -> str | None:
        """The chains must fit the rewards observed, and the arena must have room for those to come.

        A player's arena has room for twice the decisions made. Chunks that were given up (by
        `forget_history`) are therefore less than half of what is not set aside for each arm.
        """
        used: set[int] = set()
        count = 0
        for arm, n in enumerate(state.arms.observed.tolist()):
            if n == 0 and self.last[arm] == NOWHERE:
                continue
            found = self.chunks(arm, n)
            if not found:
                return f"last must lead through the chunks of arm {arm}'s {n} rewards"
            used.update(found)
            count += len(found)
        free, size = int(self.free[0]), self.before.size
        if len(used) < count or (used and max(used) >= free):
            return "before must give every chunk in use to one arm"
        if 2 * (free - count) > size - self.last.size - 1:
            return f"free must leave room for the rewards to come, got {free} of {size} chunks"
        return None


class Starts(NamedTuple):
    """Where in its history an arm's window starts. The state's field `history` is the `History`.

    Attributes:
        chunk: The chunk of the window's first reward.
        start: The number of the arm's rewards before the window.
    """

    chunk: Annotated[IntArray, Place("history.before")]
    start: Annotated[IntArray, AtMost("arms.observed")]

    def wrong(self, state: Any, params: Any, waiting: Any) -> str | None:
        """A window must have a reward, and its chunk must be the one in which it starts."""
        for arm, n in enumerate(state.arms.observed.tolist()):
            start, chunk = int(self.start[arm]), int(self.chunk[arm])
            if n > 0 and not (start < n and state.history.chunks(arm, n)[start // CHUNK] == chunk):
                return f"start must be one of arm {arm}'s {n} rewards in its chunk, got {start}"
        return None


def empty_history(arms: int, capacity: int) -> History:
    """The part at its start: nothing observed, and an arena for `capacity` rewards.

    Args:
        arms: The number of arms.
        capacity: The number of decisions, as `init` gets it.

    Returns:
        For the field `history` of the state.
    """
    chunks = capacity // CHUNK + arms + 1
    return History(
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


def no_starts(arms: int) -> Starts:
    """The part at its start: every window begins with the first reward.

    Args:
        arms: The number of arms.

    Returns:
        For a field of the state.
    """
    return Starts(chunk=np.zeros(arms, dtype=np.int64), start=np.zeros(arms, dtype=np.int64))


@shared
def remember(history: History, arm: Any, n: Any, pull: Any, reward: Any) -> None:
    """Put a reward into its place among the arm's others, in pull order.

    Args:
        history: The part.
        arm: The arm.
        n: The number of its rewards before this one.
        pull: The number of the reward's pull.
        reward: The reward.
    """
    place = n & (CHUNK - 1)
    if place == 0:
        chunk = history.free[0]
        history.free[0] = chunk + 1
        history.before[chunk] = history.last[arm]
        history.last[arm] = chunk
    chunk = history.last[arm]
    history.sums[chunk, place] = history.total[arm]
    history.pull[chunk, place] = pull
    history.total[arm] += reward
    if _came_late(history, chunk, place, pull):
        _sort_in(history, arm, n, reward)
    elif place == CHUNK - 1:
        _fit_line(history, chunk, n - place)


@shared
def _came_late(history: History, chunk: Any, place: Any, pull: Any) -> Any:
    """Whether the reward before the one just put at (chunk, place) is of a later pull."""
    if place > 0:
        return history.pull[chunk, place - 1] > pull
    earlier = history.before[chunk]
    return earlier >= 0 and history.pull[earlier, CHUNK - 1] > pull


@shared
@seldom
def _sort_in(history: History, arm: Any, n: Any, reward: Any) -> None:
    """Move the newest reward, the n-th from 0, before those of later pulls."""
    chunk, place, k = history.last[arm], n & (CHUNK - 1), n
    while k > 0 and _came_late(history, chunk, place, history.pull[chunk, place]):
        other, spot = (chunk, place - 1) if place > 0 else (history.before[chunk], CHUNK - 1)
        late = history.pull[chunk, place]
        history.pull[chunk, place] = history.pull[other, spot]
        history.pull[other, spot] = late
        history.sums[chunk, place] = history.sums[other, spot] + reward
        chunk, place, k = other, spot, k - 1
    # the lines of all chunks from there on
    ordinal = n // CHUNK
    walk = history.last[arm]
    while walk >= 0 and ordinal * CHUNK + CHUNK > k:
        if ordinal * CHUNK + CHUNK <= n + 1:
            _fit_line(history, walk, ordinal * CHUNK)
        walk = history.before[walk]
        ordinal -= 1


@shared
@seldom
def _fit_line(history: History, chunk: Any, start: Any) -> None:
    """The line through a full chunk's ends, and how far its sums stray from it.

    `start` is j of its first sum.
    """
    slope = (history.sums[chunk, CHUNK - 1] - history.sums[chunk, 0]) / (CHUNK - 1)
    top = -math.inf
    low = math.inf
    for k in range(CHUNK):
        off = history.sums[chunk, k] - slope * (start + k)
        if off > top:
            top = off
        if off < low:
            low = off
    history.slope[chunk] = slope
    history.top[chunk] = top
    history.low[chunk] = low


@shared
def forget_history(history: History, arm: Any) -> None:
    """Drop an arm's rewards; its chunks are not used again.

    Args:
        history: The part.
        arm: The arm.
    """
    history.total[arm] = 0.0
    history.last[arm] = NOWHERE
