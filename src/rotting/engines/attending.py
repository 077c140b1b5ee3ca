"""Whose decision it is: what a policy is told when a key of an audience comes.

A policy that counts by key (`Policy.by_key`) has counts of its own in its state's part `arms`. Any
other plays pooled: to it, all keys are one, and a pull has the number that it has for everybody.

A player of an audience names a pull by its key's own count, which a policy that counts by key has
in its state, and the desk for one that plays pooled. Where there is no audience, all keys are zero,
all counts are the arms', and the compiler leaves the questions out.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rotting.compilable import dispatched
from rotting.engines.desk import FURTHEST, LAST_KEY
from rotting.policies.parts.arms import Arms, next_pull
from rotting.policies.parts.exposures import (
    JUDGED,
    KEY,
    NOBODY,
    Everybody,
    counts_by_key,
    fades,
    turn_to,
)
from rotting.verbs import rejudge


def is_keyed(state: Any) -> bool:
    """Whether a state counts by key."""
    arms = getattr(state, "arms", None)
    return isinstance(arms, Arms) and not isinstance(arms.exposure, Everybody)


def turn_and_judge(params: Any, state: Any, key: Any, time: Any) -> None:
    """`attend` of a policy that counts by key.

    What it keeps of each arm's next pull is that of the key which was present before, unless that
    was the same one.
    """
    exposure = state.arms.exposure
    turn_to(exposure, key, time)
    if fades(exposure) or exposure.present[JUDGED] != key:
        exposure.present[JUDGED] = key
        for i in range(state.arms.pulls.size):
            rejudge(params, state, i)


@dispatched
def attend(params: Any, state: Any, key: Any, time: Any) -> Any:
    """The next decision is this key's, in that round."""
    if is_keyed(state):
        turn_and_judge(params, state, key, time)


def present_again(state: Any, key: Any) -> None:
    """`recall` of a policy that counts by key: nothing fades, for nothing is shown."""
    present = state.arms.exposure.present
    if present[KEY] != key:
        present[KEY] = key
        present[JUDGED] = NOBODY


@dispatched
def recall(state: Any, key: Any) -> Any:
    """The next reward is that of a decision for this key, perhaps long ago."""
    if is_keyed(state):
        present_again(state, key)


def of_key(state: Any, pulls: Any, arm: Any) -> Any:
    """`told` for a policy that counts by key."""
    return next_pull(state.arms, arm)


@dispatched
def told(state: Any, pulls: Any, arm: Any) -> Any:
    """Which pull of the arm the next one is to the policy; `pulls` are those of everybody."""
    return of_key(state, pulls, arm) if is_keyed(state) else pulls[arm] + 1


ROW_KEY = 3  # the column of a batch's rows that has the key


def has_keys(state: Any, desk: Any) -> bool:
    """Whether a player is one of an audience."""
    return is_keyed(state) or counts_by_key(desk.exposure)


def exposure_of(state: Any, desk: Any) -> Any:
    """What each key of an audience was shown, wherever that is counted."""
    return state.arms.exposure if is_keyed(state) else desk.exposure


def key_of_row(state: Any, desk: Any, rows: Any, k: Any) -> Any:
    """`whose` in an audience."""
    return rows[k, ROW_KEY]


@dispatched
def whose(state: Any, desk: Any, rows: Any, k: Any) -> Any:
    """Whose row of a batch this is."""
    return key_of_row(state, desk, rows, k) if has_keys(state, desk) else 0


def shown_by_state(state: Any, desk: Any, key: Any, arm: Any) -> Any:
    """`showings` for a policy that counts by key."""
    return np.int64(state.arms.exposure.shown[key, arm])


def shown_by_desk(state: Any, desk: Any, key: Any, arm: Any) -> Any:
    """`showings` for a policy that plays pooled."""
    return np.int64(desk.exposure.shown[key, arm])


@dispatched
def showings(state: Any, desk: Any, key: Any, arm: Any) -> Any:
    """How often the arm was shown to the key, or pulled where there is no audience."""
    if is_keyed(state):
        return shown_by_state(state, desk, key, arm)
    if counts_by_key(desk.exposure):
        return shown_by_desk(state, desk, key, arm)
    return desk.pulls[arm]


def write_down_key(state: Any, desk: Any, key: Any, pull: Any) -> None:
    """`write_down` in an audience."""
    clock = desk.clock
    clock[LAST_KEY] = key
    if pull > clock[FURTHEST]:
        clock[FURTHEST] = pull


@dispatched
def write_down(state: Any, desk: Any, key: Any, pull: Any) -> Any:
    """Whose the latest decision is, and how far the pulls reach that the policy is told of."""
    if has_keys(state, desk):
        write_down_key(state, desk, key, pull)


def call_to_state(state: Any, desk: Any, key: Any, time: Any) -> None:
    """`call` for a policy that counts by key."""
    recall(state, key)
    turn_to(state.arms.exposure, key, time)


def call_to_desk(state: Any, desk: Any, key: Any, time: Any) -> None:
    """`call` for a policy that plays pooled."""
    turn_to(desk.exposure, key, time)


@dispatched
def call(state: Any, desk: Any, key: Any, time: Any) -> Any:
    """This key is shown something that nobody chooses: `attend` without judging all arms."""
    if is_keyed(state):
        call_to_state(state, desk, key, time)
    elif counts_by_key(desk.exposure):
        call_to_desk(state, desk, key, time)


# what is found by types: compiled code depends on all of it
BODIES = (
    *(turn_and_judge, present_again, of_key, key_of_row, shown_by_state, shown_by_desk),
    *(write_down_key, call_to_state, call_to_desk),
)
