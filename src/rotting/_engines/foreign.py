"""A user's own online object as a policy of a simulation, at Python speed."""

from __future__ import annotations

import copy
import random
from typing import Any, NamedTuple

import numpy as np

from rotting.bandits import Scenario
from rotting.kernel.verbs import KINDS, Verbs
from rotting.policies._base import Policy
from rotting.policies.parts.arms import Arms, count_pull, no_pulls
from rotting.policies.parts.exposures import present_key


class Foreign:
    """The params of a user's object: makes and holds the object that plays the current run."""

    def __init__(self, original: Any, arms: int, keyed: bool) -> None:
        self.original = original
        self.keyed = keyed  # whether `select` gets the key of the decision
        self.arms = arms
        self.player: Any = None
        self.numbers: dict[Any, int] = {}
        self.decision: Any = None

    def begin(self, draw: Any) -> None:
        """Make a new object for a run: a copy, or the result of the user's function of a seed."""
        if not _makes_players(self.original):
            self.player = copy.deepcopy(self.original)
        else:
            self.player = self.original(int(draw[0]))
            _check(self.player, self.arms)
        core: Any = getattr(self.player, "core", None)
        if hasattr(core, "redraw"):  # a player of this library: each run has its own random numbers
            core.redraw(draw)
        self.numbers = {label: n for n, label in enumerate(_labels(self.player, self.arms))}


class Nothing(NamedTuple):
    """The empty state: the object keeps its own."""


class Visited(NamedTuple):
    """The state in an audience: the current key."""

    arms: Arms


def wrap(player: Any, scenario: Scenario) -> tuple[Foreign, Nothing | Visited]:
    """Check a user's object, or function that makes one, and make it playable.

    In an audience `select(key)` gets the key of the decision.
    """
    if isinstance(player, type) and issubclass(player, Policy):
        raise ValueError(f"policy must be an instance, as {player.__name__}(...), got the class")
    if not _makes_players(player):
        _check(player, scenario.arm_count)
    if scenario.crowd is None:
        return Foreign(player, scenario.arm_count, False), Nothing()
    return Foreign(player, scenario.arm_count, True), Visited(no_pulls(scenario.arm_count))


def _makes_players(thing: Any) -> bool:
    """Whether this is a class or a function, not yet a player."""
    return isinstance(thing, type) or (callable(thing) and not hasattr(thing, "select"))


def generator_of(player: Any) -> str | None:
    """The name of a user's object's random generator, whose draws copies would repeat.

    None for a function that makes objects, and for a player of this library, which gets draws per
    run.
    """
    if isinstance(player, Policy) or _makes_players(player):
        return None
    kinds = (random.Random, np.random.Generator, np.random.RandomState)
    for name, value in getattr(player, "__dict__", {}).items():
        if isinstance(value, kinds) and not isinstance(value, random.SystemRandom):
            return str(name)
    return None


def _check(player: Any, arms: int) -> None:
    for verb in ("select", "update"):
        if not callable(getattr(player, verb, None)):
            raise ValueError(
                "policy must be a rotting Policy, an object with select() and update(), or a "
                f"function that makes one from a seed, but {player!r} has no {verb}()"
            )
    count = len(_labels(player, arms))
    if count != arms:
        raise ValueError(f"policy must play the scenario's {arms} arms, got one with {count}")


def _labels(player: Any, arms: int) -> tuple[Any, ...]:
    """The player's labels of its arms; numbers if it has none."""
    labels = getattr(player, "arms", None)
    return tuple(labels) if isinstance(labels, (list, tuple)) else tuple(range(arms))


def _drop_player(params: Foreign, state: Any, models: Any, constants: Any) -> None:
    """At the start of a run: its first decision makes a new object."""
    params.player = None


def _choose(params: Foreign, state: Any, draw: Any) -> int:
    if params.player is None:
        params.begin(draw)
    if params.keyed:
        params.decision = params.player.select(int(present_key(state.arms.exposure)))
    else:
        params.decision = params.player.select()
    arm = getattr(params.decision, "arm", params.decision)
    try:
        return params.numbers[arm]
    except (KeyError, TypeError):
        raise ValueError(
            f"select() must choose one of the arms {list(params.numbers)}, got {arm!r}"
        ) from None


def _update(params: Foreign, state: Any, arm: int, pull: int, reward: float) -> None:
    params.player.update(params.decision, float(reward))


def _pulled(params: Foreign, state: Any, arm: int) -> None:
    """In an audience, count the key's pull; without one the object has counted its own."""
    if params.keyed:
        count_pull(params, state, arm)


KINDS[Foreign] = Verbs(
    Foreign, Nothing, lambda *_: Nothing(), _choose, _update, _pulled, set_truth=_drop_player
)
