"""SteadyUCB: RAW-UCB's windows, forgotten late and used boldly (ours; no proof)."""

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
from rotting.policies.parts.ranking import next_untried
from rotting.policies.rawucb import find_window, square_roots

LATER = 10.0  # added to t in ln t: the first rounds know little, and false alarms cost most


class Params(NamedTuple):
    """How to forget and how to explore; sigma is zero if unknown. See `SteadyUCB`."""

    sigma: float
    forget: float  # sqrt(2 alpha)
    explore: float  # sqrt(2 c)
    few: float
    plus: bool  # for `find_window`: RAW-UCB's widths
    power: float
    root: FloatArray  # sqrt(h) at h


class State(NamedTuple):
    """All observed rewards as running sums (see `rotting.policies.parts.history`); each arm's window.

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
    chunk: IntArray  # where each arm's window starts, as in RAW-UCB
    start: IntArray
    bound: FloatArray
    mean: FloatArray  # of the window
    width: FloatArray  # (1 + few / h) / sqrt(h)
    squares: FloatArray  # of each arm's rewards, for a sigma that is not known
    scatter: FloatArray  # each arm's squares about its mean, and their sum
    scattered: FloatArray


def init(params: Params, arms: int, capacity: int) -> State:
    """Nothing pulled, nothing observed."""
    return State(
        *empty_history(arms, capacity),
        time=np.zeros(1, dtype=np.int64),
        chunk=np.zeros(arms, dtype=np.int64),
        start=np.zeros(arms, dtype=np.int64),
        bound=np.zeros(arms),
        mean=np.full(arms, -math.inf),
        width=np.zeros(arms),
        squares=np.zeros(arms),
        scatter=np.zeros(arms),
        scattered=np.zeros(1),
    )


@shared
def _noise(params: Any, state: Any) -> Any:
    """Sigma, or its estimate: the pooled scatter of the arms' rewards about their means.

    Before there are as many rewards to spare as arms it is their mean square, which has the order
    of the noise or of the means.
    """
    if params.sigma > 0.0:
        return params.sigma
    spare = -state.pulls.size
    power = 0.0
    for i in range(state.pulls.size):
        spare += state.observed[i]
        power += state.squares[i]
    if spare < state.pulls.size:
        return math.sqrt(power / max(1, spare + state.pulls.size))
    return math.sqrt(state.scattered[0] / spare)


@shared
def choose_window(params: Any, state: Any, arm: Any, sigma: Any) -> None:
    """The arm's window, chosen anew, with its mean and the width of its padding."""
    n = state.observed[arm]
    if n == 1:
        state.chunk[arm] = state.last[arm]
    scale = params.forget * sigma * math.sqrt(math.log(state.time[0] + LATER))
    find_window(params, state, arm, scale, 0.0)
    h = n - state.start[arm]
    gained = state.total[arm] - state.sums[state.chunk[arm], state.start[arm] & (CHUNK - 1)]
    state.mean[arm] = gained / h
    state.width[arm] = (1.0 + params.few / h) / math.sqrt(h)


@shared
def best_window(params: Any, state: Any, sigma: Any) -> Any:
    """The arm whose window's mean plus padding is highest; the least pulled if several."""
    padding = params.explore * sigma * math.sqrt(math.log(state.time[0] + LATER))
    highest = -math.inf
    arm = 0
    for i in range(state.pulls.size):
        index = state.mean[i] + padding * state.width[i]
        # while nothing scatters, as with clicks before the first, all arms tie: share the turns
        fewer = index == highest and state.pulls[i] < state.pulls[arm]
        if index > highest or fewer:
            highest = index
            arm = i
    return arm


def select(params: Params, state: State, draw: Any) -> int:
    """Each arm once, then the window's mean plus its padding; the least pulled arm if several."""
    state.time[0] += 1
    arm = -1
    if state.waiting[0] > 0:
        arm = next_untried(state.pulls, state.observed, 1)
    if arm < 0:
        arm = best_window(params, state, _noise(params, state))
    state.pulls[arm] += 1
    return arm


def update(params: Params, state: State, arm: int, pull: int, reward: float) -> None:
    """Remember the reward, and choose the arm's window anew."""
    remember(state, arm, pull, reward)
    if params.sigma == 0.0:
        state.squares[arm] += reward * reward
        scatter = max(0.0, state.squares[arm] - state.total[arm] ** 2 / state.observed[arm])
        state.scattered[0] += scatter - state.scatter[arm]
        state.scatter[arm] = scatter
    choose_window(params, state, arm, _noise(params, state))


def grow(params: Params, state: State, arms: int, capacity: int) -> State:
    """Room for more rewards."""
    grown: State = grow_history(state, arms, capacity)
    return grown


@dataclass(frozen=True)
class SteadyUCB(Policy):
    """SteadyUCB: the mean of a window that gives up old rewards late, plus a small padding.

    An arm's window h minimises mean(h) + sqrt(2 alpha sigma^2 ln(t + 10) / h), chosen when a reward
    of it arrives: RAW-UCB's window, with an alpha so large that old rewards go only on strong
    evidence. The arm with the highest mean(h) + (1 + few / h) sqrt(2 c sigma^2 ln(t + 10) / h) is
    played. RAW-UCB has one constant for both jobs, 1.4; apart, forgetting can be careful and
    exploration bold. sigma=None estimates sigma from the arms' scatter, for rewards whose noise is
    not known, or, as with click rates, far below what their range allows.

    Found by experiment (`docs/league.md`); no bound is proved. Ties go to the least
    pulled arm, and then to the first.

    >>> SteadyUCB(sigma=0.5).online(["a", "b"], compiled=False).select().arm
    'a'
    """

    sigma: float | None
    alpha: float = 3.0
    c: float = 0.87
    few: float = 0.3

    title: ClassVar[str] = "SteadyUCB"
    verbs: ClassVar[Verbs] = Verbs(Params, State, init, select, update, grow)

    def __post_init__(self) -> None:
        if self.sigma is not None:
            object.__setattr__(self, "sigma", checks.number("sigma", self.sigma, above=0))
        object.__setattr__(self, "alpha", checks.number("alpha", self.alpha, above=0))
        object.__setattr__(self, "c", checks.number("c", self.c, above=0))
        object.__setattr__(self, "few", checks.number("few", self.few, least=0))

    def prepare(self, arms: int, horizon: int | None, reach: int) -> Params:
        """Tabulate square roots."""
        forget, explore = math.sqrt(2.0 * self.alpha), math.sqrt(2.0 * self.c)
        return Params(self.sigma or 0.0, forget, explore, self.few, False, 0.0, square_roots(reach))

    @classmethod
    def examples(cls) -> Sequence[Policy]:
        """Known noise, noise to estimate, and a hasty one."""
        return [cls(sigma=0.5), cls(sigma=None), cls(sigma=0.5, alpha=0.5, c=0.3, few=0.0)]
