"""A mixture of three kinds of arms for audiences: it does not rot, it falls once, it falls."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from rotting.bandits._audience import HalfLife, Window, check_rest
from rotting.kernel import random
from rotting.kernel.arrays import FloatArray, IntArray
from rotting.kernel.compilable import shared
from rotting.kernel.state import Counts, Numbers
from rotting.kernel.verbs import CurvePoint, Inspection, Verbs
from rotting.policies._base import Policy
from rotting.policies.parts._cells import Cells, cell_of, cell_table, log_gamma, no_cells
from rotting.policies.parts.arms import Arms, next_pull, no_pulls, rewarded
from rotting.policies.parts.openings import is_open
from rotting.policies.parts.sampling import beta

uniform = random.uniform

_EVERY = 16  # rewards of zero after which an arm's models are weighed again
_FLAT, _STEP, _FALLS = 0.5, 0.25, 0.25  # prior weights of the three kinds


class Params(NamedTuple):
    """Where the cells are, and the prior weight of each model."""

    cell: IntArray  # of each pull number
    prior: FloatArray  # ln of the weights: flat, a step before each cell but the first, cells


class State(NamedTuple):
    """Rewards by cells, and how likely the models are."""

    arms: Arms  # pulls, rewards, rounds
    cells: Cells  # what was seen
    weight: Numbers  # [arm, model]: cumulative
    stale: Counts  # rewards since an arm's models were weighed


def init(params: Params, arms: int, capacity: int) -> State:
    """Nothing observed: the models are as likely as the prior says."""
    weight = np.cumsum(np.exp(params.prior))
    return State(
        arms=no_pulls(arms),
        cells=no_cells(arms),
        weight=np.tile(weight / weight[-1], (arms, 1)),
        stale=np.zeros(arms, dtype=np.int64),
    )


@shared
def _log_evidence(total: Any, count: Any) -> Any:
    """ln of the probability of these rewards in their order, the rate being uniform: a Beta."""
    return log_gamma(1.0 + total) + log_gamma(1.0 + (count - total)) - log_gamma(2.0 + count)


@shared
def _weigh(params: Params, state: State, arm: Any) -> None:
    """How likely each model is after what was seen of an arm."""
    count, total, weight = state.cells.count, state.cells.total, state.weight
    cells = count.shape[1]
    all_count, all_total, apart = 0, 0.0, 0.0
    for c in range(cells):
        all_count += count[arm, c]
        all_total += total[arm, c]
        apart += _log_evidence(total[arm, c], count[arm, c])
    weight[arm, 0] = params.prior[0] + _log_evidence(all_total, all_count)
    weight[arm, cells] = params.prior[cells] + apart
    before, earned = 0, 0.0
    for c in range(1, cells):
        before += count[arm, c - 1]
        earned += total[arm, c - 1]
        after = _log_evidence(all_total - earned, all_count - before)
        weight[arm, c] = params.prior[c] + _log_evidence(earned, before) + after
    highest = -math.inf
    for k in range(cells + 1):
        highest = max(highest, weight[arm, k])
    mass = 0.0
    for k in range(cells + 1):
        mass += math.exp(weight[arm, k] - highest)
        weight[arm, k] = mass
    for k in range(cells + 1):
        weight[arm, k] /= mass


@shared
def _drawn(params: Params, state: State, arm: Any, cell: Any, draw: Any) -> Any:
    """A draw from what the arm may be worth in a cell: a model first, then its rate there."""
    count, total = state.cells.count, state.cells.total
    last = count.shape[1]
    u = uniform(draw)
    k = 0
    while k < last and state.weight[arm, k] <= u:
        k += 1
    first, end = 0, last  # the cells that share the rate
    if k == last:
        value = 1.0
        for c in range(cell + 1):
            none = count[arm, c] - total[arm, c]
            value = min(value, beta(1.0 + total[arm, c], 1.0 + none, draw))
        return value
    if k > 0:
        first, end = (0, k) if cell < k else (k, last)
    n, earned = 0, 0.0
    for c in range(first, end):
        n += count[arm, c]
        earned += total[arm, c]
    return beta(1.0 + earned, 1.0 + (n - earned), draw)


def choose(params: Params, state: State, draw: Any) -> int:
    """The open arm with the highest draw for the cell of its next pull; the first if several."""
    best, highest = -1, -math.inf
    for i in range(state.stale.size):
        if is_open(state.arms.opening, i):
            cell = cell_of(params.cell, next_pull(state.arms, i))
            value = _drawn(params, state, i, cell, draw)
            if value > highest or best < 0:
                best, highest = i, value
    return best


def update(params: Params, state: State, arm: int, pull: int, reward: float) -> None:
    """Take the reward into its cell; weigh the models at a reward, or after 16 of zero."""
    rewarded(state.arms, arm, 1)
    cell = cell_of(params.cell, pull)
    state.cells.count[arm, cell] += 1
    state.cells.total[arm, cell] += min(max(reward, 0.0), 1.0)
    state.stale[arm] += 1
    if reward > 0.0 or state.stale[arm] >= _EVERY:
        state.stale[arm] = 0
        _weigh(params, state, arm)


def _moments(params: Params, state: State, arm: int, pull: int) -> tuple[float, float]:
    """Mean and standard deviation of the mixture; the falling kind by its cell alone."""
    cell = int(params.cell[min(pull, params.cell.size - 1)])
    count, total = state.cells.count[arm], state.cells.total[arm]
    weights = np.diff(state.weight[arm], prepend=0.0)
    first = second = 0.0
    for k, weight in enumerate(weights):
        if k == count.size:
            span = slice(cell, cell + 1)
        elif k == 0:
            span = slice(None)
        else:
            span = slice(0, k) if cell < k else slice(k, None)
        a, n = 1.0 + float(total[span].sum()), 2.0 + float(count[span].sum())
        mean = a / n
        first += weight * mean
        second += weight * (mean * mean + mean * (1.0 - mean) / (n + 1.0))
    return first, math.sqrt(max(0.0, second - first * first))


def curve(params: Params, state: State, arm: int, pull: int) -> CurvePoint | None:
    """Mean and twice the standard deviation of what that pull is worth; nothing without rewards."""
    if state.arms.observed[arm] == 0:
        return None
    mean, deviation = _moments(params, state, arm, pull)
    return CurvePoint(mean, max(0.0, mean - 1.96 * deviation), min(1.0, mean + 1.96 * deviation))


def inspect(params: Params, state: State, arm: int) -> Inspection:
    """What its next pull is worth, and the standard deviation of that."""
    mean, deviation = _moments(params, state, arm, next_pull(state.arms, arm))
    return Inspection(mean, deviation, rule="sampled")


@dataclass(frozen=True)
class Mixture(Policy):
    """Thompson sampling on three kinds of arms, weighed by evidence: for audiences and clicks.

    An arm does not rot (prior weight 1/2), falls once, before some cell of exposures (1/4), or has
    a separate rate in each cell (1/4). Rates have uniform priors; the kinds are weighed by the
    Beta-binomial probability of the rewards. For each open arm a kind is drawn, then the rate in
    the cell of its next pull; for separate rates, the least of the draws for that cell and those
    before. The highest draw is pulled; the first arm if several. Rewards outside [0, 1] count as
    the nearer end.

    Each arm learns alone, from all keys; `Fatigue` lets arms learn from each other as well. No
    bound is proved.

    Args:
        rest: How exposures fade: a `HalfLife` or a `Window`; None keeps them.

    >>> from rotting import policies
    >>> player = policies.Mixture().audience(["red", "blue"], compiled=False)
    >>> showing = player.select("ann")
    >>> player.update(showing, 1.0)
    >>> showing.pull
    1
    """

    rest: HalfLife | Window | None = None

    tables: ClassVar[bool] = False
    grows: ClassVar[bool] = False
    counts_by_key: ClassVar[bool] = True
    verbs: ClassVar[Verbs] = Verbs(
        Params, State, init, choose, update, inspect=inspect, curve=curve
    )

    def check(self) -> None:
        """Refuse a rest that is none."""
        check_rest(self.rest)

    def prepare(self, arms: int, horizon: int | None, reach: int) -> Params:
        """The cells and the prior."""
        steps = int(cell_table()[-1])
        prior = np.array([_FLAT, *[_STEP / steps] * steps, _FALLS])
        return Params(cell_table(), np.log(prior))

    @classmethod
    def examples(cls) -> Sequence[Policy]:
        """There is one."""
        return [cls()]
