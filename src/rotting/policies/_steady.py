"""SteadyUCB: RAW-UCB's windows, forgotten late and used boldly (ours; no proof)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from rotting.kernel.compilable import shared
from rotting.kernel.state import Numbers, Values
from rotting.kernel.verbs import Inspection, Verbs
from rotting.parameters import NonNegative, Positive
from rotting.policies._base import Policy
from rotting.policies.parts.arms import (
    TIME,
    Arms,
    count_pull,
    next_untried,
    no_pulls,
    rewarded,
)
from rotting.policies.parts.milestones import (
    WINDOW,
    Milestones,
    add_late_reward,
    add_reward,
    find_window,
    no_milestones,
    window_mean,
)
from rotting.policies.parts.noise_estimate import (
    SIGMA,
    Noise,
    count_difference,
    difference,
    first_reward,
    no_noise,
    nothing_differed,
)
from rotting.policies.parts.openings import is_open, open_arms

LATER = 10.0  # added to t / K in ln: in the first rounds false alarms cost most
FAR = 1e4  # a first reward beyond this many sigmas is subtracted from all, for precision
PACE = 64  # the logarithm is updated when t has grown by a 64th

# Places among the numbers that belong to no arm.
OFF = 0  # what is subtracted from all rewards: the first of all, or zero
SETTLED = 1  # whether OFF is set
ROOT = 2  # sqrt(ln(t / K + 10))
DUE = 3  # the round t in which ROOT is updated


class Params(NamedTuple):
    """The noise, and the constants of forgetting and exploring. See `SteadyUCB`."""

    sigma: float  # zero if unknown
    forget: float  # sqrt(2 alpha)
    explore: float  # sqrt(2 c)
    few: float  # padding added to short windows


class State(NamedTuple):
    """Where windows may start, each arm's window, and the estimate of the noise.

    Memory: three numbers for each power of two up to the number of decisions, for each arm.
    """

    arms: Arms  # pulls, rewards, rounds
    milestones: Milestones  # running sums of the rewards, less the shift
    mean: Values  # of the window, less the shift
    width: Numbers  # (1 + few / h) / sqrt(h)
    shift: Numbers  # OFF and SETTLED, ROOT and DUE
    noise: Noise  # for an unknown sigma


def init(params: Params, arms: int, capacity: int) -> State:
    return State(
        arms=no_pulls(arms),
        milestones=no_milestones(arms, capacity),
        mean=np.full(arms, -math.inf),
        width=np.zeros(arms),
        shift=np.zeros(4),
        noise=no_noise(arms),
    )


@shared
def _sigma(params: Params, state: State) -> Any:
    """Sigma, or its estimate."""
    return params.sigma if params.sigma > 0.0 else state.noise.totals[SIGMA]


@shared
def exploring(params: Params, state: State) -> Any:
    """sqrt(2 c sigma^2 ln(t / K + 10))."""
    return params.explore * _sigma(params, state) * state.shift[ROOT]


@shared
def _width(state: State, arm: Any) -> Any:
    """(1 + few / h) / sqrt(h + w), w being the pulls since the latest one with a reward.

    A batch is decided before its rewards come; counting the pulls that wait keeps it from going to
    one arm.
    """
    waiting = state.arms.pulls[arm] - state.milestones.latest[arm]
    if waiting == 0:
        return state.width[arm]
    h = state.arms.observed[arm] - state.milestones.seen[arm, WINDOW]
    return state.width[arm] * math.sqrt(h / (h + waiting))


@shared
def index_of(state: State, arm: Any, padding: Any) -> Any:
    """The index of an arm; `padding` comes from `exploring`."""
    return state.mean[arm] + padding * _width(state, arm)


def choose(params: Params, state: State, draw: Any) -> int:
    """Each arm once, then the window's mean plus its padding; the least pulled arm if several."""
    arm = next_untried(state.arms, 1)
    if arm >= 0:
        return arm
    padding = exploring(params, state)
    pulls = state.arms.pulls
    highest = -math.inf
    for i in range(pulls.size):
        if is_open(state.arms.opening, i):
            index = index_of(state, i, padding)
            # while rewards do not vary, as with clicks before the first, all arms tie: take turns
            fewer = index == highest and (arm < 0 or pulls[i] < pulls[arm])
            if index > highest or fewer:
                highest = index
                arm = i
    return arm


def pulled(params: Params, state: State, arm: int) -> None:
    """Count the pull and the round, and update the logarithm when it is due."""
    count_pull(params, state, arm)
    t = state.arms.clock[TIME]
    if t >= state.shift[DUE]:
        arms = max(1, open_arms(state.arms.opening, state.mean.size))
        state.shift[ROOT] = math.sqrt(math.log(t / arms + LATER))
        state.shift[DUE] = t + 1 + t // PACE


def update(params: Params, state: State, arm: int, pull: int, reward: float) -> None:
    """Add the reward to the arm's running sums, and choose its window again."""
    n = rewarded(state.arms, arm, 1)
    milestones, noise = state.milestones, state.noise
    if state.shift[SETTLED] == 0.0:  # the first reward of all
        state.shift[SETTLED] = 1.0
        if abs(reward) > FAR * params.sigma:
            state.shift[OFF] = reward
    reward -= state.shift[OFF]
    late = pull < milestones.latest[arm]
    off, waits = 0.0, False  # the difference to the reward before; whether it is counted below
    if params.sigma == 0.0:
        if n == 1:
            first_reward(noise, arm, reward)
        elif not late:
            off = difference(noise, arm, reward)
            waits = not nothing_differed(noise)
            if not waits:  # it counts at once: with a sigma of zero any difference is a fall
                count_difference(noise, off, False)
    scale = params.forget * _sigma(params, state) * state.shift[ROOT]
    level = 0
    if late:
        add_late_reward(milestones, arm, pull, reward)
    else:
        level = add_reward(milestones, arm, n, pull, reward, state.mean[arm], scale)
    h = find_window(milestones, arm, n, level, scale)
    if waits:
        count_difference(noise, off, h == 1)
    state.mean[arm] = window_mean(milestones, arm, h)
    state.width[arm] = (1.0 + params.few / h) / math.sqrt(h)


def inspect(params: Params, state: State, arm: int) -> Inspection:
    if state.arms.observed[arm] == 0:
        return Inspection()
    padding = exploring(params, state)
    index = index_of(state, arm, padding) + state.shift[OFF]
    return Inspection(state.mean[arm] + state.shift[OFF], padding * _width(state, arm), index)


@dataclass(frozen=True)
class SteadyUCB(Policy):
    """SteadyUCB: the mean of a window that drops old rewards late, plus a small padding.

    The recommended policy where no family is known. Each arm once; then an arm's window h is the
    one of least mean(h) + sqrt(2 alpha sigma^2 L / h), and the arm with the highest

        mean(h) + (1 + few / h) sqrt(2 c sigma^2 L / h),  L = ln(t / K + 10)

    is played. RAW-UCB has one constant, 1.4, for both; with two, it can drop old rewards only on
    strong evidence (a large alpha) and still explore little (a small c). Windows are chosen when a
    reward of the arm arrives, and L is updated in the rounds 1, 2, ..., 64, 66, 68, ..., a 64th
    more each time. Ties go to the least pulled arm, and then to the first.

    Candidates are the windows from milestones: pulls, one for each power of two, that are placed
    where the arm seems to have fallen (`parts.milestones`). That takes O(log n) memory and a
    bounded time a reward. Late rewards count in the windows that their pulls belong to. The padding
    counts the pulls since the latest one with a reward too, sqrt(h + w) for sqrt(h), so decisions
    in batches spread over the arms that may be best.

    An unknown sigma is estimated: sigma^2 is half the mean square of the differences d between an
    arm's rewards of successive pulls, over all arms. A fall is not noise: where the window comes to
    start at the new reward, d^2 counts at most as the largest before it. Only the last two epochs
    count, of 16, 32, 64, ... differences, so that steep beginnings are forgotten; with m
    differences sigma^2 is taken 1 + 4 / m times as large. Then a constant added to all
    rewards, or a factor of them, changes no decision. (`parts.noise_estimate`)

    Found by experiment (`docs/guides/choosing.md`); no bound is proved.

    Args:
        sigma: The standard deviation of a reward about its mean. None estimates it; use that too
            where it is far below what the range of rewards allows, as with click rates.
        alpha: The evidence needed to drop old rewards.
        c: The weight of exploration.
        few: Extra padding for short windows.

    >>> from rotting import policies
    >>> player = policies.SteadyUCB(sigma=None).online(["red", "blue"], compiled=False)
    >>> for reward in (0.0, 1.0):
    ...     player.update(player.select(), reward)
    >>> player.select().arm
    'blue'
    """

    sigma: Positive | None
    alpha: Positive = 3.5
    c: Positive = 0.9
    few: NonNegative = 0.3

    title: ClassVar[str] = "SteadyUCB"
    tables: ClassVar[bool] = False
    grows: ClassVar[bool] = False
    verbs: ClassVar[Verbs] = Verbs(Params, State, init, choose, update, pulled, inspect=inspect)

    def prepare(self, arms: int, horizon: int | None, reach: int) -> Params:
        forget, explore = math.sqrt(2.0 * self.alpha), math.sqrt(2.0 * self.c)
        return Params(self.sigma or 0.0, forget, explore, self.few)

    @classmethod
    def examples(cls) -> Sequence[Policy]:
        # known noise, noise to estimate, and a hasty one
        return [cls(sigma=0.5), cls(sigma=None), cls(sigma=0.5, alpha=0.5, c=0.3, few=0.0)]
