"""The key of a decision, in an audience: the counts that a policy and its player use.

A policy that counts by key (`Policy.counts_by_key`) has these counts in its state's part `arms`.
Any other plays pooled: all keys are one, and pulls are numbered by the arm's total. Its player
still counts by key, in the ledger.

Without an audience the key is always zero, and these calls compile to nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rotting._live.ledger import FURTHEST, LAST_KEY
from rotting.kernel.compilable import by_type, shared
from rotting.kernel.verbs import refresh_score
from rotting.policies.parts.arms import Arms, next_pull
from rotting.policies.parts.exposures import (
    KEY,
    NOBODY,
    SCORED,
    Exposures,
    Fading,
    NoKeys,
    fades,
    has_key_counts,
    turn_to,
)


def is_keyed(state: Any) -> bool:
    """Whether a policy's state counts by key."""
    arms = getattr(state, "arms", None)
    return isinstance(arms, Arms) and not isinstance(arms.exposure, NoKeys)


@by_type("state.arms.exposure")
def set_key(params: Any, state: Any, key: Any, time: Any) -> Any:
    """Set the key and the round of the next decision."""


@set_key.of(Exposures, Fading)
def _(params: Any, state: Any, key: Any, time: Any) -> Any:
    # cached scores of each arm's next pull belong to the previous key
    exposure = state.arms.exposure
    turn_to(exposure, key, time)
    if fades(exposure) or exposure.current[SCORED] != key:
        exposure.current[SCORED] = key
        for i in range(state.arms.pulls.size):
            refresh_score(params, state, i)


@by_type("state.arms.exposure")
def set_key_for_reward(state: Any, key: Any) -> Any:
    """Set the key of the next reward, whose decision may be long ago."""


@set_key_for_reward.of(Exposures, Fading)
def _(state: Any, key: Any) -> Any:
    # nothing is shown, so counts do not fade
    current = state.arms.exposure.current
    if current[KEY] != key:
        current[KEY] = key
        current[SCORED] = NOBODY


@by_type("state.arms.exposure")
def pull_for_policy(state: Any, pulls: Any, arm: Any) -> Any:
    """The policy's number of the arm's next pull; `pulls` are the arms' totals."""
    return pulls[arm] + 1


@pull_for_policy.of(Exposures, Fading)
def _(state: Any, pulls: Any, arm: Any) -> Any:
    return next_pull(state.arms, arm)


ROW_KEY = 3  # the column of a batch's rows that has the key


def has_keys(state: Any, ledger: Any) -> bool:
    """Whether a player plays an audience."""
    return is_keyed(state) or has_key_counts(ledger.exposure)


def exposure_of(state: Any, ledger: Any) -> Any:
    """The counts by key, from the state or else the ledger."""
    return state.arms.exposure if is_keyed(state) else ledger.exposure


# The second function of each pair is for a policy that plays pooled: the ledger counts by key.


@by_type("state.arms.exposure")
def row_key(state: Any, ledger: Any, rows: Any, k: Any) -> Any:
    """The key of a row of a batch."""
    return _row_key_pooled(ledger.exposure, rows, k)


@row_key.of(Exposures, Fading)
def _(state: Any, ledger: Any, rows: Any, k: Any) -> Any:
    return rows[k, ROW_KEY]


@by_type("exposure")
def _row_key_pooled(exposure: Any, rows: Any, k: Any) -> Any:
    return 0


@_row_key_pooled.of(Exposures, Fading)
def _(exposure: Any, rows: Any, k: Any) -> Any:
    return rows[k, ROW_KEY]


@by_type("state.arms.exposure")
def showings(state: Any, ledger: Any, key: Any, arm: Any) -> Any:
    """The showings of the arm to the key; its pulls without an audience."""
    return _showings_pooled(ledger.exposure, ledger.pulls, key, arm)


@showings.of(Exposures, Fading)
def _(state: Any, ledger: Any, key: Any, arm: Any) -> Any:
    return np.int64(state.arms.exposure.counts[key, arm])


@by_type("exposure")
def _showings_pooled(exposure: Any, pulls: Any, key: Any, arm: Any) -> Any:
    return pulls[arm]


@_showings_pooled.of(Exposures, Fading)
def _(exposure: Any, pulls: Any, key: Any, arm: Any) -> Any:
    return np.int64(exposure.counts[key, arm])


@by_type("state.arms.exposure")
def record_decision(state: Any, ledger: Any, key: Any, pull: Any) -> Any:
    """Record the latest decision's key and the highest pull number the policy has seen."""
    _record_pooled(ledger.exposure, ledger.clock, key, pull)


@record_decision.of(Exposures, Fading)
def _(state: Any, ledger: Any, key: Any, pull: Any) -> Any:
    _record_key(ledger.clock, key, pull)


@by_type("exposure")
def _record_pooled(exposure: Any, clock: Any, key: Any, pull: Any) -> Any:
    return None


@_record_pooled.of(Exposures, Fading)
def _(exposure: Any, clock: Any, key: Any, pull: Any) -> Any:
    _record_key(clock, key, pull)


@shared
def _record_key(clock: Any, key: Any, pull: Any) -> None:
    clock[LAST_KEY] = key
    if pull > clock[FURTHEST]:
        clock[FURTHEST] = pull


@by_type("state.arms.exposure")
def show_unchosen(state: Any, ledger: Any, key: Any, time: Any) -> Any:
    """Set the key for a showing that the policy does not choose: no score is refreshed."""
    turn_to(ledger.exposure, key, time)


@show_unchosen.of(Exposures, Fading)
def _(state: Any, ledger: Any, key: Any, time: Any) -> Any:
    set_key_for_reward(state, key)
    turn_to(state.arms.exposure, key, time)
