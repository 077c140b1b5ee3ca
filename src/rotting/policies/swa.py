"""SWA, Sliding-Window Average with a known horizon (Algorithm 1 of the paper)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from rotting import checks
from rotting.policies.base import FloatArray, IntArray, Policy, Verbs
from rotting.policies.parts.ranking import argmax, next_untried
from rotting.policies.parts.tree import all_changed, empty_tree, note_change, winner
from rotting.policies.parts.window import ROOM, empty_window, grow_window, observe
from rotting.theory.window import averaging_window


class Params(NamedTuple):
    """The window M."""

    arms: int
    window: int


class State(NamedTuple):
    """See `rotting.policies.parts.window`. Memory: the last M rewards of each arm."""

    pulls: IntArray
    base: IntArray
    observed: IntArray
    waiting: IntArray
    total: FloatArray
    mean: FloatArray
    newest: IntArray
    ring_pull: IntArray
    ring_reward: FloatArray
    time: IntArray
    tree: IntArray  # see `rotting.policies.parts.tree`
    changed: IntArray


def init(params: Params, arms: int, capacity: int) -> State:
    """Nothing pulled, nothing observed."""
    return State(
        *empty_window(arms, min(params.window, capacity)),
        time=np.zeros(1, dtype=np.int64),
        tree=empty_tree(arms),
        changed=all_changed(),
    )


def select(params: Params, state: State, draw: Any) -> int:
    """Ramp up: round robin for K M rounds. Balance: the best mean of the last M rewards."""
    t = state.time[0]
    state.time[0] = t + 1
    arm = -1
    if t < params.arms * params.window:
        arm = t % params.arms
    elif state.waiting[0] > 0:
        arm = next_untried(state.pulls, state.observed, 1)
    if arm < 0:
        if state.tree.size > 1:
            arm = winner(state.tree, state.changed, state.mean, state.pulls, False, draw)
        else:
            arm = argmax(state.mean)
    state.pulls[arm] += 1
    return arm


def update(params: Params, state: State, arm: int, pull: int, reward: float) -> None:
    """Put the reward into its arm's window."""
    observe(state, arm, pull, reward, params.window)
    note_change(state.changed, arm)


def grow(params: Params, state: State, arms: int, capacity: int) -> State:
    """Room for the window, while it is not yet full."""
    grown: State = grow_window(state, min(params.window, capacity))
    return grown


@dataclass(frozen=True)
class SWA(Policy):
    """Sliding-Window Average, Algorithm 1: play the arm with the best mean of its last M rewards.

    M = ceil(alpha 4^(2/3) sigma^(2/3) K^(-2/3) T^(2/3) ln^(1/3)(sqrt(2) T)), after a ramp-up that
    pulls each arm M times in turn. T is the scenario's horizon, or `.online(arms, horizon=T)`;
    played longer than T, it goes on with the same M. Theorem 3.1 bounds its regret; alpha =
    (2 max mu(1))^(-2/3) makes the bound smallest. Ties go to the first arm.
    """

    alpha: float
    sigma: float

    needs_horizon: ClassVar[bool] = True
    verbs: ClassVar[Verbs] = Verbs(Params, State, init, select, update, grow, room=ROOM)

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", checks.number("alpha", self.alpha, above=0))
        object.__setattr__(self, "sigma", checks.number("sigma", self.sigma, above=0))

    def prepare(self, arms: int, horizon: int | None, reach: int) -> Params:
        """Compute M."""
        assert horizon is not None
        return Params(arms, averaging_window(self.alpha, self.sigma, arms, horizon))

    @classmethod
    def examples(cls) -> Sequence[Policy]:
        """A short and a long window."""
        return [cls(alpha=0.02, sigma=0.5), cls(alpha=0.2, sigma=0.5)]
