"""How a player grows without any decision taking long.

Space is for twice what was decided, since late rewards may force a policy to keep them
all: the state has space by decisions, the tables in the params by pulls. When half is used it
doubles. What that takes is spread over several decisions. Most states are of one size for ever,
SteadyUCB's among them (`Policy.grows`). For the others, the next tables are made a little at a
time, from a quarter on (`Policy.ahead`), larger arrays are made a few decisions before they are
needed, and only the copying is left for the decision that needs them. Compiled code stops before a
decision when a limit in the ledger is reached, and the core makes space.
"""

from __future__ import annotations

import functools
from typing import Any

from rotting import _checks
from rotting._live import ledger as at_
from rotting._live.ledger import Ledger, furthest
from rotting.policies._base import Policy

FIRST = 256  # pulls that tables reach, and decisions that a state has space for, at first
UNLIMITED = 1 << 60  # decisions: the capacity of a state that never needs more space
_AHEAD = 8  # decisions between two parts of the work on the next tables
_BEFORE = 16  # decisions before the space is used up at which more is made


def capacity_of(arms: int, decided: int) -> int:
    """The capacity after a number of decisions: more than twice as many.

    >>> capacity_of(3, 0), capacity_of(3, 128), capacity_of(3, 129)
    (256, 256, 512)
    """
    return _doubled(max(FIRST, 4 * arms), 2 * (decided - 1))


def capacities_of(arms: int, decided: int) -> set[int]:
    """That capacity, and the next one if Ctrl-C prevented the decision that needed it.

    >>> sorted(capacities_of(3, 127)), sorted(capacities_of(3, 128))
    ([256], [256, 512])
    """
    return {capacity_of(arms, decided), capacity_of(arms, decided + 1)}


def reaches_of(pulls: int) -> set[int]:
    """The reach that tables may have when the most pulled arm has this many pulls.

    They become longer at the decision after the one that makes it necessary, which may not have
    been taken yet.

    >>> sorted(reaches_of(100)), sorted(reaches_of(130)), sorted(reaches_of(256))
    ([256], [256, 512], [512, 1024])
    """
    return {_doubled(FIRST, pulls), _doubled(FIRST, 2 * pulls)}


def _doubled(size: int, beyond: int) -> int:
    """The first of size, 2 size, 4 size, ... that is larger."""
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
    """Set the decision before which compiled code stops for space; `reach` is zero without tables.

    `soon`: there is more to do ahead. `made`: the capacity of what was made ahead, if anything was;
    if that is no larger, only its tables are, and the larger arrays are still to be made.
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
    except TypeError:  # holds something that has no hash
        return policy.prepare(arms, horizon, reach)


@functools.lru_cache(maxsize=64)
def _prepared(policy: Policy, arms: int, horizon: int | None, reach: int) -> Any:
    return policy.prepare(arms, horizon, reach)
