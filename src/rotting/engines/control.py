"""The control group: who is in it, and what its decisions say about the policy.

`engines.desk` has the quantities, `online.lift` what is made of the sums.
"""

from __future__ import annotations

from typing import Any

from rotting import random
from rotting.compilable import seldom, shared
from rotting.engines.desk import (
    CHANCE,
    DEFAULT,
    EXPLORE,
    LAST_ALLOWED,
    LAST_CONTROL,
    LIFT_COUNT,
    LIFT_OTHERS,
    LIFT_REWARDS,
    LIFT_SQUARES,
    LIFT_SUM,
    NEXT_WEIGHT,
    OFFSET,
    TOTAL,
)
from rotting.engines.waiting import CENTRE, COUNT, WEIGHT

uniform = random.uniform


@shared
@seldom
def controlled(desk: Any, open_now: Any, wanted: Any) -> Any:
    """The arm that is taken where there is a control group: the policy's, or any."""
    clock, numbers = desk.clock, desk.numbers
    arms = clock[LAST_ALLOWED]
    share = numbers[EXPLORE]
    arm = wanted
    clock[LAST_CONTROL] = 0
    if uniform(desk.draw) < share:
        clock[LAST_CONTROL] = 1
        left = int(uniform(desk.draw) * arms)
        arm = -1
        while left >= 0:
            arm += 1
            left -= open_now[arm]
    mine = 1.0 if arm == wanted else 0.0
    numbers[CHANCE] = share / arms + (1.0 - share) * mine
    numbers[NEXT_WEIGHT] = (mine - 1.0 / arms) / numbers[CHANCE]
    return arm


@shared
@seldom
def mean(desk: Any) -> Any:
    """The mean of all rewards that have come, or zero.

    Where there is a default, those that wait count with it: clicks come sooner than silence ends.
    """
    seen = 0
    for i in range(desk.seen.size):
        seen += desk.seen[i]
    numbers = desk.numbers
    total = numbers[TOTAL]
    if numbers[DEFAULT] == numbers[DEFAULT]:
        seen += desk.waiting.ends[COUNT]
        total += desk.waiting.ends[COUNT] * (numbers[DEFAULT] - numbers[OFFSET])
    return numbers[OFFSET] + total / seen if seen > 0 else 0.0


@shared
@seldom
def compare(desk: Any, entry: Any, reward: Any) -> None:
    """Let a reward enter the comparison with equal shares."""
    numbers, notes = desk.numbers, desk.waiting.notes
    weight = notes[entry, WEIGHT]
    if weight == 0.0:  # history, one allowed arm, or no centre
        return
    centre, default = notes[entry, CENTRE], numbers[DEFAULT]
    if reward == default:
        return  # counted as that when it was decided
    if default == default:
        tally(desk, weight, centre, default, -1.0)
    tally(desk, weight, centre, reward, 1.0)


def leave_out(desk: Any, entry: Any) -> None:
    """A decision is dropped: the default that it has counted with is taken out again."""
    notes, default = desk.waiting.notes, desk.numbers[DEFAULT]
    if notes[entry, WEIGHT] != 0.0 and default == default:
        tally(desk, notes[entry, WEIGHT], notes[entry, CENTRE], default, -1.0)


@shared
@seldom
def tally(desk: Any, weight: Any, centre: Any, reward: Any, times: Any) -> None:
    """Put a reward into the sums of the comparison, or, with times = -1, take it out."""
    numbers = desk.numbers
    off = weight * (reward - centre)
    numbers[LIFT_COUNT] += times
    numbers[LIFT_SUM] += times * off
    numbers[LIFT_SQUARES] = max(numbers[LIFT_SQUARES] + times * off * off, 0.0)
    numbers[LIFT_REWARDS] += times * (reward - numbers[OFFSET])
    if weight < 0.0:
        numbers[LIFT_OTHERS] += times
