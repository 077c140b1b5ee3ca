"""The part that every policy has: pulls, rewards and rounds, and the order of the ramp-up."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np

from rotting.kernel.arrays import IntArray
from rotting.kernel.compilable import by_type, seldom, shared
from rotting.kernel.state import AtMost, Counts
from rotting.policies.parts.exposures import Exposures, Fading, NoKeys, effective_count, expose
from rotting.policies.parts.openings import AllOpen, OpenArms, is_open, set_open_flags

__all__ = [
    "TIME",
    "WAITING",
    "Arms",
    "count_pull",
    "least_pulled",
    "least_tried",
    "next_pull",
    "next_untried",
    "no_pulls",
    "rewarded",
    "set_open_arms",
    "set_open_started",
    "set_open_untried",
]

# Places in the clock. One array, not three: every array that a loop works on takes a register.
TIME = 0  # rounds played
WAITING = 1  # the number of open arms with fewer rewards than the ramp-up needs
TRIED = 2  # a cursor: all open arms before this one have been pulled

NEVER = 1 << 62  # more pulls than any arm has


class Arms(NamedTuple):
    """Pulls and observed rewards of each arm.

    A policy that drops rewards (an epoch, a restart) sets `observed` and the clock's WAITING back.

    Attributes:
        pulls: The pulls of each arm.
        observed: The rewards of each arm that have come, and count.
        clock: Three numbers that belong to no arm, at the places TIME (rounds played), WAITING
            (open arms in their ramp-up) and TRIED (internal).
        opening: Which arms may be chosen (`rotting.policies.parts.openings`).
        exposure: Counts by key, in an audience (`rotting.policies.parts.exposures`).

    >>> class State(NamedTuple):
    ...     arms: Arms
    >>> state = State(no_pulls(2))
    >>> arm = next_untried(state.arms, 1)
    >>> count_pull(None, state, arm)
    >>> int(rewarded(state.arms, arm, 1))
    1
    >>> state.arms.pulls.tolist(), int(next_untried(state.arms, 1))
    ([1, 0], 1)
    """

    pulls: Counts
    observed: Annotated[IntArray, AtMost("pulls")]
    clock: Counts
    opening: AllOpen | OpenArms
    exposure: NoKeys | Exposures | Fading = NoKeys()

    def wrong(self, state: Any, params: Any, waiting: Any) -> str | None:
        """Rewards, with those still to come, must be at most the pulls; the clock has a maximum."""
        arms = np.array([arm for arm, _ in waiting], dtype=np.int64)
        late = np.bincount(arms, minlength=self.pulls.size)
        if np.any(self.observed + late > self.pulls):
            return "observed must leave out the pulls that wait for their rewards"
        most = np.array([self.pulls.sum(), self.pulls.size, self.pulls.size])
        if np.any(self.clock > most):
            return f"clock must be at most {most.tolist()}, got {self.clock.tolist()}"
        return None


def no_pulls(arms: int) -> Arms:
    """The part at its start: nothing pulled, nothing observed, all arms open.

    Args:
        arms: The number of arms.

    Returns:
        For `State.arms`; `init` makes it.
    """
    return Arms(
        pulls=np.zeros(arms, dtype=np.int64),
        observed=np.zeros(arms, dtype=np.int64),
        clock=np.array([0, arms, 0], dtype=np.int64),
        opening=AllOpen(),
        exposure=NoKeys(),
    )


@shared
def count_pull(params: Any, state: Any, arm: Any) -> None:
    """The verb `pulled` of most policies: one more pull of the arm, one more round.

    Args:
        params: Unused.
        state: A state with a part `arms`.
        arm: The arm.
    """
    state.arms.pulls[arm] += 1
    state.arms.clock[TIME] += 1
    expose(state.arms.exposure, arm)


@by_type("arms.exposure")
def next_pull(arms: Arms, arm: Any) -> Any:
    """The number of the arm's next pull; in an audience, for the current key.

    Use it instead of `arms.pulls[arm] + 1`, and the policy counts by key in an audience.

    Args:
        arms: The part.
        arm: The arm.

    Returns:
        1 for the first pull.

    >>> int(next_pull(no_pulls(2), 0))
    1
    """
    return arms.pulls[arm] + 1


@next_pull.of(Exposures, Fading)
def _(arms: Arms, arm: Any) -> Any:
    # faded counts are rounded to whole pulls
    return int(effective_count(arms.exposure, arm) + 0.5) + 1


@shared
def rewarded(arms: Arms, arm: Any, need: Any) -> Any:
    """Count an observed reward. Every `update` calls this, or the ramp-up never ends.

    Args:
        arms: The part.
        arm: The arm.
        need: The rewards an arm needs in the ramp-up, as for `next_untried`.

    Returns:
        The number of the arm's rewards, this one included.
    """
    n = arms.observed[arm] + 1
    arms.observed[arm] = n
    if n == need and is_open(arms.opening, arm):
        arms.clock[WAITING] -= 1
    return n


@shared
def set_open_arms(arms: Arms, flags: Any, need: Any) -> None:
    """Open the arms with a flag, close all others, and recount those in the ramp-up.

    Args:
        arms: The part.
        flags: 1 for each arm that is open, 0 for the others.
        need: The rewards an arm needs in the ramp-up, as for `next_untried`.
    """
    set_open_flags(arms.opening, flags)
    waiting = 0
    for i in range(flags.size):
        if flags[i] != 0 and arms.observed[i] < need:
            waiting += 1
    arms.clock[WAITING] = waiting
    arms.clock[TRIED] = 0


@shared
def set_open_untried(params: Any, state: Any, flags: Any) -> None:
    """The verb `set_open` of a policy with a ramp-up of one reward an arm.

    For policies that keep nothing else that depends on which arms are open; the default for a state
    with a part `arms: Arms`.

    Args:
        params: Unused.
        state: A state with a part `arms`.
        flags: 1 for each arm that is open, 0 for the others.
    """
    set_open_arms(state.arms, flags, 1)


@shared
def set_open_started(params: Any, state: Any, flags: Any) -> None:
    """The verb `set_open` of a policy with a ramp-up of `params.start` rewards an arm.

    Args:
        params: Params with a field `start`.
        state: A state with a part `arms`.
        flags: 1 for each arm that is open, 0 for the others.
    """
    set_open_arms(state.arms, flags, params.start)


@shared
def next_untried(arms: Arms, need: Any) -> Any:
    """The arm to pull in the ramp-up, because it has fewer than `need` rewards, or -1.

    It is the least pulled of those arms, the first of them if several, if no other arm has fewer
    pulls; closed arms do not count. With prompt rewards this is the paper's ramp-up, each arm in
    turn. With late or lost rewards every arm still gets its turn, and an arm whose rewards never
    come is pulled only as often as the least pulled of the others (a player limits that further,
    `live.steps`).

    Args:
        arms: The part.
        need: The rewards each arm needs.

    Returns:
        An open arm, or -1 when the ramp-up is over.

    >>> int(next_untried(no_pulls(3), 1))
    0
    """
    if arms.clock[WAITING] == 0:
        return -1
    return _untried(arms, need)


@shared
@seldom
def _untried(arms: Arms, need: Any) -> Any:
    """The rule of `next_untried` during the ramp-up.

    The first arm without a pull is found by a cursor that passes each arm once, so that the ramp-up
    of very many arms does not scan them in every round.
    """
    first = arms.clock[TRIED]
    while first < arms.pulls.size and (arms.pulls[first] > 0 or not is_open(arms.opening, first)):
        first += 1
    arms.clock[TRIED] = first
    if first < arms.pulls.size:
        return first
    return least_tried(arms.pulls, arms, need)


@shared
@seldom
def least_tried(pulls: Any, arms: Arms, need: Any) -> Any:
    """The rule of `next_untried`, by a scan.

    Args:
        pulls: The pulls of each arm, for instance those in a window.
        arms: The part.
        need: The rewards each arm needs.

    Returns:
        An open arm, or -1.
    """
    least = NEVER
    for i in range(pulls.size):
        if is_open(arms.opening, i) and pulls[i] < least:
            least = pulls[i]
    for i in range(pulls.size):
        if pulls[i] == least and arms.observed[i] < need and is_open(arms.opening, i):
            return i
    return -1


@shared
def least_pulled(pulls: Any, kept: Any, count: Any) -> Any:
    """The least pulled of some arms, the first if several.

    With prompt rewards it is the arm with the fewest rewards. With late ones, counting pulls keeps
    one arm from being pulled over and over while it waits for them.

    Args:
        pulls: The pulls of each arm.
        kept: Arms.
        count: How many of `kept` to compare, from the front.

    Returns:
        An arm.

    >>> int(least_pulled([4, 1, 2], [0, 2, 1], 2))
    2
    """
    least = kept[0]
    for k in range(1, count):
        if pulls[kept[k]] < pulls[least]:
            least = kept[k]
    return least
