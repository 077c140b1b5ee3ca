"""EFF-RAW-UCB (Seznec et al. 2020): RAW-UCB on windows whose lengths grow by a factor."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np

from rotting.kernel.arrays import FloatArray, IntArray
from rotting.kernel.compilable import shared
from rotting.kernel.state import Counts, Finite, Numbers
from rotting.kernel.verbs import Inspection, Verbs
from rotting.parameters import Positive
from rotting.policies._base import Policy
from rotting.policies.parts.argmax import argmax_padded
from rotting.policies.parts.arms import TIME, Arms, next_untried, no_pulls, rewarded
from rotting.policies.parts.growing_windows import (
    Growing,
    Growth,
    add_to_windows,
    empty_windows,
    window_tables,
)
from rotting.policies.parts.inspection import padded


class Params(NamedTuple):
    """The windows, and their widths without the factor sqrt(ln t)."""

    lengths: IntArray  # w of each window
    root: FloatArray  # 1 / sqrt(w) of each
    scale: float  # sqrt(2 alpha) sigma


class State(NamedTuple):
    arms: Arms  # pulls, rewards, rounds
    windows: Growing  # of each arm
    # of the best window; infinite if that is out of date
    mean: Annotated[FloatArray, Finite((-math.inf, math.inf))]
    width: Numbers  # 1 / sqrt(w) of the best window
    seen: Counts  # the round in which the best window was found


def init(params: Params, arms: int, capacity: int) -> State:
    return State(
        arms=no_pulls(arms),
        windows=empty_windows(arms, params.lengths.size),
        mean=np.full(arms, -math.inf),
        width=np.zeros(arms),
        seen=np.zeros(arms, dtype=np.int64),
    )


@shared
def _look(params: Params, state: State, arm: Any, scale: Any) -> None:
    """Find the window of least mean plus width; the shortest if several."""
    lowest = math.inf
    for j in range(state.windows.full[arm]):
        value = state.windows.current[arm, j] + scale * params.root[j]
        if value < lowest:
            lowest = value
            state.mean[arm] = state.windows.current[arm, j]
            state.width[arm] = params.root[j]


@shared
def _scale(params: Params, state: State) -> Any:
    """sqrt(2 alpha sigma^2 ln t) in the round that is to be decided."""
    return params.scale * math.sqrt(math.log(state.arms.clock[TIME] + 1))


def choose(params: Params, state: State, draw: Any) -> int:
    """Each arm once, then the highest of the least; an arm's last best window bounds its index."""
    arm = next_untried(state.arms, 1)
    if arm >= 0:
        return arm
    t = state.arms.clock[TIME] + 1
    scale = _scale(params, state)
    while True:
        arm = argmax_padded(state.mean, state.width, scale, state.arms.opening)
        if state.seen[arm] == t or state.arms.observed[arm] == 0:
            return arm
        _look(params, state, arm, scale)
        state.seen[arm] = t


def update(params: Params, state: State, arm: int, pull: int, reward: float) -> None:
    n = rewarded(state.arms, arm, 1)
    add_to_windows(params.lengths, state.windows, arm, n, reward)
    # an infinite index makes the next decision look at this arm's windows again
    state.mean[arm] = math.inf
    state.seen[arm] = 0


def inspect(params: Params, state: State, arm: int) -> Inspection:
    """The mean and the padding of the window of least mean plus width."""
    if state.arms.observed[arm] == 0:
        return Inspection()
    scale = _scale(params, state)
    _look(params, state, arm, scale)
    return padded(state.mean[arm], state.width[arm], scale)


@dataclass(frozen=True)
class EFFRAWUCB(Policy):
    """EFF-RAW-UCB: RAW-UCB on windows that grow by a factor, in O(log t) time and memory an arm.

    Each arm once, then the arm with the highest

        min over the windows w of  mean_i(w) + sqrt(2 alpha sigma^2 ln t / w)

    where the windows have the lengths 1, m, m^2, ... (rounded up), and mean_i(w) is that of w
    rewards in a row that ended less than w rewards ago (`rotting.policies.parts.growing_windows`).
    Rewards count in the order of their arrival. Ties go to the first arm.

    Args:
        sigma: The standard deviation of a reward about its mean.
        alpha: The width of the bounds; 1.4 is what RAW-UCB's authors use in experiments.
        growth: The factor m between window lengths; 1.1 is close to `RAWUCB`, 2 is faster.

    Reference: Seznec et al., "A single algorithm for both restless and rested rotting bandits"
    (2020).

    >>> from rotting import policies
    >>> player = policies.EFFRAWUCB(sigma=0.5).online(["red", "blue"], compiled=False)
    >>> for reward in (0.0, 1.0):
    ...     player.update(player.select(), reward)
    >>> player.select().arm
    'blue'
    """

    sigma: Positive
    alpha: Positive = 1.4
    growth: Growth = 1.1

    title: ClassVar[str] = "EFF-RAW-UCB"
    verbs: ClassVar[Verbs] = Verbs(Params, State, init, choose, update, inspect=inspect)

    def prepare(self, arms: int, horizon: int | None, reach: int) -> Params:
        return Params(*window_tables(self.growth, reach), math.sqrt(2.0 * self.alpha) * self.sigma)

    @classmethod
    def examples(cls) -> Sequence[Policy]:
        # both factors of the literature
        return [cls(sigma=0.5), cls(sigma=0.5, alpha=0.2, growth=2.0)]
