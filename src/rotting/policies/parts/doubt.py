"""Whether a family of models fits: two looks at the residuals of its likeliest models.

Both need every reward of an arm from the first pull on, since sums of means are known for those.
"""

from __future__ import annotations

import math
from typing import Any

from rotting.arrays import FloatArray
from rotting.compilable import shared
from rotting.policies.parts.arms import Arms
from rotting.policies.parts.history import CHUNK, History

EVERY = 16  # rewards of an arm between two looks, and the shortest run of rewards looked at
_EXPECTED = 50.0  # rewards after which a misfit of the expected size would equal their noise
_ODDS = 20.0  # odds that some arm is off, at which the family is not asked any more


@shared
def complete(history: History, arm: Any, n: Any) -> Any:
    """Whether the arm's n rewards are those of its pulls 1 to n."""
    return history.pull[history.last[arm], (n - 1) & (CHUNK - 1)] == n


@shared
def misses(
    sums: FloatArray, history: History, arm: Any, n: Any, k: Any, constant: Any, limit: Any
) -> Any:
    """Whether model k, plus a constant, misses the sum of the arm's last h rewards.

    For some h = 16, 32, ... up to n, by more than limit sqrt(h); `sums` is [n, theta].
    """
    chunk = history.last[arm]
    start = ((n - 1) // CHUNK) * CHUNK
    h = EVERY
    while h <= n:
        while n - h < start:
            chunk = history.before[chunk]
            start -= CHUNK
        seen = history.total[arm] - history.sums[chunk, n - h - start]
        expected = sums[n, k] - sums[n - h, k] + constant * h
        if abs(seen - expected) > limit * math.sqrt(h):
            return True
        h *= 2
    return False


@shared
def differs(sums: FloatArray, history: History, arms: Arms, closest: Any, variance: Any) -> Any:
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
        if n > 0 and complete(history, i, n):
            total += history.total[i] - sums[n, closest[i]]
            rewards += n
    for i in range(count):
        n = arms.observed[i]
        if n > 0 and n < rewards and complete(history, i, n):
            own = history.total[i] - sums[n, closest[i]]
            others = rewards - n
            off = own / n - (total - own) / others
            m = n * (others / rewards)
            evidence = off * off * m / (2.0 * variance) * (m / (m + _EXPECTED))
            if evidence > 0.5 * math.log1p(m / _EXPECTED) + math.log(_ODDS * count):
                return True
    return False
