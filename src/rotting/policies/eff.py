"""EFF-RAW-UCB and EFF-FEWA: the same rules on windows whose lengths grow by a factor."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from rotting import checks
from rotting.compilable import shared
from rotting.policies.base import FloatArray, IntArray, Policy, Verbs
from rotting.policies.fewa import least_pulled
from rotting.policies.parts.growing import add_reward, check_growth, empty_windows, lengths
from rotting.policies.parts.ranking import argmax_padded, next_untried


class Params(NamedTuple):
    """The windows, 1 / sqrt(w) of each, and the factor of sqrt(ln t / w) in the width."""

    lengths: IntArray
    root: FloatArray
    scale: float


class FewaParams(NamedTuple):
    """The same, for the filter."""

    lengths: IntArray
    root: FloatArray
    scale: float


class State(NamedTuple):
    """See `rotting.policies.parts.growing`; and each arm's best window, or the filter's survivors."""

    pulls: IntArray
    observed: IntArray
    waiting: IntArray
    total: FloatArray
    used: IntArray
    full: IntArray
    begin: IntArray
    before: FloatArray
    current: FloatArray
    time: IntArray
    kept: IntArray
    mean: FloatArray
    width: FloatArray  # 1 / sqrt(w) of the best window
    seen: IntArray  # the round in which it was found


def init(params: Any, arms: int, capacity: int) -> State:
    """Nothing pulled, nothing observed."""
    return State(
        *empty_windows(arms, params.lengths.size),
        time=np.zeros(1, dtype=np.int64),
        kept=np.zeros(arms, dtype=np.int64),
        mean=np.full(arms, -math.inf),
        width=np.zeros(arms),
        seen=np.zeros(arms, dtype=np.int64),
    )


@shared
def _look(params: Any, state: Any, arm: Any, scale: Any) -> None:
    """Find the window that is worth least; the shortest if several."""
    best = math.inf
    for j in range(state.full[arm]):
        value = state.current[arm, j] + scale * params.root[j]
        if value < best:
            best = value
            state.mean[arm] = state.current[arm, j]
            state.width[arm] = params.root[j]


def select(params: Params, state: State, draw: Any) -> int:
    """Each arm once, then the highest of the least; an arm's last best window bounds its index."""
    t = state.time[0] + 1
    state.time[0] = t
    arm = -1
    if state.waiting[0] > 0:
        arm = next_untried(state.pulls, state.observed, 1)
    if arm < 0:
        scale = params.scale * math.sqrt(math.log(t))
        while True:
            arm = argmax_padded(state.mean, state.width, scale)
            if state.seen[arm] == t or state.observed[arm] == 0:
                break
            _look(params, state, arm, scale)
            state.seen[arm] = t
    state.pulls[arm] += 1
    return arm


def update(params: Params, state: State, arm: int, pull: int, reward: float) -> None:
    """Let the windows grow; what the best one is worth may have changed."""
    add_reward(params.lengths, state, arm, reward)
    # an index above all others makes the next decision look at this arm's windows
    state.mean[arm] = math.inf


def filter_select(params: FewaParams, state: State, draw: Any) -> int:
    """FEWA's filter on the windows in turn."""
    t = state.time[0] + 1
    state.time[0] = t
    scale = params.scale * math.sqrt(math.log(t))
    count = state.pulls.size
    for i in range(count):
        state.kept[i] = i
    j = 0
    while count > 1:
        best = -math.inf
        short = False
        for k in range(count):
            arm = state.kept[k]
            if state.full[arm] <= j:
                short = True
            elif state.current[arm, j] > best:
                best = state.current[arm, j]
        if short:
            break
        left = 0
        for k in range(count):
            arm = state.kept[k]
            if state.current[arm, j] >= best - scale * params.root[j]:
                state.kept[left] = arm
                left += 1
        count = left
        j += 1
    arm = least_pulled(state, count)
    state.pulls[arm] += 1
    return arm


def filter_update(params: FewaParams, state: State, arm: int, pull: int, reward: float) -> None:
    """Let the windows grow."""
    add_reward(params.lengths, state, arm, reward)


def _tables(growth: float, reach: int) -> tuple[IntArray, FloatArray]:
    found = lengths(growth, reach)
    return found, 1.0 / np.sqrt(found.astype(np.float64))


def grow(params: Any, state: State, arms: int, capacity: int) -> State:
    """Room for longer windows."""
    larger = empty_windows(arms, params.lengths.size)
    old = state.begin.shape[1]
    if params.lengths.size <= old:
        return state
    for name in ("begin", "before", "current"):
        getattr(larger, name)[:, :old] = getattr(state, name)
    return state._replace(begin=larger.begin, before=larger.before, current=larger.current)


@dataclass(frozen=True)
class EFFRAWUCB(Policy):
    """EFF-RAW-UCB: RAW-UCB on windows that grow by a factor, O(log t) time and memory an arm.

    argmax of the least of mean + sqrt(2 alpha sigma^2 ln t / w) over the windows w that have a
    current mean (`rotting.policies.parts.growing`). growth = 1.1 is close to RAW-UCB, 2 is faster.
    Ties go to the first arm. Seznec et al. (2020).

    >>> EFFRAWUCB(sigma=0.5).online(["a", "b"], compiled=False).select().arm
    'a'
    """

    sigma: float
    alpha: float = 1.4
    growth: float = 1.1

    title: ClassVar[str] = "EFF-RAW-UCB"
    verbs: ClassVar[Verbs] = Verbs(Params, State, init, select, update, grow)

    def __post_init__(self) -> None:
        object.__setattr__(self, "sigma", checks.number("sigma", self.sigma, above=0))
        object.__setattr__(self, "alpha", checks.number("alpha", self.alpha, above=0))
        object.__setattr__(self, "growth", check_growth(self.growth))

    def prepare(self, arms: int, horizon: int | None, reach: int) -> Params:
        """Lay out the windows."""
        return Params(*_tables(self.growth, reach), math.sqrt(2.0 * self.alpha) * self.sigma)

    @classmethod
    def examples(cls) -> Sequence[Policy]:
        """Both factors of the literature."""
        return [cls(sigma=0.5), cls(sigma=0.5, alpha=0.2, growth=2.0)]


@dataclass(frozen=True)
class EFFFEWA(Policy):
    """EFF-FEWA: FEWA's filter on windows that grow by a factor, O(log t) time and memory an arm.

    See `FEWA` for the filter and `rotting.policies.parts.growing` for the windows. Seznec et al.
    (2019).
    """

    sigma: float
    alpha: float = 0.06
    growth: float = 2.0

    title: ClassVar[str] = "EFF-FEWA"
    verbs: ClassVar[Verbs] = Verbs(FewaParams, State, init, filter_select, filter_update, grow)

    def __post_init__(self) -> None:
        object.__setattr__(self, "sigma", checks.number("sigma", self.sigma, above=0))
        object.__setattr__(self, "alpha", checks.number("alpha", self.alpha, above=0))
        object.__setattr__(self, "growth", check_growth(self.growth))

    def prepare(self, arms: int, horizon: int | None, reach: int) -> FewaParams:
        """Lay out the windows."""
        scale = 2.0 * math.sqrt(2.0 * self.alpha) * self.sigma
        return FewaParams(*_tables(self.growth, reach), scale)

    @classmethod
    def examples(cls) -> Sequence[Policy]:
        """Both factors of the literature."""
        return [cls(sigma=0.5), cls(sigma=0.5, alpha=0.5, growth=1.1)]
