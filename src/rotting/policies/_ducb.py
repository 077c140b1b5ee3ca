"""Discounted UCB (Kocsis & Szepesvari 2006; Garivier & Moulines 2011), as compared in the paper."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from rotting.kernel.compilable import shared
from rotting.kernel.state import Numbers, PositiveNumbers, Values
from rotting.kernel.verbs import Inspection, Verbs
from rotting.parameters import Positive, Probability
from rotting.policies._base import Policy
from rotting.policies.parts.argmax import argmax_padded
from rotting.policies.parts.arms import Arms, next_untried, no_pulls, rewarded
from rotting.policies.parts.inspection import padded

SMALLEST = 1e-10  # a unit smaller than this has all weights rescaled


class Params(NamedTuple):
    gamma: float  # the discount of a round
    B: float  # bound on the rewards
    xi: float  # the weight of exploration


class State(NamedTuple):
    """Discounted counts and sums in a common unit.

    All arms fade by the same factor at each round, so only one number fades, the unit; an arm's own
    numbers change only when it is pulled. The discounted count of an arm is weight * unit.
    """

    arms: Arms  # pulls and rewards; rounds are not counted
    unit: PositiveNumbers  # the present value of a weight of one: gamma^(rounds since rescaling)
    weight: Numbers  # of each arm's rewards
    all_weight: Numbers  # the sum of the arms' weights
    total: Numbers  # of each arm's weighted rewards
    mean: Values  # total / weight
    width: Numbers  # 1 / sqrt(weight)


def init(params: Any, arms: int, capacity: int) -> State:
    return State(
        arms=no_pulls(arms),
        unit=np.ones(1),
        weight=np.zeros(arms),
        all_weight=np.zeros(1),
        total=np.zeros(arms),
        mean=np.full(arms, -math.inf),
        width=np.zeros(arms),
    )


@shared
def _width(weight: Any) -> Any:
    """1 / sqrt(weight), finite for a weight that has faded to zero."""
    return 1.0 / math.sqrt(max(weight, 1e-300))


@shared
def _renew_unit(state: State) -> None:
    """Rescale all weights so that the unit is one again."""
    unit = state.unit[0]
    state.unit[0] = 1.0
    state.all_weight[0] *= unit
    for i in range(state.weight.size):
        state.weight[i] *= unit
        state.total[i] *= unit
        if state.arms.observed[i] > 0:
            state.width[i] = _width(state.weight[i])


@shared
def _bonus(params: Params, state: State) -> Any:
    """2 B sqrt(xi ln n_gamma), for widths in the common unit."""
    unit = state.unit[0]
    log_count = math.log(max(1.0, state.all_weight[0] * unit))
    return 2.0 * params.B * math.sqrt(params.xi * log_count / unit)


def choose(params: Params, state: State, draw: Any) -> int:
    """Each arm once, then argmax of mean + 2 B sqrt(xi ln n_gamma / N_gamma), all discounted."""
    arm = next_untried(state.arms, 1)
    if arm < 0:
        arm = argmax_padded(state.mean, state.width, _bonus(params, state), state.arms.opening)
    return arm


def pulled(params: Any, state: State, arm: int) -> None:
    """Count the pull; all weights fade. Rounds are not counted: the unit stands for time."""
    state.arms.pulls[arm] += 1
    state.unit[0] *= params.gamma
    if state.unit[0] < SMALLEST:
        _renew_unit(state)


def update(params: Any, state: State, arm: int, pull: int, reward: float) -> None:
    rewarded(state.arms, arm, 1)
    one = 1.0 / state.unit[0]
    state.all_weight[0] += one
    state.weight[arm] += one
    state.total[arm] += reward * one
    state.mean[arm] = state.total[arm] / state.weight[arm]
    state.width[arm] = _width(state.weight[arm])


def inspect(params: Params, state: State, arm: int) -> Inspection:
    return padded(state.mean[arm], state.width[arm], _bonus(params, state))


@dataclass(frozen=True)
class DUCB(Policy):
    """Discounted UCB: rewards fade by a factor each round, for means that change with time.

    Each arm once, then the arm with the highest

        mean_gamma(i) + 2 B sqrt(xi ln n_gamma / N_gamma(i))

    where N_gamma(i) = sum over past rounds s of gamma^(t-1-s) [arm i was pulled at s],
    mean_gamma(i) is the mean with the same weights, and n_gamma the sum of all N_gamma. Rewards
    fade by the round, also while their arm rests. A late reward counts in full from its arrival.
    Ties go to the first arm.

    Args:
        gamma: The discount of a round; rewards count for about 1 / (1 - gamma) rounds.
        B: A bound on the rewards.
        xi: The weight of exploration. B = 1 and xi = 1/2 reproduce Table 1 of Levine et al., which
            does not state them.

    Reference: Garivier & Moulines, "On Upper-Confidence Bound Policies for Switching Bandit
    Problems" (2011).

    >>> from rotting import policies
    >>> player = policies.DUCB(gamma=0.9).online(["red", "blue"], compiled=False)
    >>> for reward in (0.0, 1.0):
    ...     player.update(player.select(), reward)
    >>> player.select().arm
    'blue'
    """

    gamma: Probability
    B: Positive = 1.0
    xi: Positive = 0.5

    verbs: ClassVar[Verbs] = Verbs(Params, State, init, choose, update, pulled, inspect=inspect)

    def prepare(self, arms: int, horizon: int | None, reach: int) -> Params:
        return Params(self.gamma, self.B, self.xi)

    @classmethod
    def examples(cls) -> Sequence[Policy]:
        # a long memory, and a very short one, which rescales its weights often
        return [cls(gamma=0.999), cls(gamma=0.2, B=0.5, xi=0.6)]
