"""CellUCB: upper confidence bounds for cells of pull numbers, with a regret bound."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from rotting._checks import HUGE
from rotting.kernel.compilable import shared
from rotting.kernel.state import Counts, Numbers
from rotting.kernel.verbs import CurvePoint, Inspection, Verbs
from rotting.parameters import Count, Positive, Probability
from rotting.policies._base import Policy
from rotting.policies.parts.arms import Arms, next_pull, next_untried, no_pulls, rewarded
from rotting.policies.parts.inspection import certain
from rotting.policies.parts.ranking import Ranking, best, rank, set_open_ranked, unranked
from rotting.theory._audience import cell_scale

_NORMAL_95 = 1.96  # standard deviations on either side that hold 95 % of a normal distribution


class Params(NamedTuple):
    """The padding of a mean of n rewards is sigma sqrt(2 ln(scale n^2) / n)."""

    sigma: float  # of the noise
    scale: float  # `theory.audience.cell_scale`
    cells: int  # of each arm


class State(NamedTuple):
    """Rewards of each arm's cells, their bounds, and the arms ranked by these."""

    arms: Arms  # pulls, rewards, rounds
    rewards: Counts  # [arm, cell]: their number
    total: Numbers  # [arm, cell]: their sum
    bound: Numbers  # [arm, cell]: mean and padding; above any reward where there is none
    ranking: Ranking  # by the bound of the next pull


def init(params: Params, arms: int, capacity: int) -> State:
    shape = (arms, params.cells)
    return State(
        arms=no_pulls(arms),
        rewards=np.zeros(shape, dtype=np.int64),
        total=np.zeros(shape),
        bound=np.full(shape, HUGE),
        ranking=unranked(arms),
    )


@shared
def _cell(state: State, pull: Any) -> Any:
    """The cell of a pull number: one for each of the first, and the last for all others."""
    return min(pull, state.bound.shape[1]) - 1


@shared
def _tightest(state: State, arm: Any, cell: Any) -> Any:
    """The cell up to this one with the least bound; the first of them if several."""
    least = 0
    for c in range(1, cell + 1):
        if state.bound[arm, c] < state.bound[arm, least]:
            least = c
    return least


def choose(params: Params, state: State, draw: Any) -> int:
    arm = next_untried(state.arms, 1)
    if arm < 0:
        arm = best(state.ranking, state.arms.opening, draw)
    return arm


def update(params: Params, state: State, arm: int, pull: int, reward: float) -> None:
    rewarded(state.arms, arm, 1)
    cell = _cell(state, pull)
    n = state.rewards[arm, cell] + 1
    state.rewards[arm, cell] = n
    state.total[arm, cell] += reward
    padding = params.sigma * math.sqrt(2.0 * math.log(params.scale * n * n) / n)
    state.bound[arm, cell] = state.total[arm, cell] / n + padding
    refresh_score(params, state, arm)


@shared
def score(params: Params, state: State, arm: Any, pull: Any) -> Any:
    """The least bound of the pull's cell and those before it: means do not rise."""
    if state.arms.observed[arm] == 0:
        return -math.inf
    return state.bound[arm, _tightest(state, arm, _cell(state, pull))]


@shared
def refresh_score(params: Params, state: State, arm: Any) -> None:
    rank(state.ranking, arm, score(params, state, arm, next_pull(state.arms, arm)))


def inspect(params: Params, state: State, arm: int) -> Inspection:
    """The mean of the cell whose bound is the index, and its padding."""
    pull = next_pull(state.arms, arm)
    index = score(params, state, arm, pull)
    cell = _tightest(state, arm, _cell(state, pull))
    n = state.rewards[arm, cell]
    if n == 0:
        return certain(index)
    mean = state.total[arm, cell] / n
    return Inspection(mean, index - mean, index)


def curve(params: Params, state: State, arm: int, pull: int) -> CurvePoint | None:
    """The mean of the pull's own cell, and 95 % of a normal distribution about it."""
    cell = _cell(state, pull)
    n = int(state.rewards[arm, cell])
    if n == 0:
        return None
    mean, off = state.total[arm, cell] / n, _NORMAL_95 * params.sigma / math.sqrt(n)
    return CurvePoint(float(mean), float(mean - off), float(mean + off))


@dataclass(frozen=True)
class CellUCB(Policy):
    """Upper confidence bounds for cells of pull numbers: for audiences, with a regret bound.

    It needs no model of how arms rot. A key's first pulls of an arm (1, 2, ..., cells - 1) have a
    cell each, all later ones share the last. The bound of a cell is the mean of its n rewards, from
    all keys, plus

        sigma sqrt(2 ln(pi^2 cells n^2 / (3 delta)) / n)

    and the index of a pull is the least bound of its cell and those before it, since means do not
    rise. Each arm once, then the highest index; ties go to the first arm.
    `theory.audience_regret_bound` bounds its regret, and it explores as much as that bound needs.

    Args:
        sigma: The standard deviation of a reward about its mean.
        cells: Cells of each arm.
        delta: The probability that an arm's bounds ever fail.

    >>> from rotting import policies
    >>> player = policies.CellUCB(sigma=0.5).audience(["red", "blue"], compiled=False)
    >>> player.select("ann").arm
    'red'
    """

    sigma: Positive
    cells: Count = 10
    delta: Probability = 0.05

    title: ClassVar[str] = "CellUCB"
    tables: ClassVar[bool] = False
    grows: ClassVar[bool] = False
    verbs: ClassVar[Verbs] = Verbs(
        Params,
        State,
        init,
        choose,
        update,
        score=score,
        refresh_score=refresh_score,
        set_open=set_open_ranked,
        inspect=inspect,
        curve=curve,
    )

    def prepare(self, arms: int, horizon: int | None, reach: int) -> Params:
        return Params(self.sigma, cell_scale(self.cells, self.delta), self.cells)

    @classmethod
    def examples(cls) -> Sequence[Policy]:
        # wide bounds, and narrow ones of few cells
        return [cls(sigma=0.5), cls(sigma=0.3, cells=3, delta=0.5)]
