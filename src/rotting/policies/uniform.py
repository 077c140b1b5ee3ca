"""Uniform random play, a yardstick that learns nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from rotting import random
from rotting.policies.base import Policy
from rotting.state import Counts
from rotting.verbs import Verbs

uniform = random.uniform


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
    """Any arm, with equal probabilities."""
    return int(uniform(draw) * params.arms)


def pulled(params: Params, state: State, arm: int) -> None:
    """Count the round."""
    state.time[0] += 1


def update(params: Params, state: State, arm: int, pull: int, reward: float) -> None:
    """Learn nothing."""


@dataclass(frozen=True)
class Uniform(Policy):
    """Plays every arm with equal probability, whatever it earns.

    >>> player = Uniform().online(range(3), seed=1, compiled=False)
    >>> len({player.select().arm for _ in range(50)})
    3
    """

    tables: ClassVar[bool] = False
    verbs: ClassVar[Verbs] = Verbs(Params, State, init, choose, update, pulled)

    def prepare(self, arms: int, horizon: int | None, reach: int) -> Params:
        """Note the number of arms."""
        return Params(arms)
