"""Open arms: the arms that may be chosen now.

A simulation in which no arm closes has `AllOpen`, a type of its own: these calls then compile to
constants. A player has `OpenArms` (`closable`), and so has a scenario whose arms come and go; the
policy's verb `set_open` is called at every change.

A closed arm keeps its statistics and its late rewards count, but functions that compare or count
arms leave it out: minima, round robins, sums over weights, K.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeVar

import numpy as np

from rotting.kernel.compilable import by_type, shared
from rotting.kernel.state import Counts, Flags, is_part

__all__ = [
    "AllOpen",
    "OpenArms",
    "closable",
    "is_open",
    "may_close",
    "next_open",
    "nth_open",
    "open_arms",
    "set_open_flags",
]

S = TypeVar("S")


class AllOpen(NamedTuple):
    """No arm ever closes.

    The value of `Arms.opening` from `no_pulls`. Players, and engines where arms come and go,
    replace it by `OpenArms` (`closable`).
    """


class OpenArms(NamedTuple):
    """The arms that may be chosen now.

    Attributes:
        flags: 1 for each arm that is open, 0 for the others.
        count: The number of open arms.

    >>> opening = OpenArms(np.ones(3, dtype=np.int64), np.full(1, 3))
    >>> set_open_flags(opening, np.array([1, 0, 1]))
    >>> [bool(is_open(opening, arm)) for arm in range(3)], int(open_arms(opening, 3))
    ([True, False, True], 2)
    """

    flags: Flags
    count: Counts  # type: ignore[assignment]

    def wrong(self, state: Any, params: Any, waiting: Any) -> str | None:
        """The count must be that of the flags; zero if all arms are retired."""
        count, found = int(self.count[0]), int(self.flags.sum())
        return None if count == found else f"count must be the {found} open arms, got {count}"


@by_type("opening")
def is_open(opening: Any, arm: Any) -> Any:
    """Whether an arm may be chosen.

    Args:
        opening: `state.arms.opening`.
        arm: The arm.

    Returns:
        A bool; a constant where no arm ever closes.
    """
    return True


@is_open.of(OpenArms)
def _(opening: Any, arm: Any) -> Any:
    return opening.flags[arm] != 0


@by_type("opening")
def may_close(opening: Any) -> Any:
    """Whether any arm ever closes.

    Args:
        opening: `state.arms.opening`.

    Returns:
        A bool, a constant in compiled code.
    """
    return False


@may_close.of(OpenArms)
def _(opening: Any) -> Any:
    return True


@by_type("opening")
def open_arms(opening: Any, arms: Any) -> Any:
    """K, the number of arms that may be chosen.

    Args:
        opening: `state.arms.opening`.
        arms: The number of all arms.

    Returns:
        A whole number.
    """
    return arms


@open_arms.of(OpenArms)
def _(opening: Any, arms: Any) -> Any:
    return opening.count[0]


@shared
def nth_open(opening: Any, arms: Any, n: Any) -> Any:
    """The n-th of the open arms, from zero; the last of them if there are fewer.

    Args:
        opening: `state.arms.opening`.
        arms: The number of all arms.
        n: Which one.

    Returns:
        An arm.

    >>> nth_open(AllOpen(), 3, 1)
    1
    """
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
    """The next open arm after arm `before`, cyclically.

    Args:
        opening: `state.arms.opening`.
        arms: The number of all arms.
        before: An arm; -1 for the first open arm.

    Returns:
        An arm.

    >>> next_open(AllOpen(), 3, 2)
    0
    """
    arm = (before + 1) % arms
    while not is_open(opening, arm):
        arm = (arm + 1) % arms
    return arm


@by_type("opening")
def set_open_flags(opening: Any, flags: Any) -> Any:
    """Open the arms with a flag, and close all others. `set_open_arms` of `parts.arms` calls this.

    Args:
        opening: `state.arms.opening`.
        flags: 1 for each arm that is open, 0 for the others.
    """


@set_open_flags.of(OpenArms)
def _(opening: Any, flags: Any) -> Any:
    count = 0
    for i in range(flags.size):
        opening.flags[i] = flags[i]
        count += flags[i]
    opening.count[0] = count


def closable(state: S) -> S:
    """The same state with arms that can close; all are open.

    Players call it after `init`.

    Args:
        state: A state, or a part.

    Returns:
        The state with `OpenArms` in place of every `AllOpen`.

    >>> from rotting.policies.parts.arms import no_pulls
    >>> may_close(no_pulls(2).opening), may_close(closable(no_pulls(2)).opening)
    (False, True)
    """
    tree: Any = state
    made = []
    for value in tree:
        if isinstance(value, AllOpen):
            arms = tree.pulls.size
            value = OpenArms(np.ones(arms, dtype=np.int64), np.full(1, arms, dtype=np.int64))
        made.append(closable(value) if is_part(value) else value)
    same: S = type(tree)(*made)
    return same
