"""Arms that open and close during a simulation: what happens in which round.

Where no arm ever closes, the loops are handed `NoEvents`, a type of its own: the compiler answers
the questions below once and for all, and nothing is left of them in the compiled loop.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rotting.arrays import IntArray
from rotting.bandits import Scenario
from rotting.compilable import by_type
from rotting.verbs import reopen


class NoEvents(NamedTuple):
    """No arm ever opens or closes."""


class Events(NamedTuple):
    """Who is open from which round on."""

    rounds: IntArray  # rising, the first is 1; a sentinel that no run reaches is last
    flags: IntArray  # [event, arm]: 1 if the arm is open from then on


def events_of(scenario: Scenario) -> Events | NoEvents:
    """What happens in every run of a scenario."""
    if not scenario.closes:
        return NoEvents()
    rounds, flags = scenario.changes()
    return Events(np.append(rounds, scenario.horizon + 1), flags)


@by_type("events")
def happen(events: Any, past: Any, t: Any, params: Any, state: Any) -> Any:
    """Tell the policy who is open from round t on, if that changes; gives the events so far."""
    return past


@happen.of(Events)
def _(events: Any, past: Any, t: Any, params: Any, state: Any) -> Any:
    if t == events.rounds[past]:
        reopen(params, state, events.flags[past])
        past += 1
    return past


@by_type("events")
def may_pull(events: Any, past: Any, arm: Any) -> Any:
    """Whether an arm is open after so many events."""
    return True


@may_pull.of(Events)
def _(events: Any, past: Any, arm: Any) -> Any:
    return events.flags[past - 1, arm] != 0
