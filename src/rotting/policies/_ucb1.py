"""UCB1 (Auer, Cesa-Bianchi & Fischer 2002), which the paper compares with."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from rotting.kernel.arrays import FloatArray
from rotting.kernel.state import Numbers, Values
from rotting.kernel.verbs import Inspection, Verbs
from rotting.parameters import Positive
from rotting.policies._base import Policy
from rotting.policies.parts.argmax import argmax_padded
from rotting.policies.parts.arms import TIME, Arms, next_untried, no_pulls, rewarded
from rotting.policies.parts.inspection import padded
from rotting.policies.parts.padding import log_padding, padding_at, width_at, width_table


class Params(NamedTuple):
    c: float  # the weight of exploration
    padding: FloatArray  # sqrt(c ln t) at t
    widths: FloatArray  # 1 / sqrt(n) at n


class State(NamedTuple):
    arms: Arms  # pulls, rewards, rounds
    total: Numbers  # of each arm's rewards
    mean: Values  # of each arm's rewards
    width: Numbers  # 1 / sqrt(observed)


def init(params: Params, arms: int, capacity: int) -> State:
    return State(no_pulls(arms), np.zeros(arms), np.full(arms, -math.inf), np.zeros(arms))


def choose(params: Params, state: State, draw: Any) -> int:
    """Each arm once, then argmax of mean_i + sqrt(c ln t / N_i)."""
    arm = next_untried(state.arms, 1)
    if arm < 0:
        bonus = padding_at(params.padding, params.c, state.arms.clock[TIME] + 1)
        arm = argmax_padded(state.mean, state.width, bonus, state.arms.opening)
    return arm


def update(params: Params, state: State, arm: int, pull: int, reward: float) -> None:
    n = rewarded(state.arms, arm, 1)
    state.total[arm] += reward
    state.mean[arm] = state.total[arm] / n
    state.width[arm] = width_at(params.widths, n)


def inspect(params: Params, state: State, arm: int) -> Inspection:
    bonus = padding_at(params.padding, params.c, state.arms.clock[TIME] + 1)
    return padded(state.mean[arm], state.width[arm], bonus)


@dataclass(frozen=True)
class UCB1(Policy):
    """UCB1: an upper confidence bound on the mean of all rewards, for arms that do not rot.

    Each arm once, then the arm with the highest

        mean_i + sqrt(c ln t / N_i)

    where mean_i is the mean of arm i's N_i rewards and t the current round. It keeps all rewards,
    so an arm that has fallen keeps a high mean for long: a baseline where arms rot. Ties go to the
    first arm.

    Args:
        c: The weight of exploration, for rewards in [0, 1]; 2 is the paper's.

    Reference: Auer, Cesa-Bianchi & Fischer, "Finite-time Analysis of the Multiarmed Bandit Problem"
    (2002), Figure 1.

    >>> from rotting import policies
    >>> player = policies.UCB1().online(["red", "blue"], compiled=False)
    >>> for reward in (0.0, 1.0):
    ...     player.update(player.select(), reward)
    >>> player.select().arm
    'blue'
    """

    c: Positive = 2.0

    tables: ClassVar[bool] = False
    grows: ClassVar[bool] = False
    verbs: ClassVar[Verbs] = Verbs(Params, State, init, choose, update, inspect=inspect)

    def prepare(self, arms: int, horizon: int | None, reach: int) -> Params:
        return Params(self.c, log_padding(self.c, reach), width_table(reach))

    @classmethod
    def examples(cls) -> Sequence[Policy]:
        return [cls(), cls(c=0.5)]
