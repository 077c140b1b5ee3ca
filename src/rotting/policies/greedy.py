"""Greedy on the last reward (Heidari, Kearns & Roth 2016), for rewards without noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from rotting.policies.base import FloatArray, IntArray, Policy, Verbs
from rotting.policies.parts.ranking import argmax
from rotting.policies.parts.tree import all_changed, empty_tree, note_change, untried, winner


class Params(NamedTuple):
    """Nothing to know but how many arms there are."""

    arms: int


class State(NamedTuple):
    """The last reward of each arm, and which pull it came from."""

    waiting: IntArray  # how many arms have no observed reward yet
    pulls: IntArray
    last_pull: IntArray  # 0 if nothing was observed
    last: FloatArray
    tree: IntArray  # see `rotting.policies.parts.tree`
    changed: IntArray


def init(params: Params, arms: int, capacity: int) -> State:
    """Nothing pulled, nothing observed."""
    return State(
        waiting=np.full(1, arms, dtype=np.int64),
        pulls=np.zeros(arms, dtype=np.int64),
        last_pull=np.zeros(arms, dtype=np.int64),
        last=np.full(arms, -math.inf),
        tree=empty_tree(arms),
        changed=all_changed(),
    )


def select(params: Params, state: State, draw: Any) -> int:
    """Each arm once, then the arm whose last reward was highest."""
    arm = -1
    if state.waiting[0] > 0:
        arm = untried(state.pulls, state.last_pull, state.waiting[0])
    if arm < 0:
        if state.tree.size > 1:
            arm = winner(state.tree, state.changed, state.last, state.pulls, False, draw)
        else:
            arm = argmax(state.last)
    state.pulls[arm] += 1
    return arm


def update(params: Params, state: State, arm: int, pull: int, reward: float) -> None:
    """Keep the reward, unless a later pull's is already here."""
    if state.last_pull[arm] == 0:
        state.waiting[0] -= 1
    if pull > state.last_pull[arm]:
        state.last_pull[arm] = pull
        state.last[arm] = reward
        note_change(state.changed, arm)


@dataclass(frozen=True)
class GreedyLast(Policy):
    """Plays the arm whose last reward was highest; each arm once before. Ties: the first arm.

    Without noise its regret is bounded by a constant (Heidari et al. 2016, Theorem 3).

    >>> player = GreedyLast().online(["a", "b"], compiled=False)
    >>> for reward in (0.5, 1.0, 0.4):
    ...     player.update(player.select(), reward)
    >>> player.select().arm
    'a'
    """

    title: ClassVar[str] = "Greedy"
    key: ClassVar[str] = "greedy"
    verbs: ClassVar[Verbs] = Verbs(Params, State, init, select, update)

    def prepare(self, arms: int, horizon: int | None, reach: int) -> Params:
        """Note the number of arms."""
        return Params(arms)
