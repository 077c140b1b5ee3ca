"""theta-hat by the sum of an arm's rewards (Eqs. 6 and 7 of the paper), for CTO and C-CTO.

While an arm's pulls 1..N have all been observed, which is so when rewards are prompt, their
expected sum under each model is a row of a table. An arm with gaps keeps these sums for itself.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np

from rotting.kernel.arrays import IntArray
from rotting.kernel.compilable import seldom, shared
from rotting.kernel.state import Flags, Numbers, Place
from rotting.policies.parts.nearest import nearest, nearest_of_all

__all__ = [
    "Sums",
    "detect",
    "in_order",
    "no_sums",
]


class Sums(NamedTuple):
    """Sums of rewards, and of the models' means where the tables do not have them.

    Attributes:
        total: The sum of each arm's rewards.
        closest: theta-hat, as its place in Theta.
        gaps: Whether an arm's rewards ever came out of order.
        expected: [arm, theta]: with gaps, the sum of mu over the observed pulls.

    >>> from types import SimpleNamespace
    >>> mu = np.array([[0.0, 0.0], [0.2, 0.9]])  # of pull 1; row 0 is never read
    >>> params = SimpleNamespace(mu=mu, sums=mu, ordered=0)
    >>> sums = no_sums(arms=1, thetas=2)
    >>> detect(params, sums, 0, 1, 1, 0.8)
    >>> sums.closest.tolist()
    [1]
    """

    total: Numbers
    closest: Annotated[IntArray, Place("expected", axis=1)]
    gaps: Flags
    expected: Numbers


def no_sums(arms: int, thetas: int) -> Sums:
    """The part at its start: nothing observed.

    Args:
        arms: The number of arms.
        thetas: The number of models.

    Returns:
        For a field of the state; `init` makes it.
    """
    return Sums(
        total=np.zeros(arms),
        closest=np.zeros(arms, dtype=np.int64),
        gaps=np.zeros(arms, dtype=np.int64),
        expected=np.zeros((arms, thetas)),
    )


@shared
def in_order(mu: Any, sums: Any, kept: Sums, arm: Any, n: Any, pull: Any) -> Any:
    """Whether the observed pulls are 1..n; if not, the arm's own sums are brought up to date.

    The expected sums are then row n of the table `sums`; otherwise the arm's row of `expected`.

    Args:
        mu: The family's table [n, theta].
        sums: The sums of mu over j <= n.
        kept: The part.
        arm: The arm.
        n: The number of its rewards, the new one included.
        pull: The number of the new reward's pull.

    Returns:
        A bool.
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
    """Add a reward; theta-hat becomes the model whose expected sum is closest.

    Args:
        params: Params with the tables `mu`, `sums` and `ordered`: `Family.rows`.
        kept: The part.
        arm: The arm.
        n: The number of its rewards, this one included.
        pull: The number of the reward's pull.
        reward: The reward.
    """
    total = kept.total[arm] + reward
    kept.total[arm] = total
    if in_order(params.mu, params.sums, kept, arm, n, pull):
        kept.closest[arm] = nearest(total, params.sums, n, kept.closest[arm], params.ordered)
    else:
        kept.closest[arm] = nearest_of_all(total, kept.expected, arm)
