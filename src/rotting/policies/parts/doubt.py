"""Whether a family of models fits: two looks at the residuals of its likeliest models.

Both need every reward of an arm from the first pull on, since sums of means are known for those.
"""

from __future__ import annotations

import math
from typing import Any

from rotting.kernel.arrays import FloatArray
from rotting.kernel.compilable import shared
from rotting.policies.parts.arms import Arms
from rotting.policies.parts.milestones import LEVELS, Milestones

EVERY = 16  # rewards of an arm between two looks, and the shortest run of rewards looked at
_SHORTEST = 4  # the level of milestones that 16 rewards lie between
_EXPECTED = 50.0  # rewards after which a misfit of the expected size would equal their noise
_ODDS = 20.0  # odds that some arm is off, at which the family is not asked any more


@shared
def complete(milestones: Milestones, arm: Any, n: Any) -> Any:
    """Whether the arm's n rewards are those of its pulls 1 to n."""
    return milestones.latest[arm] == n


@shared
def misses(
    sums: FloatArray, milestones: Milestones, arm: Any, n: Any, k: Any, constant: Any, limit: Any
) -> Any:
    """Whether model k, plus a constant, misses the sum of the arm's last h rewards.

    For some window from a milestone of level 4 or higher, by more than limit sqrt(h); `sums` is
    [n, theta]. At every 16th reward these windows have 16 rewards or more.
    """
    for row in range(LEVELS + _SHORTEST, milestones.sums.shape[1]):
        before = milestones.seen[arm, row]
        h = n - before
        seen = milestones.total[arm] - milestones.sums[arm, row]
        expected = sums[n, k] - sums[before, k] + constant * h
        if before > 0 and abs(seen - expected) > limit * math.sqrt(h):
            return True
    return False


@shared
def differs(
    sums: FloatArray, milestones: Milestones, arms: Arms, closest: Any, variance: Any
) -> Any:
    """Whether some arm pays more or less than the others, beyond what its model explains.

    What is subtracted from all rewards before they are remembered cancels out.

    The mean residual of an arm minus that of all others has variance v = sigma^2 / m, 1/m = 1/n +
    1/(N - n). Against "nothing is off" stands "off by Normal(0, sigma^2 / 50)"; the ratio of the
    two likelihoods is sqrt(50 / (m + 50)) exp(off^2 / (2 v) m / (m + 50)), and `_ODDS` times
    the number of arms is what it must exceed.
    """
    total = 0.0
    rewards = 0
    count = arms.observed.size
    for i in range(count):
        n = arms.observed[i]
        if n > 0 and complete(milestones, i, n):
            total += milestones.total[i] - sums[n, closest[i]]
            rewards += n
    for i in range(count):
        n = arms.observed[i]
        if n > 0 and n < rewards and complete(milestones, i, n):
            own = milestones.total[i] - sums[n, closest[i]]
            others = rewards - n
            off = own / n - (total - own) / others
            m = n * (others / rewards)
            evidence = off * off * m / (2.0 * variance) * (m / (m + _EXPECTED))
            if evidence > 0.5 * math.log1p(m / _EXPECTED) + math.log(_ODDS * count):
                return True
    return False
