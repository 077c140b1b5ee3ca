"""Whose decision it is: what a policy is told when a key of an audience comes.

A policy that counts by key (`Policy.by_key`) has counts of its own in its state's part `arms`. Any
other plays pooled: to it, all keys are one, and a pull has the number that it has for everybody.

A player of an audience names a pull by its key's own count, which a policy that counts by key has
in its state, and the ledger for one that plays pooled. Where there is no audience, all keys are
zero, all counts are the arms', and the compiler leaves the questions out.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rotting.compilable import by_type, shared
from rotting.live.ledger import FURTHEST, LAST_KEY
from rotting.policies.parts.arms import Arms, next_pull
from rotting.policies.parts.exposures import (
    JUDGED,
    KEY,
    NOBODY,
    Everybody,
    Exposures,
    Fading,
    counts_by_key,
    fades,
    turn_to,
)
from rotting.verbs import rejudge


def is_keyed(state: Any) -> bool:
    """Whether a state counts by key."""
    arms = getattr(state, "arms", None)
    return isinstance(arms, Arms) and not isinstance(arms.exposure, Everybody)


@by_type("state.arms.exposure")
def attend(params: Any, state: Any, key: Any, time: Any) -> Any:
    """The next decision is this key's, in that round."""


@attend.of(Exposures, Fading)
def _(params: Any, state: Any, key: Any, time: Any) -> Any:
    # What a policy keeps of each arm's next pull is that of the key which was present before,
    # unless that was the same one.
    exposure = state.arms.exposure
    turn_to(exposure, key, time)
    if fades(exposure) or exposure.present[JUDGED] != key:
        exposure.present[JUDGED] = key
        for i in range(state.arms.pulls.size):
            rejudge(params, state, i)


@by_type("state.arms.exposure")
def recall(state: Any, key: Any) -> Any:
    """The next reward is that of a decision for this key, perhaps long ago."""


@recall.of(Exposures, Fading)
def _(state: Any, key: Any) -> Any:
    # nothing fades, for nothing is shown
    present = state.arms.exposure.present
    if present[KEY] != key:
        present[KEY] = key
        present[JUDGED] = NOBODY


@by_type("state.arms.exposure")
def told(state: Any, pulls: Any, arm: Any) -> Any:
    """Which pull of the arm the next one is to the policy; `pulls` are those of everybody."""
    return pulls[arm] + 1


@told.of(Exposures, Fading)
def _(state: Any, pulls: Any, arm: Any) -> Any:
    return next_pull(state.arms, arm)


ROW_KEY = 3  # the column of a batch's rows that has the key


def has_keys(state: Any, ledger: Any) -> bool:
    """Whether a player is one of an audience."""
    return is_keyed(state) or counts_by_key(ledger.exposure)


def exposure_of(state: Any, ledger: Any) -> Any:
    """What each key of an audience was shown, wherever that is counted."""
    return state.arms.exposure if is_keyed(state) else ledger.exposure


# Where a policy plays pooled, its player counts for it, in the ledger: the second of each pair.


@by_type("state.arms.exposure")
def whose(state: Any, ledger: Any, rows: Any, k: Any) -> Any:
    """Whose row of a batch this is."""
    return _whose_pooled(ledger.exposure, rows, k)


@whose.of(Exposures, Fading)
def _(state: Any, ledger: Any, rows: Any, k: Any) -> Any:
    return rows[k, ROW_KEY]


@by_type("exposure")
def _whose_pooled(exposure: Any, rows: Any, k: Any) -> Any:
    return 0


@_whose_pooled.of(Exposures, Fading)
def _(exposure: Any, rows: Any, k: Any) -> Any:
    return rows[k, ROW_KEY]


@by_type("state.arms.exposure")
def showings(state: Any, ledger: Any, key: Any, arm: Any) -> Any:
    """How often the arm was shown to the key, or pulled where there is no audience."""
    return _showings_pooled(ledger.exposure, ledger.pulls, key, arm)


@showings.of(Exposures, Fading)
def _(state: Any, ledger: Any, key: Any, arm: Any) -> Any:
    return np.int64(state.arms.exposure.shown[key, arm])


@by_type("exposure")
def _showings_pooled(exposure: Any, pulls: Any, key: Any, arm: Any) -> Any:
    return pulls[arm]


@_showings_pooled.of(Exposures, Fading)
def _(exposure: Any, pulls: Any, key: Any, arm: Any) -> Any:
    return np.int64(exposure.shown[key, arm])


@by_type("state.arms.exposure")
def write_down(state: Any, ledger: Any, key: Any, pull: Any) -> Any:
    """Record the latest decision's key and the highest pull number the policy has seen."""
    _write_down_pooled(ledger.exposure, ledger.clock, key, pull)


@write_down.of(Exposures, Fading)
def _(state: Any, ledger: Any, key: Any, pull: Any) -> Any:
    _write_down_key(ledger.clock, key, pull)


@by_type("exposure")
def _write_down_pooled(exposure: Any, clock: Any, key: Any, pull: Any) -> Any:
    return None


@_write_down_pooled.of(Exposures, Fading)
def _(exposure: Any, clock: Any, key: Any, pull: Any) -> Any:
    _write_down_key(clock, key, pull)


@shared
def _write_down_key(clock: Any, key: Any, pull: Any) -> None:
    clock[LAST_KEY] = key
    if pull > clock[FURTHEST]:
        clock[FURTHEST] = pull


@by_type("state.arms.exposure")
def call(state: Any, ledger: Any, key: Any, time: Any) -> Any:
    """This key is shown something that nobody chooses: `attend` without judging all arms."""
    turn_to(ledger.exposure, key, time)


@call.of(Exposures, Fading)
def _(state: Any, ledger: Any, key: Any, time: Any) -> Any:
    recall(state, key)
    turn_to(state.arms.exposure, key, time)
