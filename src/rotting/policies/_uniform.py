"""Uniform random play, a yardstick that learns nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from rotting.kernel import random
from rotting.kernel.verbs import Inspection, Verbs
from rotting.policies._base import Policy
from rotting.policies.parts.arms import Arms, no_pulls
from rotting.policies.parts.openings import nth_open, open_arms

uniform = random.uniform


class Params(NamedTuple):
    """Just the number of arms."""

    arms: int  # how many


class State(NamedTuple):
    """Only what every policy counts."""

    arms: Arms  # pulls and rounds


def init(params: Params, arms: int, capacity: int) -> State:
    """No decision made."""
    return State(no_pulls(arms))


def choose(params: Params, state: State, draw: Any) -> int:
    """Any open arm, with equal probabilities."""
    arms, opening = state.arms.pulls.size, state.arms.opening
    place: int = nth_open(opening, arms, int(uniform(draw) * open_arms(opening, arms)))
    return place


def update(params: Params, state: State, arm: int, pull: int, reward: float) -> None:
    """Learn nothing."""


def inspect(params: Params, state: State, arm: int) -> Inspection:
    """Nothing is estimated."""
    return Inspection(rule="uniform")


@dataclass(frozen=True)
class Uniform(Policy):
    """Plays every arm with equal probability, whatever it earns.

    >>> player = Uniform().online(range(3), seed=1, compiled=False)
    >>> len({player.select().arm for _ in range(50)})
    3
    """

    tables: ClassVar[bool] = False
    grows: ClassVar[bool] = False
    verbs: ClassVar[Verbs] = Verbs(Params, State, init, choose, update, inspect=inspect)

    def prepare(self, arms: int, horizon: int | None, reach: int) -> Params:
        """Note the number of arms."""
        return Params(arms)
