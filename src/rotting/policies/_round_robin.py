"""Round robin, a yardstick that learns nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np

from rotting.kernel.arrays import IntArray
from rotting.kernel.state import Place
from rotting.kernel.verbs import Inspection, Verbs
from rotting.policies._base import Policy
from rotting.policies.parts.arms import TIME, Arms, no_pulls
from rotting.policies.parts.openings import next_open


class Params(NamedTuple):
    arms: int  # how many


class State(NamedTuple):
    arms: Arms  # pulls and rounds
    last: Annotated[IntArray, Place("arms.pulls", least=-1)]  # the arm pulled last; -1: none was


def init(params: Params, arms: int, capacity: int) -> State:
    return State(no_pulls(arms), np.full(1, -1, dtype=np.int64))


def choose(params: Params, state: State, draw: Any) -> int:
    """The open arm that follows the one pulled last; after the last arm, the first."""
    arm: int = next_open(state.arms.opening, state.arms.pulls.size, state.last[0])
    return arm


def pulled(params: Params, state: State, arm: int) -> None:
    state.arms.pulls[arm] += 1
    state.arms.clock[TIME] += 1
    state.last[0] = arm


def update(params: Params, state: State, arm: int, pull: int, reward: float) -> None:
    """Learn nothing."""


def inspect(params: Params, state: State, arm: int) -> Inspection:
    return Inspection(rule="turn")


@dataclass(frozen=True)
class RoundRobin(Policy):
    """The arms in turn, whatever they earn: a yardstick that learns nothing.

    The next arm is the open one that follows the arm pulled last. A new arm waits for its turn and
    does not catch up.

    >>> from rotting import policies
    >>> player = policies.RoundRobin().online(["red", "blue"], compiled=False)
    >>> [player.select().arm for _ in range(3)]
    ['red', 'blue', 'red']
    """

    tables: ClassVar[bool] = False
    grows: ClassVar[bool] = False
    verbs: ClassVar[Verbs] = Verbs(Params, State, init, choose, update, pulled, inspect=inspect)

    def prepare(self, arms: int, horizon: int | None, reach: int) -> Params:
        return Params(arms)
