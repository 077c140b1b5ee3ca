"""RAW-UCB (Seznec, Menard, Lazaric & Valko 2020) and RAW-UCB++: optimism over all windows.

The index of an arm is the least, over the windows h of its last rewards, of mean(h) + width(h, t).
It is found exactly (`parts.best_window`).

Only the pulled arm's windows change, but every width grows with t. The present value of an arm's
best window bounds its index from above, so an arm's windows are searched again only when that bound
leads: a decision needs little more than one search.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from rotting.kernel.compilable import shared
from rotting.kernel.state import Counts, Values
from rotting.kernel.verbs import Inspection, Verbs
from rotting.parameters import NonNegative, Positive
from rotting.policies._base import Policy
from rotting.policies.parts.argmax import first_open
from rotting.policies.parts.arms import (
    TIME,
    Arms,
    next_untried,
    no_pulls,
    rewarded,
    set_open_arms,
)
from rotting.policies.parts.best_window import (
    Widths,
    find_window,
    square_roots,
    window_sum,
    window_worth,
)
from rotting.policies.parts.history import History, Starts, empty_history, no_starts, remember
from rotting.policies.parts.openings import is_open, open_arms


class Params(NamedTuple):
    """The windows' widths, without the factor sqrt(2 alpha) sigma."""

    scale: float  # sqrt(2 alpha) sigma
    widths: Widths  # their dependence on h and t


class State(NamedTuple):
    """All observed rewards as running sums, and each arm's best window.

    Memory: two numbers per observed reward, as the rule looks at all windows.
    """

    arms: Arms  # pulls, rewards, rounds
    history: History  # all observed rewards
    starts: Starts  # where each arm's best window starts
    seen: Counts  # the round in which the best window was found
    bound: Values  # the arm's index, or more


def init(params: Params, arms: int, capacity: int) -> State:
    return State(
        arms=no_pulls(arms),
        history=empty_history(arms, capacity),
        starts=no_starts(arms),
        seen=np.zeros(arms, dtype=np.int64),
        bound=np.full(arms, -math.inf),
    )


@shared
def _scale(params: Params, state: State) -> Any:
    """The factor of all widths; RAW-UCB's includes sqrt(ln t)."""
    if params.widths.plus:
        return params.scale
    return params.scale * math.sqrt(math.log(state.arms.clock[TIME] + 1))


@shared
def _log_x(params: Params, state: State) -> Any:
    """ln(t / K) for the widths of RAW-UCB++."""
    if not params.widths.plus:
        return 0.0
    arms = open_arms(state.arms.opening, state.bound.size)
    return math.log((state.arms.clock[TIME] + 1) / arms)


def choose(params: Params, state: State, draw: Any) -> int:
    """Each arm once, then the highest index; the first of them if several."""
    arm = next_untried(state.arms, 1)
    if arm >= 0:
        return arm
    t = state.arms.clock[TIME] + 1
    scale, log_x = _scale(params, state), _log_x(params, state)
    opening = state.arms.opening
    history, starts, observed = state.history, state.starts, state.arms.observed
    for i in range(state.bound.size):
        if observed[i] > 0 and is_open(opening, i):
            state.bound[i] = window_worth(
                params.widths, history, starts, i, observed[i], scale, log_x
            )
    first = first_open(state.bound.size, opening)
    while True:
        arm = first
        for i in range(first + 1, state.bound.size):
            if state.bound[i] > state.bound[arm] and is_open(opening, i):
                arm = i
        if state.seen[arm] == t or observed[arm] == 0:
            return arm
        state.bound[arm] = find_window(
            params.widths, history, starts, arm, observed[arm], scale, log_x
        )
        state.seen[arm] = t


def update(params: Params, state: State, arm: int, pull: int, reward: float) -> None:
    """Keep the reward; the best window keeps its start until it is searched again."""
    n = rewarded(state.arms, arm, 1)
    remember(state.history, arm, n - 1, pull, reward)
    state.seen[arm] = 0
    if n == 1:
        state.starts.chunk[arm] = state.history.last[arm]


@shared
def set_open(params: Params, state: State, flags: Any) -> None:
    """All windows are searched again: RAW-UCB++'s widths depend on the number of open arms."""
    set_open_arms(state.arms, flags, 1)
    for i in range(flags.size):
        state.seen[i] = 0


def inspect(params: Params, state: State, arm: int) -> Inspection:
    """The mean and the padding of the window of least mean plus width."""
    n = state.arms.observed[arm]
    if n == 0:
        return Inspection()
    history, starts = state.history, state.starts
    scale, log_x = _scale(params, state), _log_x(params, state)
    index = find_window(params.widths, history, starts, arm, n, scale, log_x)
    mean = window_sum(history, starts, arm) / (n - starts.start[arm])
    return Inspection(mean, index - mean, index)


@dataclass(frozen=True)
class RAWUCB(Policy):
    """RAW-UCB: optimism over all windows of an arm's last rewards, for arms that rot in any way.

    Each arm once, then the arm with the highest

        min over h <= N_i of  mean_i(h) + sqrt(2 alpha sigma^2 ln t / h)

    where mean_i(h) is the mean of the arm's last h rewards. For rested and restless rotting: it
    needs nothing but sigma. Ties go to the first arm. Memory: two numbers per observed reward;
    `EFFRAWUCB` needs O(log t) an arm.

    Args:
        sigma: The standard deviation of a reward about its mean.
        alpha: The width of the bounds. A regret bound holds for 4; 1.4 is what its authors use in
            experiments.

    Reference: Seznec et al., "A single algorithm for both restless and rested rotting bandits"
    (2020).

    >>> from rotting import policies
    >>> player = policies.RAWUCB(sigma=0.5).online(["red", "blue"], compiled=False)
    >>> for reward in (0.0, 1.0):
    ...     player.update(player.select(), reward)
    >>> player.select().arm
    'blue'
    """

    sigma: Positive
    alpha: Positive = 1.4

    title: ClassVar[str] = "RAW-UCB"
    verbs: ClassVar[Verbs] = Verbs(
        Params, State, init, choose, update, set_open=set_open, inspect=inspect
    )

    def prepare(self, arms: int, horizon: int | None, reach: int) -> Params:
        widths = Widths(False, 0.0, square_roots(reach))
        return Params(math.sqrt(2.0 * self.alpha) * self.sigma, widths)

    @classmethod
    def examples(cls) -> Sequence[Policy]:
        # the default, and one that forgets sooner
        return [cls(sigma=0.5), cls(sigma=0.5, alpha=0.1)]


@dataclass(frozen=True)
class RAWUCBPP(Policy):
    """RAW-UCB++: RAW-UCB with widths that depend on t / h, so that long windows have none.

    As `RAWUCB`, with the width

        sqrt(2 alpha sigma^2 / h ln(x (1 + ln x)^(beta / alpha))),  x = max(1, t / (h K))

    where K is the number of open arms: windows longer than t / K have no width. Strong on large
    gaps, with heavy tails of the regret on small ones. Ties go to the first arm. Memory: two
    numbers per observed reward.

    Args:
        sigma: The standard deviation of a reward about its mean.
        alpha: The width of the bounds.
        beta: The exponent of the second logarithm; 0 leaves it out.

    Reference: Seznec's doctoral thesis (2020).

    >>> from rotting import policies
    >>> player = policies.RAWUCBPP(sigma=0.5).online(["red", "blue"], compiled=False)
    >>> for reward in (0.0, 1.0):
    ...     player.update(player.select(), reward)
    >>> player.select().arm
    'blue'
    """

    sigma: Positive
    alpha: Positive = 1.4
    beta: NonNegative = 0.0

    title: ClassVar[str] = "RAW-UCB++"
    verbs: ClassVar[Verbs] = RAWUCB.verbs

    def prepare(self, arms: int, horizon: int | None, reach: int) -> Params:
        # no tables: widths depend on t and h together
        scale = math.sqrt(2.0 * self.alpha) * self.sigma
        return Params(scale, Widths(True, self.beta / self.alpha, square_roots(1)))

    @classmethod
    def examples(cls) -> Sequence[Policy]:
        return [cls(sigma=0.5), cls(sigma=0.5, alpha=0.4, beta=1.0)]
