"""Sliding-window UCB (Garivier & Moulines 2011), a benchmark of the paper."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from rotting import checks
from rotting.compilable import shared
from rotting.policies.base import FloatArray, IntArray, Policy, Verbs
from rotting.policies.parts.padding import log_padding, padding_at
from rotting.policies.parts.ranking import argmax_padded, next_untried


class Params(NamedTuple):
    """The window and its padding, B sqrt(xi ln t) at t, for t up to tau."""

    tau: int
    c: float  # B^2 xi
    padding: FloatArray


class State(NamedTuple):
    """The last tau rounds in a ring, and their sums per arm. Memory: min(tau, T) rounds."""

    time: IntArray
    waiting: IntArray  # how many arms have no observed reward in the window
    pulls: IntArray  # pulls in the window
    observed: IntArray  # observed rewards in the window
    total: FloatArray
    mean: FloatArray
    width: FloatArray
    ever: IntArray  # pulls ever
    ring_arm: IntArray
    ring_pull: IntArray
    ring_reward: FloatArray  # NaN until observed


def init(params: Params, arms: int, capacity: int) -> State:
    """Nothing pulled, nothing observed."""
    ring = min(params.tau, capacity)
    return State(
        time=np.zeros(1, dtype=np.int64),
        waiting=np.full(1, arms, dtype=np.int64),
        pulls=np.zeros(arms, dtype=np.int64),
        observed=np.zeros(arms, dtype=np.int64),
        total=np.zeros(arms),
        mean=np.full(arms, -math.inf),
        width=np.zeros(arms),
        ever=np.zeros(arms, dtype=np.int64),
        ring_arm=np.zeros(ring, dtype=np.int64),
        ring_pull=np.zeros(ring, dtype=np.int64),
        ring_reward=np.full(ring, math.nan),
    )


@shared
def _refresh(state: Any, arm: Any) -> None:
    """Mean and width of an arm whose window has changed."""
    n = state.observed[arm]
    if n > 0:
        state.mean[arm] = state.total[arm] / n
        state.width[arm] = 1.0 / math.sqrt(n)
    else:
        state.mean[arm] = -math.inf
        state.width[arm] = 0.0


@shared
def _leave(state: Any, place: Any) -> None:
    """Let the oldest round go."""
    arm = state.ring_arm[place]
    reward = state.ring_reward[place]
    state.pulls[arm] -= 1
    if reward == reward:
        state.observed[arm] -= 1
        state.total[arm] -= reward
        if state.observed[arm] == 0:
            state.waiting[0] += 1
        _refresh(state, arm)
    state.ring_reward[place] = math.nan


@shared
def _sum_again(state: Any) -> None:
    """Add the totals up afresh, once a window, lest rounding piles up."""
    for i in range(state.total.size):
        state.total[i] = 0.0
    for place in range(state.ring_arm.size):
        reward = state.ring_reward[place]
        if reward == reward:
            state.total[state.ring_arm[place]] += reward
    for i in range(state.total.size):
        _refresh(state, i)


@shared
def enter(state: Any, tau: Any, t: Any, arm: Any) -> None:
    """The window of the next round: the oldest round leaves it, this one enters."""
    place = (t - 1) % state.ring_arm.size
    if t > tau:
        _leave(state, place)
        if place == 0:
            _sum_again(state)
    state.pulls[arm] += 1
    state.ever[arm] += 1
    state.ring_arm[place] = arm
    state.ring_pull[place] = state.ever[arm]
    state.ring_reward[place] = math.nan


def select(params: Params, state: State, draw: Any) -> int:
    """An arm absent from the window, else argmax of mean + B sqrt(xi ln min(t, tau) / N_tau)."""
    t = state.time[0] + 1
    state.time[0] = t
    arm = -1
    if state.waiting[0] > 0:
        arm = next_untried(state.pulls, state.observed, 1)
    if arm < 0:
        bonus = padding_at(params.padding, params.c, min(t, params.tau))
        arm = argmax_padded(state.mean, state.width, bonus)
    enter(state, params.tau, t, arm)
    return arm


@shared
def _place_of(state: Any, arm: Any, pull: Any) -> Any:
    """Where in the ring a pull is: the last round if its reward is prompt. -1 if it has left."""
    size = state.ring_arm.size
    newest = state.time[0] - 1
    for age in range(min(size, state.time[0])):
        place = (newest - age) % size
        if state.ring_arm[place] == arm and state.ring_pull[place] == pull:
            return place
    return -1


def update(params: Params, state: State, arm: int, pull: int, reward: float) -> None:
    """Credit the reward to its round, if that is still in the window."""
    place = _place_of(state, arm, pull)
    if place < 0:
        return
    state.ring_reward[place] = reward
    if state.observed[arm] == 0:
        state.waiting[0] -= 1
    state.observed[arm] += 1
    state.total[arm] += reward
    _refresh(state, arm)


def grow(params: Params, state: State, arms: int, capacity: int) -> State:
    """A longer ring, while it is shorter than the window (and so has not come round yet)."""
    ring = min(params.tau, capacity)
    old = state.ring_arm.size
    if ring <= old:
        return state
    larger = init(params, arms, capacity)
    larger.ring_arm[:old] = state.ring_arm
    larger.ring_pull[:old] = state.ring_pull
    larger.ring_reward[:old] = state.ring_reward
    return state._replace(
        ring_arm=larger.ring_arm, ring_pull=larger.ring_pull, ring_reward=larger.ring_reward
    )


@dataclass(frozen=True)
class SWUCB(Policy):
    """Sliding-window UCB: the best mean over the last tau rounds plus its padding.

    The padding is B sqrt(xi ln min(t, tau) / N_tau(i)), N_tau(i) the pulls of arm i in those
    rounds. B = 2 and xi = 1/2 are the constants with which the paper's Table 1 is reproduced; the
    paper does not state them. An arm absent from the window goes first; ties go to the first arm.
    A late reward is looked for in the window, which takes time in proportion to how late it is.
    """

    tau: int
    B: float = 2.0
    xi: float = 0.5

    verbs: ClassVar[Verbs] = Verbs(Params, State, init, select, update, grow)

    def __post_init__(self) -> None:
        object.__setattr__(self, "tau", checks.integer("tau", self.tau, least=1))
        object.__setattr__(self, "B", checks.number("B", self.B, above=0))
        object.__setattr__(self, "xi", checks.number("xi", self.xi, above=0))

    def prepare(self, arms: int, horizon: int | None, reach: int) -> Params:
        """Tabulate the padding."""
        c = self.B**2 * self.xi
        return Params(self.tau, c, log_padding(c, min(self.tau, reach)))

    @classmethod
    def examples(cls) -> Sequence[Policy]:
        """A window that fills early and one that never does."""
        return [cls(tau=50), cls(tau=10**9, B=1.0, xi=0.6)]
