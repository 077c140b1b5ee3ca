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
    arms: int  # how many


class State(NamedTuple):
    arms: Arms  # pulls and rounds


def init(params: Params, arms: int, capacity: int) -> State:
    return State(no_pulls(arms))


def choose(params: Params, state: State, draw: Any) -> int:
    arms, opening = state.arms.pulls.size, state.arms.opening
    place: int = nth_open(opening, arms, int(uniform(draw) * open_arms(opening, arms)))
    return place


def update(params: Params, state: State, arm: int, pull: int, reward: float) -> None:
    """Learn nothing."""


def inspect(params: Params, state: State, arm: int) -> Inspection:
    return Inspection(rule="uniform")


@dataclass(frozen=True)
class Uniform(Policy):
    """Every open arm with equal probability: a yardstick that learns nothing.

    >>> from rotting import policies
    >>> player = policies.Uniform().online(["red", "blue", "green"], seed=1, compiled=False)
    >>> len({player.select().arm for _ in range(50)})
    3
    """

    tables: ClassVar[bool] = False
    grows: ClassVar[bool] = False
    verbs: ClassVar[Verbs] = Verbs(Params, State, init, choose, update, inspect=inspect)

    def prepare(self, arms: int, horizon: int | None, reach: int) -> Params:
        return Params(arms)
