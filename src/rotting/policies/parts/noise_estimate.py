"""An estimate of sigma from the differences of an arm's rewards of successive pulls.

Neither the level of an arm's mean nor a slow decline shows in such a difference d, whose square is
2 sigma^2 in the mean. A sudden fall does show. The rule that chooses the arm's window separates it
from noise: where the window starts at the new reward, its difference counts no more than the
largest that counted before. A reward that comes after one of a later pull has no difference: the
reward before it is no longer kept.

Differences are counted in epochs, each twice as long as the one before, and sigma^2 is the mean of
d^2 / 2 over the m differences of the last two: so early falls, which come before windows, soon drop
out. It is taken 1 + 4 / m times as large, since a sigma too small is costly (good arms starve) and
one too large is not. Before there are two differences it is the variance of the arms' first
rewards.

Everything is O(1) a reward. A constant added to all rewards changes nothing, a factor only the
scale.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from rotting.kernel.compilable import shared
from rotting.kernel.state import Numbers

__all__ = [
    "SIGMA",
    "Noise",
    "count_difference",
    "difference",
    "first_reward",
    "no_noise",
    "nothing_differed",
]

EPOCH = 16  # differences in the first epoch
ENOUGH = 2  # differences that say more than the first rewards do
CAUTION = 4.0  # sigma^2 is taken larger by 4 / m of itself

# Places in the totals. One array, not ten: every array that a loop works on takes a register.
SIGMA = 0  # the estimate
FIRST = 1  # arms that have shown a reward
CENTRE = 2  # the mean of their first rewards
SPREAD = 3  # the sum of squares about it
SUM = 4  # of d^2 / 2 in this epoch
COUNT = 5  # differences in this epoch
LARGEST = 6  # d^2 / 2 in this epoch that was no fall
BEFORE = 3  # the offset of the same three numbers of the epoch before


class Noise(NamedTuple):
    """The estimate of sigma, the same for all arms.

    Attributes:
        latest: Each arm's reward of its latest pull.
        totals: Ten numbers that belong to no arm; the estimate is at the place SIGMA.

    >>> noise = no_noise(arms=1)
    >>> first_reward(noise, 0, 1.0)
    >>> for reward in (0.0, 1.0):
    ...     count_difference(noise, difference(noise, 0, reward), fell=False)
    >>> round(float(noise.totals[SIGMA]), 3)
    1.225
    """

    latest: Numbers
    totals: Numbers

    def wrong(self, state: Any, params: Any, waiting: Any) -> str | None:
        """Counts and squares must be at least zero."""
        low = [k for k, total in enumerate(self.totals) if total < 0.0 and k != CENTRE]
        return (
            f"totals must be at least 0 but for the mean, got {self.totals[low]}" if low else None
        )


def no_noise(arms: int) -> Noise:
    """The part at its start: nothing observed.

    Args:
        arms: The number of arms.

    Returns:
        For a field of the state.
    """
    return Noise(latest=np.zeros(arms), totals=np.zeros(LARGEST + BEFORE + 1))


@shared
def nothing_differed(noise: Noise) -> Any:
    """Whether all differences in the epochs that count are zero.

    Args:
        noise: The part.

    Returns:
        A bool.
    """
    return noise.totals[SUM] + noise.totals[SUM + BEFORE] == 0.0


@shared
def first_reward(noise: Noise, arm: Any, reward: Any) -> None:
    """Count the first reward of an arm.

    Args:
        noise: The part.
        arm: The arm.
        reward: The reward.
    """
    totals = noise.totals
    noise.latest[arm] = reward
    totals[FIRST] += 1.0
    off = reward - totals[CENTRE]
    totals[CENTRE] += off / totals[FIRST]
    totals[SPREAD] += off * (reward - totals[CENTRE])
    _estimate(totals)


@shared
def difference(noise: Noise, arm: Any, reward: Any) -> Any:
    """The arm's new reward, of its latest pull, less that of the pull before.

    Args:
        noise: The part, which keeps the new reward.
        arm: The arm.
        reward: The reward.

    Returns:
        A float, for `count_difference`.
    """
    found = reward - noise.latest[arm]
    noise.latest[arm] = reward
    return found


@shared
def count_difference(noise: Noise, off: Any, fell: Any) -> None:
    """Update the estimate with a difference.

    Args:
        noise: The part.
        off: What `difference` returned.
        fell: Whether the arm was found to have fallen there.
    """
    totals = noise.totals
    half = 0.5 * off * off
    if fell:
        half = min(half, max(totals[LARGEST], totals[LARGEST + BEFORE]))
    totals[LARGEST] = max(totals[LARGEST], half)
    totals[SUM] += half
    totals[COUNT] += 1.0
    if totals[COUNT] >= EPOCH and totals[COUNT] >= 2.0 * totals[COUNT + BEFORE]:
        for place in range(SUM, LARGEST + 1):
            totals[place + BEFORE] = totals[place]
            totals[place] = 0.0
    _estimate(totals)


@shared
def _estimate(totals: Any) -> None:
    """Store the estimate, for all decisions until the next reward."""
    count = totals[COUNT] + totals[COUNT + BEFORE]
    if count >= ENOUGH:
        square = (totals[SUM] + totals[SUM + BEFORE]) / count * (1.0 + CAUTION / count)
    else:
        square = totals[SPREAD] / max(1.0, totals[FIRST] - 1.0)
    totals[SIGMA] = math.sqrt(square)
