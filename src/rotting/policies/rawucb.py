"""RAW-UCB (Seznec, Menard, Lazaric & Valko 2020) and RAW-UCB++: optimism over all windows.

The index of an arm is the least, over the windows h of its last rewards, of mean(h) + width(h, t).
It is found exactly: a chunk of windows is skipped when the line that its sums stay close to shows
that none of them is below the best found so far.

Only the pulled arm's windows change, but every width grows with t. What an arm's best window is
worth now bounds its index from above, so an arm is looked at again only when that bound leads: a
decision needs little more than one look.
"""

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

_CLOSE = 1e-9  # chunks within rounding of the best are looked at


class Params(NamedTuple):
    """width(h, t) = scale sqrt(L / h) with L = ln t, or what x = t / (hK) gives (`plus`)."""

    scale: float  # sqrt(2 alpha) sigma
    plus: bool
    power: float  # beta / alpha
    root: FloatArray  # sqrt(h) at h


class State(NamedTuple):
    """All observed rewards as running sums (see `rotting.policies.parts.history`); each best window.

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
    chunk: IntArray  # where each arm's best window starts: its chunk,
    start: IntArray  # and j, the rewards before it
    seen: IntArray  # the round in which it was found
    bound: FloatArray  # the arm's index, or more


def init(params: Params, arms: int, capacity: int) -> State:
    """Nothing pulled, nothing observed."""
    return State(
        *empty_history(arms, capacity),
        time=np.zeros(1, dtype=np.int64),
        chunk=np.zeros(arms, dtype=np.int64),
        start=np.zeros(arms, dtype=np.int64),
        seen=np.zeros(arms, dtype=np.int64),
        bound=np.full(arms, -math.inf),
    )


@shared
def _spread(params: Any, scale: Any, log_x: Any, h: Any) -> Any:
    """width(h) h, concave in h, so that over a range of windows it is least at an end.

    `scale` holds sqrt(ln t) already (RAW-UCB); for RAW-UCB++ `log_x` is ln(t / K).
    """
    if not params.plus:
        return scale * params.root[h]
    more = log_x - math.log(h)
    if more <= 0.0:
        return 0.0
    if params.power > 0.0:
        more += params.power * math.log1p(more)
    return scale * math.sqrt(h * more)


@shared
def _value(params: Any, state: Any, arm: Any, scale: Any, log_x: Any) -> Any:
    """What the arm's best window is worth now."""
    h = state.observed[arm] - state.start[arm]
    gained = state.total[arm] - state.sums[state.chunk[arm], state.start[arm] & (CHUNK - 1)]
    return (gained + _spread(params, scale, log_x, h)) / h


@shared
def find_window(params: Any, state: Any, arm: Any, scale: Any, log_x: Any) -> None:
    """Find the arm's best window, starting from the one it had."""
    n = state.observed[arm]
    total = state.total[arm]
    best = _value(params, state, arm, scale, log_x)
    chunk = state.last[arm]
    start = ((n - 1) // CHUNK) * CHUNK  # j of the chunk's first sum
    filled = n - start
    while chunk >= 0:
        longest = n - start
        look = True
        if filled == CHUNK:
            # is total - C_j + spread(h) >= best h for all of the chunk's windows?
            rise = state.slope[chunk] - best
            j = start + CHUNK - 1 if rise > 0.0 else start
            least = min(
                _spread(params, scale, log_x, longest),
                _spread(params, scale, log_x, longest - CHUNK + 1),
            )
            look = total - best * n - state.top[chunk] - rise * j + least < _CLOSE
        if look:
            for place in range(filled - 1, -1, -1):
                h = longest - place
                value = total - state.sums[chunk, place] + _spread(params, scale, log_x, h)
                if value < best * h:
                    best = value / h
                    state.chunk[arm] = chunk
                    state.start[arm] = start + place
        chunk = state.before[chunk]
        start -= CHUNK
        filled = CHUNK
    state.bound[arm] = best


def select(params: Params, state: State, draw: Any) -> int:
    """Each arm once, then the highest index; the first of them if several."""
    t = state.time[0] + 1
    state.time[0] = t
    arm = -1
    if state.waiting[0] > 0:
        arm = next_untried(state.pulls, state.observed, 1)
    if arm < 0:
        scale = params.scale
        log_x = 0.0
        if params.plus:
            log_x = math.log(t / state.pulls.size)
        else:
            scale *= math.sqrt(math.log(t))
        for i in range(state.pulls.size):
            if state.observed[i] > 0:
                state.bound[i] = _value(params, state, i, scale, log_x)
        while True:
            arm = 0
            for i in range(1, state.pulls.size):
                if state.bound[i] > state.bound[arm]:
                    arm = i
            if state.seen[arm] == t or state.observed[arm] == 0:
                break
            find_window(params, state, arm, scale, log_x)
            state.seen[arm] = t
    state.pulls[arm] += 1
    return arm


def update(params: Params, state: State, arm: int, pull: int, reward: float) -> None:
    """Remember the reward; the best window keeps its start."""
    remember(state, arm, pull, reward)
    if state.observed[arm] == 1:
        state.chunk[arm] = state.last[arm]


def grow(params: Params, state: State, arms: int, capacity: int) -> State:
    """Room for more rewards."""
    grown: State = grow_history(state, arms, capacity)
    return grown


def square_roots(reach: int) -> FloatArray:
    """sqrt(h) at index h, for h = 0..reach."""
    return np.sqrt(np.arange(reach + 1, dtype=np.float64))


@dataclass(frozen=True)
class RAWUCB(Policy):
    """RAW-UCB: argmax of min over h <= N_i of mean_i(h) + sqrt(2 alpha sigma^2 ln t / h).

    mean_i(h) is the mean of the arm's last h rewards. For rested and restless rotting, with a
    regret bound for alpha = 4; 1.4 is what its authors use in experiments. Nothing needs to be
    known but sigma. Ties go to the first arm. Seznec et al., "A single algorithm for both restless
    and rested rotting bandits" (2020).

    >>> RAWUCB(sigma=0.5).online(["a", "b"], compiled=False).select().arm
    'a'
    """

    sigma: float
    alpha: float = 1.4

    title: ClassVar[str] = "RAW-UCB"
    verbs: ClassVar[Verbs] = Verbs(Params, State, init, select, update, grow)

    def __post_init__(self) -> None:
        object.__setattr__(self, "sigma", checks.number("sigma", self.sigma, above=0))
        object.__setattr__(self, "alpha", checks.number("alpha", self.alpha, above=0))

    def prepare(self, arms: int, horizon: int | None, reach: int) -> Params:
        """Tabulate square roots."""
        return Params(math.sqrt(2.0 * self.alpha) * self.sigma, False, 0.0, square_roots(reach))

    @classmethod
    def examples(cls) -> Sequence[Policy]:
        """The default, and one that forgets sooner."""
        return [cls(sigma=0.5), cls(sigma=0.5, alpha=0.1)]


@dataclass(frozen=True)
class RAWUCBPP(Policy):
    """RAW-UCB++: RAW-UCB with the width sqrt(2 alpha sigma^2 / h ln(x (1 + ln x)^(beta / alpha))).

    x = max(1, t / (h K)): windows longer than t / K have no width. Strong on large gaps, heavy
    tails on small ones. Ties go to the first arm. Seznec's thesis (2020).
    """

    sigma: float
    alpha: float = 1.4
    beta: float = 0.0

    title: ClassVar[str] = "RAW-UCB++"
    verbs: ClassVar[Verbs] = RAWUCB.verbs

    def __post_init__(self) -> None:
        object.__setattr__(self, "sigma", checks.number("sigma", self.sigma, above=0))
        object.__setattr__(self, "alpha", checks.number("alpha", self.alpha, above=0))
        object.__setattr__(self, "beta", checks.number("beta", self.beta, least=0))

    def prepare(self, arms: int, horizon: int | None, reach: int) -> Params:
        """No tables: widths depend on t and h together."""
        scale = math.sqrt(2.0 * self.alpha) * self.sigma
        return Params(scale, True, self.beta / self.alpha, square_roots(1))

    @classmethod
    def examples(cls) -> Sequence[Policy]:
        """Both exponents."""
        return [cls(sigma=0.5), cls(sigma=0.5, alpha=0.4, beta=1.0)]
