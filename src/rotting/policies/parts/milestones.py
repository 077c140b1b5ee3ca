"""An arm's windows in O(log n) memory: its running sums, kept at one pull for each power of two.

A milestone is a pull of the arm, with the number and the sum of its rewards up to then. The rewards
after it have the mean (total - sum) / (n - count), so every milestone is where a window may start.

Just before the (k+1)-th reward, k > 0, one is set at level l, the number of trailing zero bits of
k, as in a binary counter: level 0 is set every 2 rewards, level 1 every 4, level 2 every 8, and the
highest of 15 every 2^14.

A level stands for the 2^l places since k - 2^l, of which only the best is kept: the last milestones
of all lower levels lie among them, and the new one is placed at the best of those and k. Best is
where sum - slope count is highest, the slope being a little below the mean: running sums have a
peak where an arm falls, if that slope is taken off. With this rule the few places find falls nearly
as well as all windows do; a regular grid of eight a level does worse.

Two more rows are kept beside the levels: where the arm's window starts, and the pull before its
latest reward. A reward alone must always be a candidate, since that is how a fall far beyond the
noise shows.

Rewards may be late. One is added to the milestones of its pull and later ones, so that their
windows are those of the pulls they began with; milestones are neither moved nor set for it. A
reward that never comes is not counted: a milestone is at the pull `seen + lost`.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, NamedTuple

import numpy as np

from rotting.kernel.arrays import IntArray
from rotting.kernel.compilable import seldom, shared
from rotting.kernel.state import AtMost, Counts, Numbers, Within

__all__ = [
    "LAST",
    "LEVELS",
    "WINDOW",
    "Milestones",
    "add_late_reward",
    "add_reward",
    "find_window",
    "no_milestones",
    "window_mean",
]

WINDOW = 0  # the row of the arm's present window
LAST = 1  # the row of the window that is the latest reward alone
LEVELS = 2  # the row of level 0; the rows of higher levels follow
ALWAYS = 4  # levels looked at whenever a reward comes
TURNS = 2  # higher levels looked at in each turn
HIGHEST = 15  # levels at most: windows beyond some 30,000 rewards are the present one and all
BELOW = 0.125  # how far below the mean the slope is, in paddings of a window of the level's length


class Milestones(NamedTuple):
    """Running sums of each arm at some of its pulls. Rows not set begin before all rewards.

    Attributes:
        total: The sum of the arm's rewards.
        latest: The last pull whose reward has come.
        seen: [arm, row]: the rewards up to the milestone.
        lost: [arm, row]: the pulls up to it without a reward, in 32 bits.
        sums: [arm, row]: the sum of the rewards up to it.

    >>> kept = no_milestones(arms=1, capacity=8)
    >>> mean = 0.0
    >>> for n, reward in enumerate([1.0, 1.0, 0.0, 0.0], start=1):
    ...     level = add_reward(kept, 0, n, n, reward, mean, scale=0.1)
    ...     h = find_window(kept, 0, n, level, scale=0.1)
    ...     mean = window_mean(kept, 0, h)
    >>> int(h), float(mean)
    (2, 0.0)
    """

    total: Numbers
    latest: Annotated[IntArray, AtMost("arms.pulls")]
    seen: Counts
    lost: Annotated[Any, Within(0)]
    sums: Numbers

    def wrong(self, state: Any, params: Any, waiting: Any) -> str | None:
        """Rewards must be at most the pulls, and each window must have a reward."""
        observed = state.arms.observed
        if np.any(self.latest < observed):
            return "latest must be at least the number of the arm's rewards"
        if np.any(self.seen > np.maximum(observed - 1, 0)[:, None]):
            return "seen must leave each window a reward"
        if np.any(self.seen + self.lost > self.latest[:, None]):
            return "lost must leave milestones at or before the latest pull with a reward"
        return None


def no_milestones(arms: int, capacity: int) -> Milestones:
    """The part at its start: levels for `capacity` rewards, and one above them that is never set.

    That one stands in for all higher levels, so that their number makes no difference.

    Args:
        arms: The number of arms.
        capacity: The number of decisions, as `init` gets it.

    Returns:
        For a field of the state.
    """
    rows = LEVELS + min(max(ALWAYS, capacity.bit_length()), HIGHEST) + 1
    return Milestones(
        total=np.zeros(arms),
        latest=np.zeros(arms, dtype=np.int64),
        seen=np.zeros((arms, rows), dtype=np.int64),
        lost=np.zeros((arms, rows), dtype=np.int32),
        sums=np.zeros((arms, rows)),
    )


@shared
def add_reward(
    kept: Milestones, arm: Any, n: Any, pull: Any, reward: Any, mean: Any, scale: Any
) -> Any:
    """Set a milestone, then count a reward of a later pull than all before.

    Args:
        kept: The part.
        arm: The arm.
        n: The number of its rewards, this one included.
        pull: The number of the reward's pull.
        reward: The reward.
        mean: The mean of the arm's window so far.
        scale: As for `find_window`.

    Returns:
        The level of the milestone, for `find_window`.
    """
    turn = n - 1  # rewards before this one
    at, seen, total = kept.latest[arm], n - 1, kept.total[arm]
    _put(kept, arm, LAST, at, seen, total)
    kept.latest[arm] = pull
    kept.total[arm] = total + reward
    level = 0
    if turn > 0:
        places = turn & -turn  # 2^level
        slope = mean - BELOW * scale / math.sqrt(places)
        row = LEVELS
        while places > 1 and row + 2 < kept.sums.shape[1]:
            if kept.sums[arm, row] - total > slope * (kept.seen[arm, row] - seen):
                seen = kept.seen[arm, row]
                at = seen + kept.lost[arm, row]
                total = kept.sums[arm, row]
            row += 1
            places >>= 1
        _put(kept, arm, row, at, seen, total)
        level = row - LEVELS
    return level


@shared
def _put(kept: Milestones, arm: Any, row: Any, pull: Any, seen: Any, total: Any) -> None:
    kept.seen[arm, row] = seen
    kept.lost[arm, row] = pull - seen
    kept.sums[arm, row] = total


@shared
@seldom
def add_late_reward(kept: Milestones, arm: Any, pull: Any, reward: Any) -> None:
    """Count a reward of an earlier pull than the latest.

    Args:
        kept: The part.
        arm: The arm.
        pull: The number of the reward's pull.
        reward: The reward.
    """
    kept.total[arm] += reward
    for row in range(kept.sums.shape[1]):
        if kept.seen[arm, row] + kept.lost[arm, row] >= pull:
            kept.seen[arm, row] += 1
            kept.lost[arm, row] -= 1
            kept.sums[arm, row] += reward


@shared
def find_window(kept: Milestones, arm: Any, n: Any, level: Any, scale: Any) -> Any:
    """Choose the arm's window of least mean(h) + scale / sqrt(h).

    Candidates are the present window, all rewards, the latest alone, those from the milestones of
    four levels, and of two higher levels in turn: lengths change slowly there.

    Args:
        kept: The part.
        arm: The arm.
        n: The number of its rewards.
        level: What `add_reward` returned; 0 after a late reward.
        scale: The factor of the widths.

    Returns:
        h, the number of rewards in the window.
    """
    total = kept.total[arm]
    h = n - kept.seen[arm, WINDOW]
    # compared as (sum + scale sqrt(h)) / h, multiplied out: divisions take long
    least = total - kept.sums[arm, WINDOW] + scale * math.sqrt(h)
    best = WINDOW
    top = kept.sums.shape[1] - 1
    for look in range(LAST, LEVELS + ALWAYS + TURNS):
        row = look
        if look >= LEVELS + ALWAYS:
            row = min(look + TURNS * level, top)
        length = n - kept.seen[arm, row]
        value = total - kept.sums[arm, row] + scale * math.sqrt(length)
        if value * h < least * length:
            least = value
            h = length
            best = row
    if (total + scale * math.sqrt(n)) * h < least * n:
        _put(kept, arm, WINDOW, 0, 0, 0.0)
        return n
    if best != WINDOW:
        seen = kept.seen[arm, best]
        _put(kept, arm, WINDOW, seen + kept.lost[arm, best], seen, kept.sums[arm, best])
    return h


@shared
def window_mean(kept: Milestones, arm: Any, h: Any) -> Any:
    """The mean of the arm's window.

    Args:
        kept: The part.
        arm: The arm.
        h: What `find_window` returned.

    Returns:
        A float.
    """
    return (kept.total[arm] - kept.sums[arm, WINDOW]) / h
