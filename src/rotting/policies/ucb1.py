"""UCB1 (Auer, Cesa-Bianchi & Fischer 2002), a benchmark of the paper."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from rotting import checks
from rotting.policies.base import FloatArray, IntArray, Policy, Verbs
from rotting.policies.parts.padding import log_padding, padding_at, width_at, width_table
from rotting.policies.parts.ranking import argmax_padded, next_untried


class Params(NamedTuple):
    """What compiled code reads."""

    c: float
    padding: FloatArray  # sqrt(c ln t) at t
    widths: FloatArray  # 1 / sqrt(n) at n


class State(NamedTuple):
    """Per arm: pulls made, rewards observed, and what they add up to."""

    time: IntArray
    waiting: IntArray  # how many arms have no observed reward yet
    pulls: IntArray
    observed: IntArray
    total: FloatArray
    mean: FloatArray
    width: FloatArray  # 1 / sqrt(observed)


def init(params: Params, arms: int, capacity: int) -> State:
    """Nothing pulled, nothing observed."""
    return State(
        time=np.zeros(1, dtype=np.int64),
        waiting=np.full(1, arms, dtype=np.int64),
        pulls=np.zeros(arms, dtype=np.int64),
        observed=np.zeros(arms, dtype=np.int64),
        total=np.zeros(arms),
        mean=np.full(arms, -math.inf),
        width=np.zeros(arms),
    )


def select(params: Params, state: State, draw: Any) -> int:
    """Each arm once, then argmax of mean_i + sqrt(c ln t / N_i)."""
    t = state.time[0] + 1
    state.time[0] = t
    arm = -1
    if state.waiting[0] > 0:
        arm = next_untried(state.pulls, state.observed, 1)
    if arm < 0:
        arm = argmax_padded(state.mean, state.width, padding_at(params.padding, params.c, t))
    state.pulls[arm] += 1
    return arm


def update(params: Params, state: State, arm: int, pull: int, reward: float) -> None:
    """Add the reward to its arm's mean."""
    n = state.observed[arm] + 1
    state.observed[arm] = n
    if n == 1:
        state.waiting[0] -= 1
    state.total[arm] += reward
    state.mean[arm] = state.total[arm] / n
    state.width[arm] = width_at(params.widths, n)


@dataclass(frozen=True)
class UCB1(Policy):
    """Upper confidence bounds for arms that do not rot: argmax of mean_i + sqrt(c ln t / N_i).

    `c` is 2 as in Auer et al. 2002, Figure 1. t is the current round, N_i the arm's pulls. Ties go
    to the first arm.

    >>> UCB1().online(["a", "b"], compiled=False).select().arm
    'a'
    """

    c: float = 2.0

    verbs: ClassVar[Verbs] = Verbs(Params, State, init, select, update)

    def __post_init__(self) -> None:
        object.__setattr__(self, "c", checks.number("c", self.c, above=0))

    def prepare(self, arms: int, horizon: int | None, reach: int) -> Params:
        """Tabulate the padding."""
        return Params(self.c, log_padding(self.c, reach), width_table(reach))

    @classmethod
    def examples(cls) -> Sequence[Policy]:
        """The default and a bolder one."""
        return [cls(), cls(c=0.5)]
