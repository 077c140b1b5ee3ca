"""Growth of a player in small steps, so that no decision takes long.

There is space for twice the decisions made, because late rewards may force a policy to keep them
all. The state has space by decisions, the tables in the params by pulls. When half is used, the
space doubles, and the work is spread over several decisions. Most states have a fixed size,
SteadyUCB's among them (`Policy.grows`). For the others, the next tables are made bit by bit from a
quarter of their use on (`Policy.ahead`), larger arrays are allocated a few decisions before they
are needed, and only the copy is left for the decision that needs them. Compiled code stops before a
decision when a limit in the ledger is reached, and the core makes space.
"""

from __future__ import annotations

import functools
from typing import Any

from rotting import _checks
from rotting._live import ledger as at_
from rotting._live.ledger import Ledger, furthest
from rotting.policies._base import Policy

FIRST = 256  # first reach of tables in pulls, and first capacity of a state in decisions
UNLIMITED = 1 << 60  # decisions; the capacity of a state that never grows
_AHEAD = 8  # decisions between two parts of the work on the next tables
_BEFORE = 16  # decisions before the space is used up, when larger arrays are made


def capacity_of(arms: int, decided: int) -> int:
    """The capacity after a number of decisions: more than twice that number.

    >>> capacity_of(3, 0), capacity_of(3, 128), capacity_of(3, 129)
    (256, 256, 512)
    """
    return _doubled(max(FIRST, 4 * arms), 2 * (decided - 1))


def capacities_of(arms: int, decided: int) -> set[int]:
    """The possible capacities: Ctrl-C may have prevented the decision that needed the next one.

    >>> sorted(capacities_of(3, 127)), sorted(capacities_of(3, 128))
    ([256], [256, 512])
    """
    return {capacity_of(arms, decided), capacity_of(arms, decided + 1)}


def reaches_of(pulls: int) -> set[int]:
    """The possible reaches of tables when the most pulled arm has this many pulls.

    Tables grow at the decision after the one that makes it necessary, which may not have been made
    yet.

    >>> sorted(reaches_of(100)), sorted(reaches_of(130)), sorted(reaches_of(256))
    ([256], [256, 512], [512, 1024])
    """
    return {_doubled(FIRST, pulls), _doubled(FIRST, 2 * pulls)}


def _doubled(size: int, beyond: int) -> int:
    """The first of size, 2 size, 4 size, ... above `beyond`."""
    while size <= beyond:
        size *= 2
    return size


def next_sizes(ledger: Ledger, capacity: int, reach: int, tables: bool) -> tuple[int, int]:
    """Capacity and reach that the next decision needs."""
    if 2 * ledger.clock[at_.DECIDED] >= capacity:
        capacity *= 2
    if tables and 2 * furthest(ledger) >= reach:
        reach *= 2
    return capacity, reach


def expected_sizes(ledger: Ledger, capacity: int, reach: int, tables: bool) -> tuple[int, int]:
    """Capacity and reach that will be needed soon."""
    if capacity < UNLIMITED and 2 * (ledger.clock[at_.DECIDED] + _BEFORE) >= capacity:
        return 2 * capacity, reach
    return (capacity, 2 * reach) if tables else (2 * capacity, reach)


def set_limits(
    ledger: Ledger, capacity: int, reach: int, *, soon: bool = False, made: int = 0
) -> None:
    """Set the decision before which compiled code stops for space; `reach` is 0 without tables.

    `soon`: there is more work to do ahead. `made`: the capacity of what was made ahead, or 0. If it
    equals the present capacity, only tables were made, and larger arrays are still to be made.
    """
    decided = int(ledger.clock[at_.DECIDED])
    full = capacity // 2
    if made <= capacity and decided < full - _BEFORE:
        full -= _BEFORE
    pulls = _checks.EXACT
    if reach:
        most, pulls = furthest(ledger), reach // 2
        if most >= pulls:
            full = 0
        elif soon:
            full = min(full, decided + _AHEAD)
        elif not made:
            pulls //= 2
            if most >= pulls:
                full = min(full, decided + _AHEAD)
    ledger.clock[at_.GROW_AT], ledger.clock[at_.GROW_AT_PULL] = full, pulls


def prepared(policy: Policy, arms: int, horizon: int | None, reach: int) -> Any:
    """The params of a policy; equal players share them."""
    try:
        return _prepared(policy, arms, horizon, reach)
    except TypeError:  # the policy is not hashable
        return policy.prepare(arms, horizon, reach)


@functools.lru_cache(maxsize=64)
def _prepared(policy: Policy, arms: int, horizon: int | None, reach: int) -> Any:
    return policy.prepare(arms, horizon, reach)
