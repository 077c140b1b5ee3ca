"""theta-hat by the sum of an arm's rewards (Eqs. 6 and 7 of the paper), for CTO and C-CTO.

While an arm's pulls 1..N have all been observed, which is so when rewards are prompt, what each
model expects of them is a row of a table. An arm with gaps keeps these sums for itself.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np

from rotting.kernel.arrays import IntArray
from rotting.kernel.compilable import seldom, shared
from rotting.kernel.state import Flags, Numbers, Place
from rotting.policies.parts.nearest import nearest, nearest_of_all


class Sums(NamedTuple):
    """Sums of rewards, and of the models' means where the tables do not have them."""

    total: Numbers  # of each arm's rewards
    closest: Annotated[IntArray, Place("expected", axis=1)]  # theta-hat, as its place in Theta
    gaps: Flags  # whether an arm's rewards ever came out of order
    expected: Numbers  # [arm, theta]: with gaps, the sum of mu over the observed pulls


def no_sums(arms: int, thetas: int) -> Sums:
    """Nothing observed."""
    return Sums(
        total=np.zeros(arms),
        closest=np.zeros(arms, dtype=np.int64),
        gaps=np.zeros(arms, dtype=np.int64),
        expected=np.zeros((arms, thetas)),
    )


@shared
def in_order(mu: Any, sums: Any, kept: Sums, arm: Any, n: Any, pull: Any) -> Any:
    """Whether pulls 1..n are those observed; if not, the arm's own sums are brought up to date.

    Row n of the table `sums` then has what the models expect, else the arm's row of `expected`.
    """
    if pull == n and kept.gaps[arm] == 0:
        return True
    _count_gap(mu, sums, kept, arm, n, pull)
    return False


@shared
@seldom
def _count_gap(mu: Any, sums: Any, kept: Sums, arm: Any, n: Any, pull: Any) -> None:
    """Keep the sums over the observed pulls explicitly, once they are not simply 1..n."""
    if kept.gaps[arm] == 0:
        kept.gaps[arm] = 1
        for k in range(mu.shape[1]):
            kept.expected[arm, k] = sums[n - 1, k]
    for k in range(mu.shape[1]):
        kept.expected[arm, k] += mu[pull, k]


@shared
def detect(params: Any, kept: Sums, arm: Any, n: Any, pull: Any, reward: Any) -> None:
    """Add the n-th reward to come; theta-hat is the model whose expected sum is closest."""
    total = kept.total[arm] + reward
    kept.total[arm] = total
    if in_order(params.mu, params.sums, kept, arm, n, pull):
        kept.closest[arm] = nearest(total, params.sums, n, kept.closest[arm], params.ordered)
    else:
        kept.closest[arm] = nearest_of_all(total, kept.expected, arm)
