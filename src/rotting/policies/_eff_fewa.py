"""EFF-FEWA (Seznec et al. 2019): FEWA's filter on windows whose lengths grow by a factor."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np

from rotting.kernel.arrays import FloatArray, IntArray
from rotting.kernel.state import Place
from rotting.kernel.verbs import Inspection, Verbs
from rotting.parameters import Positive
from rotting.policies._base import Policy
from rotting.policies.parts.arms import TIME, Arms, least_pulled, no_pulls, rewarded
from rotting.policies.parts.growing_windows import (
    Growing,
    Growth,
    add_to_windows,
    empty_windows,
    window_tables,
)
from rotting.policies.parts.openings import is_open


class Params(NamedTuple):
    """The windows, and twice their widths without the factor sqrt(ln t)."""

    lengths: IntArray  # w of each window
    root: FloatArray  # 1 / sqrt(w) of each
    scale: float  # 2 sqrt(2 alpha) sigma


class State(NamedTuple):
    arms: Arms  # pulls, rewards, rounds
    windows: Growing  # of each arm
    kept: Annotated[IntArray, Place("arms.pulls")]  # the arms that are left, in order


def init(params: Params, arms: int, capacity: int) -> State:
    windows = empty_windows(arms, params.lengths.size)
    return State(no_pulls(arms), windows, np.zeros(arms, dtype=np.int64))


def choose(params: Params, state: State, draw: Any) -> int:
    """Filter on the windows in turn until one arm is left or one has no current mean."""
    scale = params.scale * math.sqrt(math.log(state.arms.clock[TIME] + 1))
    full, current = state.windows.full, state.windows.current
    count = 0
    for i in range(full.size):
        if is_open(state.arms.opening, i):
            state.kept[count] = i
            count += 1
    j = 0
    while count > 1:
        best = -math.inf
        short = False
        for k in range(count):
            arm = state.kept[k]
            if full[arm] <= j:
                short = True
            elif current[arm, j] > best:
                best = current[arm, j]
        if short:
            break
        left = 0
        for k in range(count):
            arm = state.kept[k]
            if current[arm, j] >= best - scale * params.root[j]:
                state.kept[left] = arm
                left += 1
        count = left
        j += 1
    return least_pulled(state.arms.pulls, state.kept, count)


def update(params: Params, state: State, arm: int, pull: int, reward: float) -> None:
    n = rewarded(state.arms, arm, 1)
    add_to_windows(params.lengths, state.windows, arm, n, reward)


def inspect(params: Params, state: State, arm: int) -> Inspection:
    """The mean of all its rewards; a filter has no index."""
    n = state.arms.observed[arm]
    return Inspection(state.windows.total[arm] / n if n else None, rule="filtered")


@dataclass(frozen=True)
class EFFFEWA(Policy):
    """EFF-FEWA: FEWA's filter on windows that grow by a factor, in O(log t) time and memory an arm.

    The filter is that of `FEWA`, on the windows 1, m, m^2, ... (rounded up) instead of 1, 2, 3, ...
    (`rotting.policies.parts.growing_windows`). Rewards count in the order of their arrival. Of the
    arms that are left the least pulled is played, the first if several.

    Args:
        sigma: The standard deviation of a reward about its mean.
        alpha: The width of the filter; 0.06 is what FEWA's authors use in experiments.
        growth: The factor m between window lengths; closer to 1 is closer to `FEWA`, and slower.

    Reference: Seznec et al., "Rotting bandits are no harder than stochastic ones" (2019).

    >>> from rotting import policies
    >>> player = policies.EFFFEWA(sigma=0.5).online(["red", "blue"], compiled=False)
    >>> [player.select().arm for _ in range(2)]
    ['red', 'blue']
    """

    sigma: Positive
    alpha: Positive = 0.06
    growth: Growth = 2.0

    title: ClassVar[str] = "EFF-FEWA"
    verbs: ClassVar[Verbs] = Verbs(Params, State, init, choose, update, inspect=inspect)

    def prepare(self, arms: int, horizon: int | None, reach: int) -> Params:
        scale = 2.0 * math.sqrt(2.0 * self.alpha) * self.sigma
        return Params(*window_tables(self.growth, reach), scale)

    @classmethod
    def examples(cls) -> Sequence[Policy]:
        # both factors of the literature
        return [cls(sigma=0.5), cls(sigma=0.5, alpha=0.5, growth=1.1)]
