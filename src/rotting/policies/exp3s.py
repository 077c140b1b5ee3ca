"""Exp3.S (Auer, Cesa-Bianchi, Freund & Schapire 2002): exponential weights that can switch."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np

from rotting import checks, random
from rotting.parameters import Number, Real
from rotting.policies.base import Policy
from rotting.policies.parts.arms import Arms, no_pulls
from rotting.state import Numbers
from rotting.verbs import Verbs

uniform = random.uniform
_LARGE = 1e100  # a weight above this has all of them rescaled
_OUTSTANDING = 8  # pulls of an arm whose probabilities are remembered


class Params(NamedTuple):
    """Exploration, sharing, and where rewards lie."""

    gamma: float  # the share of uniform exploration
    alpha: float  # how much of all weight is shared out after a reward
    low: float  # the least reward
    high: float  # the highest reward


class State(NamedTuple):
    """Weights, and the probabilities with which the pulls that wait for a reward were chosen.

    Those are kept in a ring buffer, so that a reward later than that is credited with the
    probability of a later pull.
    """

    arms: Arms  # pulls and rounds
    weight: Numbers  # of each arm
    chance: Numbers  # [arm, pull mod size]


def init(params: Params, arms: int, capacity: int) -> State:
    """All arms alike."""
    return State(no_pulls(arms), np.ones(arms), np.ones((arms, _OUTSTANDING)))


def choose(params: Params, state: State, draw: Any) -> int:
    """Arm i with probability (1 - gamma) w_i / W + gamma / K."""
    arms = state.weight.size
    total = 0.0
    for i in range(arms):
        total += state.weight[i]
    u = uniform(draw)
    arm = -1
    reached = 0.0
    chance = 1.0
    while arm < arms - 1 and (reached <= u or arm < 0):
        arm += 1
        chance = (1.0 - params.gamma) * state.weight[arm] / total + params.gamma / arms
        reached += chance
    # for the arm's next pull, should it be this one
    state.chance[arm, (state.arms.pulls[arm] + 1) % state.chance.shape[1]] = chance
    return arm


def update(params: Params, state: State, arm: int, pull: int, reward: float) -> None:
    """w_i <- w_i exp(gamma x / (p K)) for the pulled arm; every arm gets e alpha / K of the sum."""
    arms = state.weight.size
    chance = state.chance[arm, pull % state.chance.shape[1]]
    x = (reward - params.low) / (params.high - params.low)
    x = min(1.0, max(0.0, x))
    total = 0.0
    for i in range(arms):
        total += state.weight[i]
    state.weight[arm] *= math.exp(params.gamma * x / (chance * arms))
    share = math.e * params.alpha / arms * total
    largest = 0.0
    for i in range(arms):
        state.weight[i] += share
        largest = max(largest, state.weight[i])
    if largest > _LARGE:
        for i in range(arms):
            state.weight[i] /= largest


@dataclass(frozen=True)
class EXP3S(Policy):
    """Exp3.S: for rewards of any kind that lie between `low` and `high` and may change at any time.

    Arm i is drawn with probability (1 - gamma) w_i / W + gamma / K; with x its reward scaled to
    [0, 1] (and cut off there), w_i <- w_i exp(gamma x / (p_i K)), and every weight grows by
    e alpha W / K. Rewards that are not bounded lose what is cut off.

    >>> EXP3S(gamma=0.1, alpha=1e-4).online(["a", "b"], seed=1, compiled=False).select().pull
    1
    """

    gamma: Annotated[float, Number(above=0, most=1)] = 0.05
    alpha: Annotated[float, Number(above=0, most=1)] = 1e-4
    low: Real = 0.0
    high: Real = 1.0

    title: ClassVar[str] = "Exp3.S"
    tables: ClassVar[bool] = False
    verbs: ClassVar[Verbs] = Verbs(Params, State, init, choose, update)

    def check(self) -> None:
        """Refuse a range that is empty."""
        checks.number("high", self.high, above=self.low)

    def prepare(self, arms: int, horizon: int | None, reach: int) -> Params:
        """Nothing to tabulate."""
        return Params(self.gamma, self.alpha, self.low, self.high)

    @classmethod
    def examples(cls) -> Sequence[Policy]:
        """The default, and a hasty one on a wider range."""
        return [cls(), cls(gamma=0.3, alpha=0.01, low=-0.5, high=1.5)]
