"""Sigma from how much an arm's rewards differ from one pull to the next, for rules not told it.

Neither where an arm's mean lies nor a slow decline shows in such a difference d, whose square is
2 sigma^2 in the mean. A sudden fall shows, and is told from noise by whoever chooses the arm's
window: where the window starts at the new reward, its difference counts no more than the largest
that counted before. A reward that comes after one of a later pull has no difference: which reward
was before it is not known any more.

They are counted in epochs, each twice as long as the one before, and sigma^2 is the mean of d^2 / 2
over the m differences of the last two: early falls, of which nothing was known yet, are soon
forgotten. It is taken 1 + 4 / m times as large, since a sigma too small is dear (good arms starve)
and one too large is not. Before there are two differences it is the variance of the arms' first
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
BEFORE = 3  # the same three of the epoch before lie so much further on


class Noise(NamedTuple):
    """What is known of sigma, the same for all arms."""

    latest: Numbers  # each arm's reward of its latest pull
    totals: Numbers  # ten numbers that belong to no arm

    def wrong(self, state: Any, params: Any, waiting: Any) -> str | None:
        """Counts and squares below zero."""
        low = [k for k, total in enumerate(self.totals) if total < 0.0 and k != CENTRE]
        return (
            f"totals must be at least 0 but for the mean, got {self.totals[low]}" if low else None
        )


def no_noise(arms: int) -> Noise:
    """Nothing observed."""
    return Noise(latest=np.zeros(arms), totals=np.zeros(LARGEST + BEFORE + 1))


@shared
def nothing_differed(noise: Noise) -> Any:
    """Whether no reward has differed from the one before, in the epochs that count."""
    return noise.totals[SUM] + noise.totals[SUM + BEFORE] == 0.0


@shared
def first_reward(noise: Noise, arm: Any, reward: Any) -> None:
    """An arm has shown its first reward."""
    totals = noise.totals
    noise.latest[arm] = reward
    totals[FIRST] += 1.0
    off = reward - totals[CENTRE]
    totals[CENTRE] += off / totals[FIRST]
    totals[SPREAD] += off * (reward - totals[CENTRE])
    _estimate(totals)


@shared
def difference(noise: Noise, arm: Any, reward: Any) -> Any:
    """The arm's new reward, of its latest pull, less that of the pull before."""
    found = reward - noise.latest[arm]
    noise.latest[arm] = reward
    return found


@shared
def count_difference(noise: Noise, off: Any, fell: Any) -> None:
    """Learn from a difference; `fell` says that the arm was found to have fallen there."""
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
    """The estimate, kept for all decisions until the next reward."""
    count = totals[COUNT] + totals[COUNT + BEFORE]
    if count >= ENOUGH:
        square = (totals[SUM] + totals[SUM + BEFORE]) / count * (1.0 + CAUTION / count)
    else:
        square = totals[SPREAD] / max(1.0, totals[FIRST] - 1.0)
    totals[SIGMA] = math.sqrt(square)
