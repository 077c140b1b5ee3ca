"""Two yardsticks that learn nothing: uniform random play and round robin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from rotting import random
from rotting.policies.base import IntArray, Policy, Verbs

uniform = random.uniform


class UniformParams(NamedTuple):
    """Just the number of arms."""

    arms: int


class RoundRobinParams(NamedTuple):
    """Just the number of arms."""

    arms: int


class State(NamedTuple):
    """How many decisions were made."""

    time: IntArray


def init(params: Any, arms: int, capacity: int) -> State:
    """No decision made."""
    return State(time=np.zeros(1, dtype=np.int64))


def select_uniform(params: UniformParams, state: State, draw: Any) -> int:
    """Any arm, with equal probabilities."""
    state.time[0] += 1
    return int(uniform(draw) * params.arms)


def select_in_turn(params: RoundRobinParams, state: State, draw: Any) -> int:
    """The arms in turn."""
    t = state.time[0]
    state.time[0] = t + 1
    return t % params.arms


def update(params: Any, state: State, arm: int, pull: int, reward: float) -> None:
    """Learn nothing."""


@dataclass(frozen=True)
class Uniform(Policy):
    """Plays every arm with equal probability, whatever it earns.

    >>> player = Uniform().online(range(3), seed=1, compiled=False)
    >>> len({player.select().arm for _ in range(50)})
    3
    """

    verbs: ClassVar[Verbs] = Verbs(UniformParams, State, init, select_uniform, update)

    def prepare(self, arms: int, horizon: int | None, reach: int) -> UniformParams:
        """Note the number of arms."""
        return UniformParams(arms)


@dataclass(frozen=True)
class RoundRobin(Policy):
    """Plays the arms in turn, whatever they earn.

    >>> player = RoundRobin().online("ab".split() + ["c"], compiled=False)
    >>> [player.select().arm for _ in range(3)]
    ['ab', 'c', 'ab']
    """

    verbs: ClassVar[Verbs] = Verbs(RoundRobinParams, State, init, select_in_turn, update)

    def prepare(self, arms: int, horizon: int | None, reach: int) -> RoundRobinParams:
        """Note the number of arms."""
        return RoundRobinParams(arms)
