"""FEWA (Seznec et al. 2019): filtering on expanding windows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from rotting import checks
from rotting.compilable import shared
from rotting.policies.base import FloatArray, IntArray, Policy, Verbs
from rotting.policies.parts.history import CHUNK, empty_history, grow_history, remember
from rotting.policies.rawucb import square_roots


class Params(NamedTuple):
    """2 c_t(h) = scale sqrt(ln t / h)."""

    scale: float  # 2 sqrt(2 alpha) sigma
    root: FloatArray  # sqrt(h) at h


class State(NamedTuple):
    """All observed rewards as running sums (see `rotting.policies.parts.history`), and the filter.

    Memory: two numbers per observed reward, as the rule looks at all windows.
    """

    pulls: IntArray
    observed: IntArray
    waiting: IntArray
    total: FloatArray
    last: IntArray
    free: IntArray
    sums: FloatArray
    pull: IntArray
    before: IntArray
    slope: FloatArray
    top: FloatArray
    low: FloatArray
    time: IntArray
    kept: IntArray  # the arms that are left, in order
    walk: IntArray  # the chunk in which each arm's window starts


def init(params: Params, arms: int, capacity: int) -> State:
    """Nothing pulled, nothing observed."""
    return State(
        *empty_history(arms, capacity),
        time=np.zeros(1, dtype=np.int64),
        kept=np.zeros(arms, dtype=np.int64),
        walk=np.zeros(arms, dtype=np.int64),
    )


@shared
def _extremes(state: Any, arm: Any, first: Any, last: Any) -> Any:
    """Bounds on the arm's means over the windows first..last, of whole chunks; (-inf, inf) if not.

    The windows start in the chunk `walk` and the one before it.
    """
    n = state.observed[arm]
    total = state.total[arm]
    chunk = state.walk[arm]
    low, high = math.inf, -math.inf
    newest = (n - first) // CHUNK
    if (newest + 1) * CHUNK > n:
        return -math.inf, math.inf  # the latest chunk has no line yet
    for _ in range(newest - (n - last) // CHUNK + 1):
        slope = state.slope[chunk]
        over = total - slope * n - state.low[chunk]
        under = total - slope * n - state.top[chunk]
        high = max(high, slope + over / (first if over > 0.0 else last))
        low = min(low, slope + under / (last if under > 0.0 else first))
        chunk = state.before[chunk]
    return low, high


@shared
def _nobody_goes(state: Any, count: Any, h: Any, shortest: Any, width: Any) -> Any:
    """Whether a chunk's worth of windows from h on keeps all arms for sure, by the chunks' lines.

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
def _mean(state: Any, arm: Any, h: Any) -> Any:
    """The mean of the arm's last h rewards, whose first is in the chunk `walk`."""
    place = (state.observed[arm] - h) & (CHUNK - 1)
    return (state.total[arm] - state.sums[state.walk[arm], place]) / h


@shared
def _filter(state: Any, count: Any, h: Any, width: Any) -> Any:
    """Keep the arms whose mean of h is within the width of the best."""
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
def _walk_on(state: Any, count: Any, step: Any, h: Any) -> None:
    """From the windows h - step to the windows h: a chunk back where they start in another."""
    for k in range(count):
        arm = state.kept[k]
        if step == CHUNK or ((state.observed[arm] - h) & (CHUNK - 1)) == CHUNK - 1:
            state.walk[arm] = state.before[state.walk[arm]]


@shared
def least_pulled(state: Any, count: Any) -> Any:
    """The least pulled of the arms that are left, the first if several.

    With prompt rewards it is the one with the fewest; where rewards are late, no arm is pulled
    again and again for those that it waits for.
    """
    least = state.kept[0]
    for k in range(1, count):
        if state.pulls[state.kept[k]] < state.pulls[least]:
            least = state.kept[k]
    return least


def select(params: Params, state: State, draw: Any) -> int:
    """Filter on the windows 1, 2, ... until one arm is left or one has too few rewards."""
    t = state.time[0] + 1
    state.time[0] = t
    scale = params.scale * math.sqrt(math.log(t))
    count = state.pulls.size
    shortest = state.observed[0]
    for i in range(count):
        state.kept[i] = i
        state.walk[i] = state.last[i]
        shortest = min(shortest, state.observed[i])
    h = 1
    while count > 1 and shortest >= h:
        step = 1
        last = h + CHUNK - 1
        if last <= shortest and _nobody_goes(state, count, h, shortest, scale / params.root[last]):
            step = CHUNK
        else:
            left = _filter(state, count, h, scale / params.root[h])
            if left < count:
                count = left
                shortest = state.observed[state.kept[0]]
                for k in range(1, count):
                    shortest = min(shortest, state.observed[state.kept[k]])
        h += step
        if shortest >= h:
            _walk_on(state, count, step, h)
    arm = least_pulled(state, count)
    state.pulls[arm] += 1
    return arm


def update(params: Params, state: State, arm: int, pull: int, reward: float) -> None:
    """Remember the reward."""
    remember(state, arm, pull, reward)


def grow(params: Params, state: State, arms: int, capacity: int) -> State:
    """Room for more rewards."""
    grown: State = grow_history(state, arms, capacity)
    return grown


@dataclass(frozen=True)
class FEWA(Policy):
    """FEWA: filter the arms on the means of their last h rewards, h = 1, 2, ...

    Arms whose mean of h is more than 2 c_t(h) below the best are dropped, c_t(h) = sqrt(2 alpha
    sigma^2 ln t / h); when one arm is left it is played, and when one that is left has fewer than
    h rewards, the least pulled of those. A regret bound holds for alpha = 4; 0.06 is what its
    authors use in experiments. Seznec et al., "Rotting bandits are no harder than stochastic
    ones" (2019).

    >>> FEWA(sigma=0.5).online(["a", "b"], compiled=False).select().arm
    'a'
    """

    sigma: float
    alpha: float = 0.06

    verbs: ClassVar[Verbs] = Verbs(Params, State, init, select, update, grow)

    def __post_init__(self) -> None:
        object.__setattr__(self, "sigma", checks.number("sigma", self.sigma, above=0))
        object.__setattr__(self, "alpha", checks.number("alpha", self.alpha, above=0))

    def prepare(self, arms: int, horizon: int | None, reach: int) -> Params:
        """Tabulate square roots."""
        return Params(2.0 * math.sqrt(2.0 * self.alpha) * self.sigma, square_roots(reach))

    @classmethod
    def examples(cls) -> Sequence[Policy]:
        """The default, and the one of the theory."""
        return [cls(sigma=0.5), cls(sigma=0.5, alpha=4.0)]
