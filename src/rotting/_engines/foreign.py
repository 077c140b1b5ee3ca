"""Playing a user's own online object in a simulation, at Python speed."""

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
    """The params of a user's object: makes and holds the object that plays the present run."""

    def __init__(self, original: Any, arms: int, keyed: bool) -> None:
        self.original = original
        self.keyed = keyed  # whether it is told whose decision it is
        self.arms = arms
        self.player: Any = None
        self.numbers: dict[Any, int] = {}
        self.decision: Any = None

    def begin(self, draw: Any) -> None:
        """Make a fresh object for a run: a copy, or the result of the user's function of a seed."""
        if not _makes_players(self.original):
            self.player = copy.deepcopy(self.original)
        else:
            self.player = self.original(int(draw[0]))
            _check(self.player, self.arms)
        core: Any = getattr(self.player, "core", None)
        if hasattr(core, "redraw"):  # one of ours: each run has random numbers of its own
            core.redraw(draw)
        self.numbers = {label: n for n, label in enumerate(_labels(self.player, self.arms))}


class Nothing(NamedTuple):
    """The state: the object keeps its own."""


class Visited(NamedTuple):
    """The state in an audience: the current key."""

    arms: Arms


def wrap(player: Any, scenario: Scenario) -> tuple[Foreign, Nothing | Visited]:
    """Check a user's object, or function that makes one, and make it playable.

    In an audience its `select(key)` is told whose decision it is.
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
    """The attribute of a user's object that draws random numbers, which copies would repeat.

    None of a function that makes objects, and of a player of ours, which gets draws for each run.
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
    """The labels a player has for its arms; numbers unless it says otherwise."""
    labels = getattr(player, "arms", None)
    return tuple(labels) if isinstance(labels, (list, tuple)) else tuple(range(arms))


def _drop_player(params: Foreign, state: Any, models: Any, constants: Any) -> None:
    """A run begins: its first decision makes a fresh object."""
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
    """The object has counted its own pull; in an audience the key's is counted here."""
    if params.keyed:
        count_pull(params, state, arm)


KINDS[Foreign] = Verbs(
    Foreign, Nothing, lambda *_: Nothing(), _choose, _update, _pulled, set_truth=_drop_player
)
