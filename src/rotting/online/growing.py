"""How a player grows without any decision taking long.

Space is for twice what was decided, since late rewards may force a policy to keep them all: the
state has space by decisions, the tables in the params by pulls. When half is used it doubles. What
that takes is spread over several decisions. Most states are of one size for ever, SteadyUCB's
among them (`Policy.grows`). For the others, the next tables are made a little at a time, from a
quarter on (`Policy.ahead`), larger arrays are made a few decisions before they are needed, and only
the copying is left for the decision that needs them.

Compiled code stops before a decision when a limit on the desk is reached, and the player is asked.
"""

from __future__ import annotations

import functools
from typing import Any

from rotting import checks
from rotting.live import ledger as at
from rotting.live.ledger import Desk, furthest
from rotting.policies.base import Policy

UNLIMITED = 1 << 60  # decisions: the capacity of a state that never needs more space
_AHEAD = 8  # decisions between two parts of the work on the next tables
_BEFORE = 16  # decisions before the space is used up at which more is made


def next_sizes(desk: Desk, capacity: int, reach: int, tables: bool) -> tuple[int, int]:
    """Capacity and reach as they must be for the next decision."""
    if 2 * desk.clock[at.DECIDED] >= capacity:
        capacity *= 2
    if tables and 2 * furthest(desk) >= reach:
        reach *= 2
    return capacity, reach


def expected_sizes(desk: Desk, capacity: int, reach: int, tables: bool) -> tuple[int, int]:
    """Capacity and reach as they will soon have to be."""
    if capacity < UNLIMITED and 2 * (desk.clock[at.DECIDED] + _BEFORE) >= capacity:
        return 2 * capacity, reach
    return (capacity, 2 * reach) if tables else (2 * capacity, reach)


def set_limits(desk: Desk, capacity: int, reach: int, *, soon: bool = False, made: int = 0) -> None:
    """Say up to where compiled code may decide before it asks; `reach` is zero without tables.

    `soon`: there is more to do ahead. `made`: the capacity of what was made ahead, if anything was;
    if that is no larger, only its tables are, and the larger arrays are still to be made.
    """
    decided = int(desk.clock[at.DECIDED])
    full = capacity // 2
    if made <= capacity and decided < full - _BEFORE:
        full -= _BEFORE
    pulls = checks.EXACT
    if reach:
        most, pulls = furthest(desk), reach // 2
        if most >= pulls:
            full = 0
        elif soon:
            full = min(full, decided + _AHEAD)
        elif not made:
            pulls //= 2
            if most >= pulls:
                full = min(full, decided + _AHEAD)
    desk.clock[at.GROW_AT], desk.clock[at.GROW_AT_PULL] = full, pulls


def prepared(policy: Policy, arms: int, horizon: int | None, reach: int) -> Any:
    """The params of a policy: the same for all players that are alike."""
    try:
        return _prepared(policy, arms, horizon, reach)
    except TypeError:  # holds something that has no hash
        return policy.prepare(arms, horizon, reach)


@functools.lru_cache(maxsize=64)
def _prepared(policy: Policy, arms: int, horizon: int | None, reach: int) -> Any:
    return policy.prepare(arms, horizon, reach)
