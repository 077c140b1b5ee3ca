"""What every policy counts: pulls, rewards and rounds; and whose turn it is while arms ramp up."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np

from rotting.kernel.arrays import IntArray
from rotting.kernel.compilable import by_type, seldom, shared
from rotting.kernel.state import AtMost, Counts
from rotting.policies.parts.exposures import Exposures, Fading, NoKeys, effective_count, expose
from rotting.policies.parts.openings import AllOpen, OpenArms, is_open, set_open_flags

# Places in the clock. One array, not three: every array that a loop works on takes a register.
TIME = 0  # rounds played
WAITING = 1  # how many open arms have shown fewer rewards than the ramp-up asks for
TRIED = 2  # a cursor: all open arms before this one have been pulled

NEVER = 1 << 62  # more pulls than any arm has


class Arms(NamedTuple):
    """Pulls and observed rewards of each arm.

    A policy that forgets (an epoch, a restart) sets `observed` and the clock's WAITING back.
    """

    pulls: Counts  # of each arm
    observed: Annotated[IntArray, AtMost("pulls")]  # rewards of each arm that have come, and count
    clock: Counts  # three numbers that belong to no arm: TIME, WAITING and TRIED
    opening: AllOpen | OpenArms  # which of them may be chosen
    exposure: NoKeys | Exposures | Fading = NoKeys()  # counts by key, in an audience

    def wrong(self, state: Any, params: Any, waiting: Any) -> str | None:
        """What no play could have led to: more rewards than pulls, counting those still to come."""
        arms = np.array([arm for arm, _ in waiting], dtype=np.int64)
        late = np.bincount(arms, minlength=self.pulls.size)
        if np.any(self.observed + late > self.pulls):
            return "observed must leave out the pulls that wait for their rewards"
        most = np.array([self.pulls.sum(), self.pulls.size, self.pulls.size])
        if np.any(self.clock > most):
            return f"clock must be at most {most.tolist()}, got {self.clock.tolist()}"
        return None


def no_pulls(arms: int) -> Arms:
    """Nothing pulled, nothing observed."""
    return Arms(
        pulls=np.zeros(arms, dtype=np.int64),
        observed=np.zeros(arms, dtype=np.int64),
        clock=np.array([0, arms, 0], dtype=np.int64),
        opening=AllOpen(),
        exposure=NoKeys(),
    )


@shared
def count_pull(params: Any, state: Any, arm: Any) -> None:
    """The verb `pulled` of most policies: one more pull of the arm, one more round."""
    state.arms.pulls[arm] += 1
    state.arms.clock[TIME] += 1
    expose(state.arms.exposure, arm)


@by_type("arms.exposure")
def next_pull(arms: Arms, arm: Any) -> Any:
    """The number of the arm's next pull: in an audience, of the key that is present."""
    return arms.pulls[arm] + 1


@next_pull.of(Exposures, Fading)
def _(arms: Arms, arm: Any) -> Any:
    # what has faded is rounded to whole pulls
    return int(effective_count(arms.exposure, arm) + 0.5) + 1


@shared
def rewarded(arms: Arms, arm: Any, need: Any) -> Any:
    """Count an observed reward; returns how many the arm has shown.

    `need` is how many the ramp-up asks for, as in `next_untried`.
    """
    n = arms.observed[arm] + 1
    arms.observed[arm] = n
    if n == need and is_open(arms.opening, arm):
        arms.clock[WAITING] -= 1
    return n


@shared
def set_open_arms(arms: Arms, flags: Any, need: Any) -> None:
    """The arms with a flag are open from now on; those that ramp up are counted anew."""
    set_open_flags(arms.opening, flags)
    waiting = 0
    for i in range(flags.size):
        if flags[i] != 0 and arms.observed[i] < need:
            waiting += 1
    arms.clock[WAITING] = waiting
    arms.clock[TRIED] = 0


@shared
def set_open_untried(params: Any, state: Any, flags: Any) -> None:
    """The verb `set_open` of policies that keep nothing else that depends on who is open."""
    set_open_arms(state.arms, flags, 1)


@shared
def set_open_started(params: Any, state: Any, flags: Any) -> None:
    """The same for a ramp-up of `params.start` rewards an arm."""
    set_open_arms(state.arms, flags, params.start)


@shared
def next_untried(arms: Arms, need: Any) -> Any:
    """The arm to try because fewer than `need` of its rewards were observed, or -1 for none.

    It is the least pulled of those arms, the first of them if several, provided that no other arm
    has been pulled less; closed arms do not count. With immediate rewards this is the paper's
    ramp-up, each arm in turn. With late or lost rewards no arm is forgotten, and one that never
    answers is pulled only as often as the least pulled of the others (a player sees to it that
    this is not too often, `live.steps`).
    """
    if arms.clock[WAITING] == 0:
        return -1
    return _untried(arms, need)


@shared
@seldom
def _untried(arms: Arms, need: Any) -> Any:
    """The rule of `next_untried` while arms ramp up.

    The first arm that was never pulled is found by a cursor that passes each arm once, so that the
    ramp-up of very many arms does not scan them in every round.
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
    """The rule of `next_untried`, by a scan; `pulls` may be those of a window."""
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
    """The least pulled of the first `count` arms in `kept`, the first if several.

    With prompt rewards it is the arm with the fewest rewards. Where they are late, counting pulls
    keeps an arm from being pulled over and over while it waits for them.
    """
    least = kept[0]
    for k in range(1, count):
        if pulls[kept[k]] < pulls[least]:
            least = kept[k]
    return least
