"""Round robin, a yardstick that learns nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from rotting.policies.base import Policy
from rotting.state import Counts
from rotting.verbs import Verbs


class Params(NamedTuple):
    """Just the number of arms."""

    arms: int  # how many


class State(NamedTuple):
    """Only the rounds: nothing else is needed."""

    time: Counts  # rounds played


def init(params: Params, arms: int, capacity: int) -> State:
    """No decision made."""
    return State(np.zeros(1, dtype=np.int64))


def choose(params: Params, state: State, draw: Any) -> int:
    """The arms in turn."""
    return state.time[0] % params.arms


def pulled(params: Params, state: State, arm: int) -> None:
    """Count the round."""
    state.time[0] += 1


def update(params: Params, state: State, arm: int, pull: int, reward: float) -> None:
    """Learn nothing."""


@dataclass(frozen=True)
class RoundRobin(Policy):
    """Plays the arms in turn, whatever they earn.

    >>> player = RoundRobin().online("ab".split() + ["c"], compiled=False)
    >>> [player.select().arm for _ in range(3)]
    ['ab', 'c', 'ab']
    """

    tables: ClassVar[bool] = False
    verbs: ClassVar[Verbs] = Verbs(Params, State, init, choose, update, pulled)

    def prepare(self, arms: int, horizon: int | None, reach: int) -> Params:
        """Note the number of arms."""
        return Params(arms)
