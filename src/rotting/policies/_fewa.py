"""FEWA (Seznec et al. 2019): filtering on expanding windows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np

from rotting.kernel.arrays import FloatArray, IntArray
from rotting.kernel.compilable import shared
from rotting.kernel.state import Place
from rotting.kernel.verbs import Inspection, Verbs
from rotting.parameters import Positive
from rotting.policies._base import Policy
from rotting.policies.parts.arms import TIME, Arms, least_pulled, no_pulls, rewarded
from rotting.policies.parts.best_window import square_roots
from rotting.policies.parts.history import CHUNK, History, empty_history, remember
from rotting.policies.parts.openings import is_open


class Params(NamedTuple):
    scale: float  # 2 sqrt(2 alpha) sigma: 2 c_t(h) = scale sqrt(ln t / h)
    root: FloatArray  # sqrt(h) at h


class State(NamedTuple):
    """All observed rewards as running sums, and the filter.

    Memory: two numbers per observed reward, as the rule looks at all windows.
    """

    arms: Arms  # pulls, rewards, rounds
    history: History  # all observed rewards
    kept: Annotated[IntArray, Place("arms.pulls")]  # the arms that are left, in order
    # the chunk in which each arm's window starts
    walk: Annotated[IntArray, Place("history.before", least=-1)]


def init(params: Params, arms: int, capacity: int) -> State:
    return State(
        arms=no_pulls(arms),
        history=empty_history(arms, capacity),
        kept=np.zeros(arms, dtype=np.int64),
        walk=np.zeros(arms, dtype=np.int64),
    )


@shared
def _extremes(state: State, arm: Any, first: Any, last: Any) -> Any:
    """Bounds on the arm's means over the windows first..last, by the lines of their chunks.

    The windows start in the chunk `walk` and the one before it. (-inf, inf) if one has no line.
    """
    n = state.arms.observed[arm]
    total = state.history.total[arm]
    chunk = state.walk[arm]
    low, high = math.inf, -math.inf
    newest = (n - first) // CHUNK
    if (newest + 1) * CHUNK > n:
        return -math.inf, math.inf  # the latest chunk has no line yet
    for _ in range(newest - (n - last) // CHUNK + 1):
        slope = state.history.slope[chunk]
        over = total - slope * n - state.history.low[chunk]
        under = total - slope * n - state.history.top[chunk]
        high = max(high, slope + over / (first if over > 0.0 else last))
        low = min(low, slope + under / (last if under > 0.0 else first))
        chunk = state.history.before[chunk]
    return low, high


@shared
def _all_stay(state: State, count: Any, h: Any, shortest: Any, width: Any) -> Any:
    """Whether a chunk's worth of windows from h on surely keeps all arms, by the chunks' lines.

    `width` is that of the longest of them, the least.
    """
    if shortest < h + CHUNK - 1:
        return False
    lowest, highest = math.inf, -math.inf
    for k in range(count):
        low, high = _extremes(state, state.kept[k], h, h + CHUNK - 1)
        lowest = min(lowest, low)
        highest = max(highest, high)
    return lowest >= highest - width


@shared
def _mean(state: State, arm: Any, h: Any) -> Any:
    """The mean of the arm's last h rewards, whose first is in the chunk `walk`."""
    place = (state.arms.observed[arm] - h) & (CHUNK - 1)
    return (state.history.total[arm] - state.history.sums[state.walk[arm], place]) / h


@shared
def _filter(state: State, count: Any, h: Any, width: Any) -> Any:
    """Keep the arms whose mean of h is within the width of the best; returns their number."""
    best = -math.inf
    for k in range(count):
        best = max(best, _mean(state, state.kept[k], h))
    left = 0
    for k in range(count):
        arm = state.kept[k]
        if _mean(state, arm, h) >= best - width:
            state.kept[left] = arm
            left += 1
    return left


@shared
def _walk_on(state: State, count: Any, step: Any, h: Any) -> None:
    """From the windows h - step to the windows h: a chunk back where they start in another."""
    for k in range(count):
        arm = state.kept[k]
        if step == CHUNK or ((state.arms.observed[arm] - h) & (CHUNK - 1)) == CHUNK - 1:
            state.walk[arm] = state.history.before[state.walk[arm]]


@shared
def _shortest(state: State, count: Any) -> Any:
    """The fewest rewards of an arm that is left."""
    shortest = state.arms.observed[state.kept[0]]
    for k in range(1, count):
        shortest = min(shortest, state.arms.observed[state.kept[k]])
    return shortest


def choose(params: Params, state: State, draw: Any) -> int:
    """Filter on the windows 1, 2, ... until one arm is left or one has too few rewards."""
    scale = params.scale * math.sqrt(math.log(state.arms.clock[TIME] + 1))
    count = 0
    for i in range(state.kept.size):
        if is_open(state.arms.opening, i):
            state.kept[count] = i
            state.walk[i] = state.history.last[i]
            count += 1
    shortest = _shortest(state, count)
    h = 1
    while count > 1 and shortest >= h:
        step = 1
        last = h + CHUNK - 1
        if last <= shortest and _all_stay(state, count, h, shortest, scale / params.root[last]):
            step = CHUNK
        else:
            left = _filter(state, count, h, scale / params.root[h])
            if left < count:
                count = left
                shortest = _shortest(state, count)
        h += step
        if shortest >= h:
            _walk_on(state, count, step, h)
    return least_pulled(state.arms.pulls, state.kept, count)


def update(params: Params, state: State, arm: int, pull: int, reward: float) -> None:
    n = rewarded(state.arms, arm, 1)
    remember(state.history, arm, n - 1, pull, reward)


def inspect(params: Params, state: State, arm: int) -> Inspection:
    """The mean of all its rewards; a filter has no index."""
    n = state.arms.observed[arm]
    return Inspection(state.history.total[arm] / n if n else None, rule="filtered")


@dataclass(frozen=True)
class FEWA(Policy):
    """FEWA: filters the arms on the means of their last 1, 2, 3, ... rewards.

    For h = 1, 2, ... arms whose mean of their last h rewards is more than

        2 sqrt(2 alpha sigma^2 ln t / h)

    below the best are dropped. When one arm is left, it is played; when an arm that is left has
    fewer than h rewards, the least pulled of those left, the first if several. For rested rotting,
    without a model. Memory: two numbers per observed reward; `EFFFEWA` needs O(log t) an arm.

    Args:
        sigma: The standard deviation of a reward about its mean.
        alpha: The width of the filter. A regret bound holds for 4; 0.06 is what its authors use in
            experiments.

    Reference: Seznec et al., "Rotting bandits are no harder than stochastic ones" (2019).

    >>> from rotting import policies
    >>> player = policies.FEWA(sigma=0.5).online(["red", "blue"], compiled=False)
    >>> [player.select().arm for _ in range(2)]
    ['red', 'blue']
    """

    sigma: Positive
    alpha: Positive = 0.06

    verbs: ClassVar[Verbs] = Verbs(Params, State, init, choose, update, inspect=inspect)

    def prepare(self, arms: int, horizon: int | None, reach: int) -> Params:
        return Params(2.0 * math.sqrt(2.0 * self.alpha) * self.sigma, square_roots(reach))

    @classmethod
    def examples(cls) -> Sequence[Policy]:
        # the default, and the one of the theory
        return [cls(sigma=0.5), cls(sigma=0.5, alpha=4.0)]
