"""SteadyUCB: RAW-UCB's windows, forgotten late and used boldly (ours; no proof)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from rotting.compilable import shared
from rotting.parameters import NonNegative, Positive
from rotting.policies.base import Policy
from rotting.policies.parts.arms import TIME, WAITING, Arms, next_untried, no_pulls, rewarded
from rotting.policies.parts.best_window import Widths, find_window, square_roots, window_sum
from rotting.policies.parts.history import History, Starts, empty_history, no_starts, remember
from rotting.policies.parts.noise_estimate import (
    SIGMA,
    Noise,
    count_difference,
    difference,
    first_reward,
    no_noise,
    nothing_differed,
)
from rotting.state import Numbers, Values
from rotting.verbs import Opinion, Verbs

LATER = 10.0  # added to t in ln t: the first rounds know little, and false alarms cost most
FAR = 1e4  # a first reward so many sigmas from zero is subtracted from all: sums keep digits


class Params(NamedTuple):
    """How to forget and how to explore. See `SteadyUCB`."""

    sigma: float  # zero if unknown
    forget: float  # sqrt(2 alpha)
    explore: float  # sqrt(2 c)
    few: float  # padding added to short windows
    widths: Widths  # RAW-UCB's


class State(NamedTuple):
    """All observed rewards as running sums, each arm's window, and what is known of the noise.

    Memory: two numbers per observed reward, as the rule looks at all windows.
    """

    arms: Arms  # pulls, rewards, rounds
    history: History  # all observed rewards, less the shift
    starts: Starts  # where each arm's window starts
    mean: Values  # of the window, less the shift
    width: Numbers  # (1 + few / h) / sqrt(h)
    shift: Numbers  # the first reward of all, or zero
    noise: Noise  # for a sigma that is not known


def init(params: Params, arms: int, capacity: int) -> State:
    """Nothing pulled, nothing observed."""
    return State(
        arms=no_pulls(arms),
        history=empty_history(arms, capacity),
        starts=no_starts(arms),
        mean=np.full(arms, -math.inf),
        width=np.zeros(arms),
        shift=np.zeros(1),
        noise=no_noise(arms),
    )


@shared
def _sigma(params: Params, state: State) -> Any:
    """Sigma, or its estimate."""
    return params.sigma if params.sigma > 0.0 else state.noise.totals[SIGMA]


@shared
def exploring(params: Params, state: State) -> Any:
    """sqrt(2 c sigma^2 ln(t + 10)) in the round t that is to be decided."""
    later = state.arms.clock[TIME] + 1 + LATER
    return params.explore * _sigma(params, state) * math.sqrt(math.log(later))


@shared
def index_of(state: State, arm: Any, padding: Any) -> Any:
    """What an arm is ranked by; `padding` is what `exploring` gives."""
    return state.mean[arm] + padding * state.width[arm]


def choose(params: Params, state: State, draw: Any) -> int:
    """Each arm once, then the window's mean plus its padding; the least pulled arm if several."""
    arm = next_untried(state.arms, 1)
    if arm >= 0:
        return arm
    padding = exploring(params, state)
    pulls = state.arms.pulls
    highest = -math.inf
    arm = 0
    for i in range(pulls.size):
        index = index_of(state, i, padding)
        # while nothing scatters, as with clicks before the first, all arms tie: share the turns
        fewer = index == highest and pulls[i] < pulls[arm]
        if index > highest or fewer:
            highest = index
            arm = i
    return arm


def update(params: Params, state: State, arm: int, pull: int, reward: float) -> None:
    """Remember the reward, and choose the arm's window anew."""
    n = rewarded(state.arms, arm, 1)
    history, starts, noise = state.history, state.starts, state.noise
    first = n == 1 and state.arms.clock[WAITING] == state.mean.size - 1  # of all rewards
    if first and abs(reward) > FAR * params.sigma:
        state.shift[0] = reward
    reward -= state.shift[0]
    remember(history, arm, n - 1, pull, reward)
    if n == 1:
        starts.chunk[arm] = history.last[arm]
    off, waits = 0.0, False  # the difference to the reward before; whether it is still to count
    if params.sigma == 0.0:
        if n == 1:
            first_reward(noise, arm, reward)
        else:
            off = difference(noise, history, arm, n, pull, reward)
            waits = not nothing_differed(noise)
            if not waits:  # it counts at once: beside a sigma of zero everything is a fall
                count_difference(noise, off, False)
    later = state.arms.clock[TIME] + LATER
    scale = params.forget * _sigma(params, state) * math.sqrt(math.log(later))
    find_window(params.widths, history, starts, arm, n, scale, 0.0)
    h = n - starts.start[arm]
    if waits:
        count_difference(noise, off, h == 1)
    state.mean[arm] = window_sum(history, starts, arm) / h
    state.width[arm] = (1.0 + params.few / h) / math.sqrt(h)


def look(params: Params, state: State, arm: int) -> Opinion:
    """The mean of its window, and the padding."""
    if state.arms.observed[arm] == 0:
        return Opinion()
    padding = exploring(params, state)
    index = index_of(state, arm, padding) + state.shift[0]
    return Opinion(state.mean[arm] + state.shift[0], padding * state.width[arm], index)


@dataclass(frozen=True)
class SteadyUCB(Policy):
    """SteadyUCB: the mean of a window that gives up old rewards late, plus a small padding.

    An arm's window h minimises mean(h) + sqrt(2 alpha sigma^2 ln(t + 10) / h), chosen when a reward
    of it arrives: RAW-UCB's window, with an alpha so large that old rewards go only on strong
    evidence. The arm with the highest mean(h) + (1 + few / h) sqrt(2 c sigma^2 ln(t + 10) / h) is
    played. RAW-UCB has one constant for both jobs, 1.4; apart, forgetting can be careful and
    exploration bold.

    sigma=None is for rewards whose noise is not known, or, as with click rates, far below what
    their range allows. sigma^2 is then half the mean square of the differences d between an arm's
    rewards of successive pulls, over all arms. A fall is not noise: where the window comes to start
    at the new reward, d^2 counts at most as the largest before it. Only the last two epochs count,
    of 16, 32, 64, ... differences, so that steep beginnings are forgotten; with m differences
    sigma^2 is taken 1 + 4 / m times as large. Constants added to all rewards change no decision,
    nor do factors. (`parts.noise_estimate`)

    Found by experiment (`docs/league.md`); no bound is proved. Ties go to the least
    pulled arm, and then to the first.

    >>> SteadyUCB(sigma=0.5).online(["a", "b"], compiled=False).select().arm
    'a'
    """

    sigma: Positive | None
    alpha: Positive = 3.0
    c: Positive = 0.87
    few: NonNegative = 0.3

    title: ClassVar[str] = "SteadyUCB"
    verbs: ClassVar[Verbs] = Verbs(Params, State, init, choose, update, look=look)

    def prepare(self, arms: int, horizon: int | None, reach: int) -> Params:
        """Tabulate square roots."""
        forget, explore = math.sqrt(2.0 * self.alpha), math.sqrt(2.0 * self.c)
        widths = Widths(False, 0.0, square_roots(reach))
        return Params(self.sigma or 0.0, forget, explore, self.few, widths)

    @classmethod
    def examples(cls) -> Sequence[Policy]:
        """Known noise, noise to estimate, and a hasty one."""
        return [cls(sigma=0.5), cls(sigma=None), cls(sigma=0.5, alpha=0.5, c=0.3, few=0.0)]
