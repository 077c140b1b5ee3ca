"""Playing a user's own online object in a simulation, at Python speed."""

from __future__ import annotations

import copy
from typing import Any

from rotting.bandits import Scenario
from rotting.policies.base import KINDS, Verbs


class Foreign:
    """Stands for params and state at once: a fresh copy of the user's object for each run."""

    def __init__(self, original: Any, arms: tuple[Any, ...]) -> None:
        self.original = original
        self.numbers = {label: number for number, label in enumerate(arms)}
        self.player: Any = None
        self.decision: Any = None


def wrap(player: Any, scenario: Scenario) -> Foreign:
    """Check a user's object and make it playable."""
    for verb in ("select", "update"):
        if not callable(getattr(player, verb, None)):
            raise ValueError(
                f"policy must be a rotting Policy or an object with select() and update(), "
                f"but {player!r} has no {verb}()"
            )
    arms = tuple(getattr(player, "arms", range(scenario.arm_count)))
    if len(arms) != scenario.arm_count:
        raise ValueError(
            f"policy must play the scenario's {scenario.arm_count} arms, got one with {len(arms)}"
        )
    return Foreign(player, arms)


def _begin(params: Foreign, state: Any, models: Any, constants: Any) -> None:
    params.player = copy.deepcopy(params.original)


def _select(params: Foreign, state: Any, draw: Any) -> int:
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


KINDS[Foreign] = Verbs(Foreign, tuple, lambda *_: (), _select, _update, reveal=_begin)
