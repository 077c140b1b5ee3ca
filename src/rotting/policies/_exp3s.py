"""Exp3.S (Auer, Cesa-Bianchi, Freund & Schapire 2002): exponential weights that can switch."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np

from rotting import _checks
from rotting.kernel import random
from rotting.kernel.arrays import IntArray
from rotting.kernel.compilable import seldom, shared
from rotting.kernel.state import Flags, Numbers, Place
from rotting.kernel.verbs import Inspection, Verbs
from rotting.parameters import Number, Real
from rotting.policies._base import Policy
from rotting.policies.parts.arms import TIME, Arms, no_pulls, set_open_arms
from rotting.policies.parts.openings import AllOpen, is_open, may_close, open_arms

uniform = random.uniform
_LARGE = 1e100  # a weight above this has all of them rescaled
_OUTSTANDING = 8  # the latest pulls of an arm whose probabilities are kept
_NO_ARM = -1  # none was chosen since the last pull or reward


class Params(NamedTuple):
    gamma: float  # the share of uniform exploration
    alpha: float  # the share of all weight that is shared out after a reward
    low: float  # the least reward
    high: float  # the highest reward


class State(NamedTuple):
    """Weights, and the probabilities with which the pulls that wait for a reward were chosen.

    Those lie in a ring buffer of `_OUTSTANDING` pulls an arm. A reward that comes later than that
    is credited with the probability of a later pull.
    """

    arms: Arms  # pulls and rounds
    weight: Numbers  # of each arm
    chance: Numbers  # [arm, pull mod size]
    chosen: Annotated[IntArray, Place("weight", least=_NO_ARM)]  # its next chance is known
    # arms that were open at a reward; not set where none ever closes
    joined: Flags


def init(params: Params, arms: int, capacity: int) -> State:
    return State(
        arms=no_pulls(arms),
        weight=np.ones(arms),
        chance=np.ones((arms, _OUTSTANDING)),
        chosen=np.full(1, _NO_ARM, dtype=np.int64),
        joined=np.zeros(arms, dtype=np.int64),
    )


@shared
def _all_weight(state: State) -> Any:
    """W, the weight of the open arms."""
    total = 0.0
    for i in range(state.weight.size):
        if is_open(state.arms.opening, i):
            total += state.weight[i]
    return total


@shared
def _chance(params: Params, state: State, arm: Any, total: Any) -> Any:
    """The probability of an arm, (1 - gamma) w_i / W + gamma / K."""
    arms = open_arms(state.arms.opening, state.weight.size)
    if arms == 0:  # all are retired, and history is recorded
        return 1.0
    return (1.0 - params.gamma) * state.weight[arm] / total + params.gamma / arms


def choose(params: Params, state: State, draw: Any) -> int:
    """Arm i with probability (1 - gamma) w_i / W + gamma / K."""
    total = _all_weight(state)
    u = uniform(draw)
    arm = -1
    reached = 0.0
    chance = 1.0
    for i in range(state.weight.size):
        if is_open(state.arms.opening, i):
            arm = i
            chance = _chance(params, state, i, total)
            reached += chance
            if reached > u:
                break
    # for the arm's next pull, should it be this one
    _note(state, arm, state.arms.pulls[arm] + 1, chance)
    state.chosen[0] = arm
    return arm


@shared
def _note(state: State, arm: Any, pull: Any, chance: Any) -> None:
    state.chance[arm, pull % state.chance.shape[1]] = chance


def pulled(params: Params, state: State, arm: int) -> None:
    """Count the pull and the round.

    A pull that `choose` did not return gets the probability with which it would be chosen now.
    """
    pull = state.arms.pulls[arm] + 1
    state.arms.pulls[arm] = pull
    state.arms.clock[TIME] += 1
    if state.chosen[0] != arm:
        chance = _chance(params, state, arm, _all_weight(state))
        _note(state, arm, pull, min(1.0, chance))  # of a closed arm it may be more
    state.chosen[0] = _NO_ARM


def set_propensity(params: Params, state: State, arm: int, pull: int, chance: float) -> None:
    _note(state, arm, pull, chance)


def update(params: Params, state: State, arm: int, pull: int, reward: float) -> None:
    """w_i <- w_i exp(gamma x / (p K)) for the pulled arm; every arm gets e alpha / K of the sum.

    K, the sum and the shares are those of the arms that are open now.
    """
    opening = state.arms.opening
    arms = max(1, open_arms(opening, state.weight.size))  # a late reward may find all retired
    chance = state.chance[arm, pull % state.chance.shape[1]]
    x = (reward - params.low) / (params.high - params.low)
    x = min(1.0, max(0.0, x))
    total = _all_weight(state)
    state.weight[arm] *= math.exp(params.gamma * x / (chance * arms))
    share = math.e * params.alpha / arms * total
    largest = 0.0
    for i in range(state.weight.size):
        if is_open(opening, i):
            state.weight[i] += share
        largest = max(largest, state.weight[i])
    if largest > _LARGE:
        for i in range(state.weight.size):
            state.weight[i] /= largest
    state.chosen[0] = _NO_ARM  # the weights have changed
    if may_close(opening):
        _join(state)


@shared
@seldom
def _join(state: State) -> None:
    """Mark the open arms as included in the weights."""
    for i in range(state.joined.size):
        if is_open(state.arms.opening, i):
            state.joined[i] = 1


@shared
@seldom
def _mean_weight(state: State, tried: Any) -> Any:
    """The mean weight of the open arms that have joined, or of the pulled ones among them.

    Zero if there are none.
    """
    total = 0.0
    count = 0
    for i in range(state.weight.size):
        known = is_open(state.arms.opening, i) and state.joined[i] == 1
        if known and (state.arms.pulls[i] > 0 or not tried):
            total += state.weight[i]
            count += 1
    return total / count if count > 0 else 0.0


@shared
def set_open(params: Params, state: State, flags: Any) -> None:
    """An arm that opens for the first time gets the mean weight of the open arms that were pulled.

    Its initial weight is out of date: all others have grown since, and may have been rescaled.
    """
    set_open_arms(state.arms, flags, 1)
    mean = _mean_weight(state, True)
    if mean == 0.0:
        mean = _mean_weight(state, False)
    if mean > 0.0:
        for i in range(flags.size):
            if flags[i] != 0 and state.joined[i] == 0:
                state.weight[i] = mean
                state.joined[i] = 1


def inspect(params: Params, state: State, arm: int) -> Inspection:
    """Its probability; Exp3.S estimates no rewards."""
    opening = state.arms.opening
    if not is_open(opening, arm):
        return Inspection(rule="chance")
    # one NumPy sum: a table of many arms calls this for every arm
    total = np.sum(state.weight if isinstance(opening, AllOpen) else state.weight * opening.flags)
    return Inspection(index=_chance(params, state, arm, total), rule="chance")


@dataclass(frozen=True)
class EXP3S(Policy):
    """Exp3.S: exponential weights that can switch, for bounded rewards that may change in any way.

    Arm i is drawn with probability p_i = (1 - gamma) w_i / W + gamma / K. After a reward of arm i,
    x when scaled from [low, high] to [0, 1],

        w_i <- w_i exp(gamma x / (p_i K)),  and every weight grows by e alpha W / K

    K and W are those of the open arms, and only their weights grow. An arm that comes later starts
    with the mean weight of the open arms that were pulled. Decisions are random, so there are no
    ties.

    Args:
        gamma: The share of uniform exploration.
        alpha: The share of all weight that is shared out after each reward: how fast it can switch.
        low: The smallest reward; smaller ones count as `low`.
        high: The largest reward; larger ones count as `high`.

    Reference: Auer, Cesa-Bianchi, Freund & Schapire, "The Nonstochastic Multiarmed Bandit Problem"
    (2002).

    >>> from rotting import policies
    >>> player = policies.EXP3S(gamma=0.1).online(["red", "blue"], seed=1, compiled=False)
    >>> for _ in range(200):
    ...     decision = player.select()
    ...     player.update(decision, 1.0 if decision.arm == "blue" else 0.0)
    >>> player.pulls["blue"] > 100
    True
    """

    gamma: Annotated[float, Number(above=0, most=1)] = 0.05
    alpha: Annotated[float, Number(above=0, most=1)] = 1e-4
    low: Real = 0.0
    high: Real = 1.0

    title: ClassVar[str] = "Exp3.S"
    tables: ClassVar[bool] = False
    grows: ClassVar[bool] = False
    verbs: ClassVar[Verbs] = Verbs(
        Params,
        State,
        init,
        choose,
        update,
        pulled,
        set_open=set_open,
        set_propensity=set_propensity,
        inspect=inspect,
    )

    def check(self) -> None:
        _checks.number("high", self.high, above=self.low)

    def prepare(self, arms: int, horizon: int | None, reach: int) -> Params:
        return Params(self.gamma, self.alpha, self.low, self.high)

    @classmethod
    def examples(cls) -> Sequence[Policy]:
        # the default, and a hasty one on a wider range
        return [cls(), cls(gamma=0.3, alpha=0.01, low=-0.5, high=1.5)]
