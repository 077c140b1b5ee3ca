"""Open arms: the arms that may be chosen now.

A simulation in which no arm closes has `AllOpen`, a type of its own: these calls then compile to
constants. A player has `OpenArms` (`closable`), and so has a scenario whose arms come and go; the
policy's verb `set_open` is called at every change.

A closed arm keeps its statistics and its late rewards count, but nothing that compares or counts
arms sees it: minima, round robins, sums over weights, K.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeVar

import numpy as np

from rotting.kernel.compilable import by_type, shared
from rotting.kernel.state import Counts, Flags, is_part

S = TypeVar("S")


class AllOpen(NamedTuple):
    """No arm ever closes."""


class OpenArms(NamedTuple):
    """The arms that may be chosen now."""

    flags: Flags  # of each arm: 1 if it is open
    count: Counts  # type: ignore[assignment]  # how many are

    def wrong(self, state: Any, params: Any, waiting: Any) -> str | None:
        """A count that is not that of the flags; zero if all are retired, and none is chosen."""
        count, found = int(self.count[0]), int(self.flags.sum())
        return None if count == found else f"count must be the {found} open arms, got {count}"


@by_type("opening")
def is_open(opening: Any, arm: Any) -> Any:
    """Whether an arm may be chosen."""
    return True


@is_open.of(OpenArms)
def _(opening: Any, arm: Any) -> Any:
    return opening.flags[arm] != 0


@by_type("opening")
def may_close(opening: Any) -> Any:
    """Whether any arm ever closes."""
    return False


@may_close.of(OpenArms)
def _(opening: Any) -> Any:
    return True


@by_type("opening")
def open_arms(opening: Any, arms: Any) -> Any:
    """How many of the `arms` may be chosen."""
    return arms


@open_arms.of(OpenArms)
def _(opening: Any, arms: Any) -> Any:
    return opening.count[0]


@shared
def nth_open(opening: Any, arms: Any, n: Any) -> Any:
    """The n-th of the open arms, from zero; the last of them if there are fewer."""
    if not may_close(opening):
        return n
    found = -1
    for i in range(arms):
        if is_open(opening, i) and n >= 0:
            found = i
            n -= 1
    return found


@shared
def next_open(opening: Any, arms: Any, before: Any) -> Any:
    """The next open arm after arm `before`, cyclically; -1 stands before the first."""
    arm = (before + 1) % arms
    while not is_open(opening, arm):
        arm = (arm + 1) % arms
    return arm


@by_type("opening")
def set_open_flags(opening: Any, flags: Any) -> Any:
    """Open the arms with a flag, and no others."""


@set_open_flags.of(OpenArms)
def _(opening: Any, flags: Any) -> Any:
    count = 0
    for i in range(flags.size):
        opening.flags[i] = flags[i]
        count += flags[i]
    opening.count[0] = count


def closable(state: S) -> S:
    """The same state with arms that can close; all are open."""
    tree: Any = state
    made = []
    for value in tree:
        if isinstance(value, AllOpen):
            arms = tree.pulls.size
            value = OpenArms(np.ones(arms, dtype=np.int64), np.full(1, arms, dtype=np.int64))
        made.append(closable(value) if is_part(value) else value)
    same: S = type(tree)(*made)
    return same
