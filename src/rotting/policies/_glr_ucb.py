"""GLR-klUCB (Besson & Kaufmann 2019): kl-UCB that restarts an arm when its mean has changed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from rotting.kernel.compilable import shared
from rotting.kernel.state import Counts, Values
from rotting.kernel.verbs import Inspection, Verbs
from rotting.parameters import Count, Positive, Probability
from rotting.policies._base import Policy
from rotting.policies.parts.argmax import argmax, first_open
from rotting.policies.parts.arms import TIME, WAITING, Arms, no_pulls, rewarded
from rotting.policies.parts.history import (
    CHUNK,
    History,
    empty_history,
    forget_history,
    remember,
)
from rotting.policies.parts.openings import is_open

_EDGE = 1e-12  # kl is infinite at means of 0 and 1: stay this far off
_STEPS = 45  # of bisection: 2^-45 of the unit interval


class Params(NamedTuple):
    delta: float  # the level of the test
    every: int  # rewards of an arm between tests
    sigma: float  # zero for Bernoulli rewards


class State(NamedTuple):
    """Running sums of each arm's rewards since its restart.

    Memory: two numbers per observed reward, as the test looks at all of them.
    """

    arms: Arms  # rewards count since the restart
    history: History  # each arm's rewards since its restart
    restart: Counts  # the last round before the arm's restart
    bound: Values  # the kl upper bound of each arm's mean
    asked: Counts  # pulls since the restart


def init(params: Params, arms: int, capacity: int) -> State:
    # each restart may leave a chunk that is not full
    chunks = capacity + capacity // max(1, params.every) * CHUNK
    return State(
        arms=no_pulls(arms),
        history=empty_history(arms, min(chunks, CHUNK * capacity)),
        restart=np.zeros(arms, dtype=np.int64),
        bound=np.zeros(arms),
        asked=np.zeros(arms, dtype=np.int64),
    )


@shared
def divergence(sigma: Any, x: Any, y: Any) -> Any:
    """kl(x, y): (x - y)^2 / (2 sigma^2), or that of two Bernoulli laws if sigma is zero."""
    if sigma > 0.0:
        return (x - y) ** 2 / (2.0 * sigma**2)
    x = min(1.0 - _EDGE, max(_EDGE, x))
    y = min(1.0 - _EDGE, max(_EDGE, y))
    return x * math.log(x / y) + (1.0 - x) * math.log((1.0 - x) / (1.0 - y))


@shared
def _upper(sigma: Any, mean: Any, level: Any) -> Any:
    """The largest q with kl(mean, q) <= level."""
    if sigma > 0.0:
        return mean + sigma * math.sqrt(2.0 * level)
    low, high = min(1.0, max(0.0, mean)), 1.0
    for _ in range(_STEPS):
        middle = 0.5 * (low + high)
        if divergence(sigma, mean, middle) <= level:
            low = middle
        else:
            high = middle
    return low


@shared
def _mean_has_moved(params: Params, state: State, arm: Any) -> Any:
    """The generalised likelihood ratio test over all splits of the rewards since the restart."""
    n = state.arms.observed[arm]
    total = state.history.total[arm]
    mean = total / n
    threshold = (1.0 + 1.0 / n) * math.log(2.0 * n**1.5 / params.delta)
    chunk = state.history.last[arm]
    split = n - 1
    while split > 0:
        place = split & (CHUNK - 1)
        first = state.history.sums[chunk, place]
        if params.sigma > 0.0:
            gap = first - mean * split
            value = gap * gap * n / (split * (n - split)) / (2.0 * params.sigma**2)
        else:
            value = split * divergence(0.0, first / split, mean)
            value += (n - split) * divergence(0.0, (total - first) / (n - split), mean)
        if value >= threshold:
            return True
        if place == 0:
            chunk = state.history.before[chunk]
        split -= 1
    return False


@shared
def _restart(state: State, arm: Any) -> None:
    """Restart an arm: its rewards no longer count."""
    forget_history(state.history, arm)
    state.arms.observed[arm] = 0
    if is_open(state.arms.opening, arm):
        state.arms.clock[WAITING] += 1
    state.asked[arm] = 0
    state.restart[arm] = state.arms.clock[TIME]


@shared
def _without_rewards(state: State) -> Any:
    """The open arm without rewards since its restart that was pulled least since then, or -1.

    The first of them if several. One that waits for late rewards is pulled no more often than the
    least pulled arm.
    """
    pulls, opening = state.arms.pulls, state.arms.opening
    first = first_open(pulls.size, opening)
    least = pulls[first]
    for i in range(first + 1, pulls.size):
        if is_open(opening, i):
            least = min(least, pulls[i])
    arm = -1
    for i in range(pulls.size):
        asked = state.asked[i]
        alone = state.arms.observed[i] == 0 and is_open(opening, i)
        if alone and asked <= least and (arm < 0 or asked < state.asked[arm]):
            arm = i
    return arm


@shared
def _upper_now(params: Params, state: State, arm: Any) -> Any:
    """The kl upper bound of an arm's mean in the round that is to be decided."""
    n = state.arms.observed[arm]
    t = state.arms.clock[TIME] + 1
    level = math.log(max(1, t - state.restart[arm])) / n
    return _upper(params.sigma, state.history.total[arm] / n, level)


def choose(params: Params, state: State, draw: Any) -> int:
    """An arm without rewards since its restart, else argmax of the kl upper bound."""
    arm = -1
    if state.arms.clock[WAITING] > 0:
        arm = _without_rewards(state)
    if arm < 0:
        for i in range(state.bound.size):
            state.bound[i] = -math.inf
            if state.arms.observed[i] > 0 and is_open(state.arms.opening, i):
                state.bound[i] = _upper_now(params, state, i)
        arm = argmax(state.bound, state.arms.opening)
    return arm


def pulled(params: Params, state: State, arm: int) -> None:
    state.arms.pulls[arm] += 1
    state.arms.clock[TIME] += 1
    state.asked[arm] += 1


def update(params: Params, state: State, arm: int, pull: int, reward: float) -> None:
    n = rewarded(state.arms, arm, 1)
    remember(state.history, arm, n - 1, pull, reward)
    if n >= 2 and n % params.every == 0 and _mean_has_moved(params, state, arm):
        _restart(state, arm)


def inspect(params: Params, state: State, arm: int) -> Inspection:
    """The mean since its restart, and the distance of the kl upper bound from it."""
    n = state.arms.observed[arm]
    if n == 0:
        return Inspection()
    mean, upper = state.history.total[arm] / n, _upper_now(params, state, arm)
    return Inspection(mean, upper - mean, upper)


@dataclass(frozen=True)
class GLRUCB(Policy):
    """GLR-klUCB: kl-UCB on the rewards since an arm's last restart, with a test for changes.

    An arm without rewards since its restart goes first; else the arm with the highest index, the
    largest q with n kl(mean, q) <= ln(t - tau), n and mean being those since its restart at round
    tau. Ties go to the first arm. An arm restarts when over some split s of its n rewards

        s kl(mean_{1:s}, mean) + (n - s) kl(mean_{s+1:n}, mean) >= (1 + 1/n) ln(2 n^1.5 / delta)

    Only the arm that changed restarts, and there is no forced exploration: rested arms change only
    when pulled. Memory: two numbers per observed reward.

    Args:
        sigma: The standard deviation of a Gaussian reward about its mean. None is for rewards in
            [0, 1]: kl is then that of Bernoulli rewards.
        delta: The level of the test; smaller restarts later.
        every: Rewards of an arm between tests.

    Reference: Besson & Kaufmann, "The Generalized Likelihood Ratio Test meets klUCB" (2019).

    >>> from rotting import policies
    >>> player = policies.GLRUCB(sigma=0.5).online(["red", "blue"], compiled=False)
    >>> for reward in (0.0, 1.0):
    ...     player.update(player.select(), reward)
    >>> player.select().arm
    'blue'
    """

    sigma: Positive | None
    delta: Probability = 0.01
    every: Count = 10

    title: ClassVar[str] = "GLR-UCB"
    verbs: ClassVar[Verbs] = Verbs(Params, State, init, choose, update, pulled, inspect=inspect)

    def prepare(self, arms: int, horizon: int | None, reach: int) -> Params:
        return Params(self.delta, self.every, self.sigma or 0.0)

    @classmethod
    def examples(cls) -> Sequence[Policy]:
        return [cls(sigma=0.5, delta=0.2, every=3), cls(sigma=None, delta=0.3, every=5)]
