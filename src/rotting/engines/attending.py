"""Whose decision it is: what a policy is told when a key of an audience comes.

A policy that counts by key (`Policy.by_key`) has counts of its own in its state's part `arms`. Any
other plays pooled: to it, all keys are one, and a pull has the number that it has for everybody.
"""

from __future__ import annotations

from typing import Any

from rotting.compilable import dispatched
from rotting.policies.parts.arms import Arms, next_pull
from rotting.policies.parts.exposures import JUDGED, KEY, NOBODY, Everybody, fades, turn_to
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
