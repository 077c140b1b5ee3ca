"""Discounted UCB (Kocsis & Szepesvari 2006; Garivier & Moulines 2011), a benchmark of the paper."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from rotting import checks
from rotting.compilable import shared
from rotting.policies.base import FloatArray, IntArray, Policy, Verbs
from rotting.policies.parts.ranking import argmax_padded, next_untried

SMALLEST = 1e-10  # when the unit has shrunk to this, weights are expressed anew


class Params(NamedTuple):
    """The discount and the constants of the padding."""

    gamma: float
    B: float
    xi: float


class State(NamedTuple):
    """Discounted counts and sums in a common unit.

    All arms fade by the same factor at each round, so one number fades, the unit; an arm's own
    numbers change only when it is pulled. The discounted count of an arm is weight * unit.
    """

    unit: FloatArray
    waiting: IntArray
    pulls: IntArray
    observed: IntArray
    weight: FloatArray
    all_weight: FloatArray
    total: FloatArray
    mean: FloatArray
    width: FloatArray  # 1 / sqrt(weight)


def init(params: Params, arms: int, capacity: int) -> State:
    """Nothing pulled, nothing observed."""
    return State(
        unit=np.ones(1),
        waiting=np.full(1, arms, dtype=np.int64),
        pulls=np.zeros(arms, dtype=np.int64),
        observed=np.zeros(arms, dtype=np.int64),
        weight=np.zeros(arms),
        all_weight=np.zeros(1),
        total=np.zeros(arms),
        mean=np.full(arms, -math.inf),
        width=np.zeros(arms),
    )


@shared
def _width(weight: Any) -> Any:
    """1 / sqrt(weight), finite for a weight that has faded to nothing."""
    return 1.0 / math.sqrt(max(weight, 1e-300))


@shared
def _renew_unit(state: Any) -> None:
    """Express all weights in the present unit."""
    unit = state.unit[0]
    state.unit[0] = 1.0
    state.all_weight[0] *= unit
    for i in range(state.weight.size):
        state.weight[i] *= unit
        state.total[i] *= unit
        if state.observed[i] > 0:
            state.width[i] = _width(state.weight[i])


@shared
def fade(state: Any, gamma: Any, arm: Any) -> None:
    """A round passes: the arm is pulled, and all weights fade."""
    state.pulls[arm] += 1
    state.unit[0] *= gamma
    if state.unit[0] < SMALLEST:
        _renew_unit(state)


def select(params: Params, state: State, draw: Any) -> int:
    """Each arm once, then argmax of mean + 2 B sqrt(xi ln n_gamma / N_gamma), all discounted."""
    arm = -1
    if state.waiting[0] > 0:
        arm = next_untried(state.pulls, state.observed, 1)
    if arm < 0:
        unit = state.unit[0]
        log_count = math.log(max(1.0, state.all_weight[0] * unit))
        bonus = 2.0 * params.B * math.sqrt(params.xi * log_count / unit)
        arm = argmax_padded(state.mean, state.width, bonus)
    fade(state, params.gamma, arm)
    return arm


def update(params: Params, state: State, arm: int, pull: int, reward: float) -> None:
    """Add the reward with weight one."""
    if state.observed[arm] == 0:
        state.waiting[0] -= 1
    state.observed[arm] += 1
    one = 1.0 / state.unit[0]
    state.all_weight[0] += one
    state.weight[arm] += one
    state.total[arm] += reward * one
    state.mean[arm] = state.total[arm] / state.weight[arm]
    state.width[arm] = _width(state.weight[arm])


@dataclass(frozen=True)
class DUCB(Policy):
    """Discounted UCB: argmax of the discounted mean plus 2 B sqrt(xi ln n_gamma / N_gamma(i)).

    N_gamma(i) = sum over past rounds s of gamma^(t-1-s) [arm i was pulled at s], n_gamma their sum
    over the arms. B = 1 and xi = 1/2 are the constants with which the paper's Table 1 is
    reproduced; the paper does not state them. A late reward counts in full from its arrival.
    Ties go to the first arm.
    """

    gamma: float
    B: float = 1.0
    xi: float = 0.5

    verbs: ClassVar[Verbs] = Verbs(Params, State, init, select, update)

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", checks.number("gamma", self.gamma, above=0, below=1))
        object.__setattr__(self, "B", checks.number("B", self.B, above=0))
        object.__setattr__(self, "xi", checks.number("xi", self.xi, above=0))

    def prepare(self, arms: int, horizon: int | None, reach: int) -> Params:
        """Take the constants as they are."""
        return Params(self.gamma, self.B, self.xi)

    @classmethod
    def examples(cls) -> Sequence[Policy]:
        """A long and a very short memory, which renews its unit often."""
        return [cls(gamma=0.999), cls(gamma=0.2, B=0.5, xi=0.6)]
