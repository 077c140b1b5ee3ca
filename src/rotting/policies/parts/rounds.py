"""The last tau rounds and their sums per arm: for sliding-window policies.

Rounds lie in a ring buffer. The policy's `Arms` count `observed` and WAITING in the window, but
`pulls` and TIME over all rounds.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, NamedTuple

import numpy as np

from rotting.kernel.arrays import FloatArray, IntArray
from rotting.kernel.compilable import seldom, shared
from rotting.kernel.state import Counts, Finite, Numbers, Place, Values
from rotting.policies.parts.arms import TIME, WAITING, Arms, least_tried, rewarded
from rotting.policies.parts.openings import is_open

__all__ = [
    "Rounds",
    "absent",
    "credit",
    "enter",
    "no_rounds",
]


class Rounds(NamedTuple):
    """The ring and its sums. Memory: min(tau, T) rounds.

    Attributes:
        pulls: The pulls of each arm in the window.
        total: The sum of each arm's observed rewards in the window.
        mean: total / their number; minus infinity for none.
        width: 1 / sqrt of their number.
        ring_arm: The arm of each round.
        ring_pull: The number of that pull of the arm.
        ring_reward: Its reward; NaN until observed.

    >>> from rotting.policies.parts.arms import no_pulls
    >>> arms, rounds = no_pulls(2), no_rounds(2, length=3)
    >>> for arm, reward in ((0, 1.0), (1, 0.0), (1, 1.0), (1, 0.5)):
    ...     enter(rounds, arms, 3, arm)
    ...     credit(rounds, arms, arm, arms.pulls[arm], reward)
    >>> rounds.mean.tolist()
    [-inf, 0.5]
    """

    pulls: Counts
    total: Numbers
    mean: Values
    width: Numbers
    ring_arm: Annotated[IntArray, Place("pulls")]
    ring_pull: Counts
    ring_reward: Annotated[FloatArray, Finite((math.nan,))]

    def wrong(self, state: Any, params: Any, waiting: Any) -> str | None:
        """Counts of the window must be those of the rounds in the ring."""
        arms = self.ring_arm[: state.arms.clock[TIME]]
        seen = arms[~np.isnan(self.ring_reward[: arms.size])]
        if not np.array_equal(self.pulls, np.bincount(arms, minlength=self.pulls.size)):
            return "pulls must be those of the rounds in the ring"
        if not np.array_equal(state.arms.observed, np.bincount(seen, minlength=self.pulls.size)):
            return "ring_reward must hold the observed rewards"
        return None


def no_rounds(arms: int, length: int) -> Rounds:
    """The part at its start: nothing played.

    Args:
        arms: The number of arms.
        length: The rounds in the ring, min(tau, capacity); it grows until it holds the window.

    Returns:
        For a field of the state.
    """
    return Rounds(
        pulls=np.zeros(arms, dtype=np.int64),
        total=np.zeros(arms),
        mean=np.full(arms, -math.inf),
        width=np.zeros(arms),
        ring_arm=np.zeros(length, dtype=np.int64),
        ring_pull=np.zeros(length, dtype=np.int64),
        ring_reward=np.full(length, math.nan),
    )


@shared
def absent(rounds: Rounds, arms: Arms) -> Any:
    """An arm without observed rewards in the window, by the rule of `next_untried`, or -1.

    Args:
        rounds: The part.
        arms: The state's `Arms`.

    Returns:
        An open arm, or -1.
    """
    if arms.clock[WAITING] == 0:
        return -1
    return least_tried(rounds.pulls, arms, 1)


@shared
def _refresh(rounds: Rounds, arms: Arms, arm: Any) -> None:
    """Mean and width of an arm whose window has changed."""
    n = arms.observed[arm]
    if n > 0:
        rounds.mean[arm] = rounds.total[arm] / n
        rounds.width[arm] = 1.0 / math.sqrt(n)
    else:
        rounds.mean[arm] = -math.inf
        rounds.width[arm] = 0.0


@shared
def _leave(rounds: Rounds, arms: Arms, place: Any) -> None:
    """Take the oldest round out of the window's counts and sums."""
    arm = rounds.ring_arm[place]
    reward = rounds.ring_reward[place]
    rounds.pulls[arm] -= 1
    if reward == reward:
        arms.observed[arm] -= 1
        rounds.total[arm] -= reward
        if arms.observed[arm] == 0 and is_open(arms.opening, arm):
            arms.clock[WAITING] += 1
        _refresh(rounds, arms, arm)
    rounds.ring_reward[place] = math.nan


@shared
@seldom
def _sum_again(rounds: Rounds, arms: Arms) -> None:
    """Add up the totals again, once per turn of the ring, against rounding errors."""
    for i in range(rounds.total.size):
        rounds.total[i] = 0.0
    for place in range(rounds.ring_arm.size):
        reward = rounds.ring_reward[place]
        if reward == reward:
            rounds.total[rounds.ring_arm[place]] += reward
    for i in range(rounds.total.size):
        _refresh(rounds, arms, i)


@shared
def enter(rounds: Rounds, arms: Arms, tau: Any, arm: Any) -> None:
    """Count a pull and a round: it enters the window, and the oldest leaves it.

    Args:
        rounds: The part.
        arms: The state's `Arms`.
        tau: The length of the window.
        arm: The arm that was pulled.
    """
    t = arms.clock[TIME] + 1
    arms.clock[TIME] = t
    place = (t - 1) % rounds.ring_arm.size
    if t > tau:
        _leave(rounds, arms, place)
        if place == 0:
            _sum_again(rounds, arms)
    rounds.pulls[arm] += 1
    arms.pulls[arm] += 1
    rounds.ring_arm[place] = arm
    rounds.ring_pull[place] = arms.pulls[arm]
    rounds.ring_reward[place] = math.nan


@shared
def _place_of(rounds: Rounds, arms: Arms, arm: Any, pull: Any) -> Any:
    """The place of a pull in the ring; -1 if it has left. The search starts at the last round."""
    size = rounds.ring_arm.size
    newest = arms.clock[TIME] - 1
    for age in range(min(size, arms.clock[TIME])):
        place = (newest - age) % size
        if rounds.ring_arm[place] == arm and rounds.ring_pull[place] == pull:
            return place
    return -1


@shared
def credit(rounds: Rounds, arms: Arms, arm: Any, pull: Any, reward: Any) -> None:
    """Credit a reward to its round, if that is still in the window.

    Args:
        rounds: The part.
        arms: The state's `Arms`.
        arm: The arm.
        pull: The number of the reward's pull.
        reward: The reward.
    """
    place = _place_of(rounds, arms, arm, pull)
    if place < 0:
        return
    rounds.ring_reward[place] = reward
    rewarded(arms, arm, 1)
    rounds.total[arm] += reward
    _refresh(rounds, arms, arm)
