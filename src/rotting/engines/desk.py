"""What a player keeps beside its policy's state: the desk over which decisions and rewards go.

Pulls and rewards of each arm as the user sees them, whatever the policy forgets; the decisions that
wait; who may be chosen; the control group. It is made of arrays only, so that compiled code works
on it (`engines.steps`) and a decision needs no bookkeeping in Python.

A reward window may be set, in decisions or in the user's own time, and a default reward, which is
what a decision gets that has waited longer.

A share `explore` of the decisions is the control group: the arm is drawn uniformly from those
allowed, whatever the policy would do. The policy is asked all the same, so the probability of
every arm is known: explore / K, and 1 - explore more for the arm that the policy chose. A reward r
then enters the comparison of policy and equal shares (`online.lift`) as (r - centre) weight, with
weight = (1{the policy's arm} - 1 / K) / probability: its mean is the policy's reward less that of
equal shares. `centre` is the mean reward at the time of the decision, which only calms the sums;
decisions made before the first reward have none and are left out, as are those with one arm
allowed. Where there is a default reward, a decision counts with it until another reward comes:
clicks come sooner than silence ends, and a mean of what has come would be one of clicks.

A player of an audience counts what each key was shown. A policy that counts by key does that in its
state; for one that plays pooled the desk does.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, NamedTuple

import numpy as np

from rotting import random
from rotting.arrays import FloatArray
from rotting.engines.waiting import Waiting, nobody_waits
from rotting.policies.parts.exposures import Everybody, Exposures, Fading, for_arms
from rotting.state import AtMost, Counts, Finite, Flags, Within

# places on the clock
DECIDED = 0  # decisions made, and pulls of history
LATE = 1  # the arm that was pulled last if its reward has not come yet, else NOBODY
GROW_AT = 2  # so many decisions are all that there is space for
GROW_AT_PULL = 3  # the same for the pulls of an arm
BOUND = 4  # what the next decision is bound to: zero, or AMONG, ASKED and TAKEN added up
WINDOW = 5  # decisions after which a reward is not waited for, or zero
EXPIRED = 6  # decisions that were given up for lack of a reward
LAST_ARM, LAST_PULL = 7, 8  # the latest decision, or NOBODY
LAST_CONTROL = 9  # whether it was one of the control group
LAST_ALLOWED = 10  # among how many arms it was made; zero for a pull of history
LAST_SEEN = 11  # rewards of its arm that had come by then
LEARNT = 12  # rewards that have come since
OPEN = 13  # how many arms are not retired
UNHASHED = 14  # whether the table of those that wait has to be made anew
SILENT = 15  # arms without a reward, open or not
# and of an audience
FURTHEST = 16  # the highest pull that the policy was told of: its tables must reach that far
LAST_KEY = 17  # whose decision the latest was, or NOBODY if that was forgotten
CLOCK = 18
NOBODY = -1

# what a decision may be bound to
AMONG = 1  # the arms `allowed`
ASKED = 2  # nothing: the policy is only asked, and no pull is counted
TAKEN = 4  # (arm + 1) times this: that arm is taken, and the policy is not asked

# places among the numbers
NOW = 0  # the user's time, the latest said
LIFETIME = 1  # of a decision without a reward, in that time; infinite if there is no limit
DEFAULT = 2  # the reward of those, NaN if they are just given up
EXPLORE = 3  # share of the control group
LEAST, MOST = 4, 5  # rewards that have come
TOTAL = 6  # of those rewards, less the first of them
OFFSET = 7  # the first of them
CHANCE = 8  # the probability of the latest decision's arm; NaN without a control group
NEXT_WEIGHT = 9  # of the decision that is being made
LIFT_COUNT, LIFT_SUM, LIFT_SQUARES = 10, 11, 12  # of (r - centre) weight
LIFT_REWARDS = 13  # the rewards that were compared, less OFFSET
LIFT_OTHERS = 14  # how many of them are of arms that the policy did not choose
LIFT_CONTROL = 15  # decisions of the control group whose rewards are compared, or will be
NUMBERS = 16


class Desk(NamedTuple):
    """Arrays for so many arms."""

    pulls: Counts  # of each arm
    seen: Annotated[Any, AtMost("pulls")]  # rewards of each arm that have come
    total: Annotated[FloatArray, Finite((math.nan,))]  # of those rewards; NaN if not known
    chosen: Counts  # the decision in which each arm was chosen last, from 1; 0 for never
    open: Flags  # whether each arm may be chosen, or is retired
    allowed: Flags  # the arms of a restricted decision
    shown: Flags  # the arms that the policy is shown where silent ones are hidden
    clock: Annotated[Any, Within(-1)]  # whole numbers that belong to no arm
    numbers: Annotated[FloatArray, Finite((math.nan, math.inf, -math.inf))]  # floats likewise
    draw: random.Draw  # where the control group's random numbers stand
    waiting: Waiting  # decisions without a reward
    exposure: Everybody | Exposures | Fading = Everybody()  # by key, unless the state counts so


def furthest(desk: Desk) -> int:
    """The highest pull that the policy was told of."""
    return int(desk.clock[FURTHEST] if desk.waiting.keyed else desk.pulls.max())


def new_desk(arms: int, seed: int) -> Desk:
    """Nothing decided, no window, no control group."""
    clock = np.zeros(CLOCK, dtype=np.int64)
    clock[[LATE, LAST_ARM]] = NOBODY
    clock[OPEN] = clock[SILENT] = arms
    numbers = np.zeros(NUMBERS)
    numbers[LIFETIME], numbers[DEFAULT], numbers[NOW] = math.inf, math.nan, math.nan
    numbers[LEAST], numbers[MOST], numbers[CHANCE] = math.inf, -math.inf, math.nan
    return Desk(
        pulls=np.zeros(arms, dtype=np.int64),
        seen=np.zeros(arms, dtype=np.int64),
        total=np.zeros(arms),
        chosen=np.zeros(arms, dtype=np.int64),
        open=np.ones(arms, dtype=np.int64),
        allowed=np.zeros(arms, dtype=np.int64),
        shown=np.zeros(arms, dtype=np.int64),
        clock=clock,
        numbers=numbers,
        draw=random.new_draw(seed, random.CONTROL),
        waiting=nobody_waits(),
    )


def with_arms(desk: Desk, arms: int) -> Desk:
    """The same with more arms, which are not open yet."""

    def longer(array: Any) -> Any:
        made = np.zeros(arms, dtype=array.dtype)
        made[: array.size] = array
        return made

    clock = desk.clock.copy()
    clock[SILENT] += arms - desk.pulls.size
    desk = desk._replace(clock=clock)
    per_arm = ("pulls", "seen", "total", "chosen", "open", "allowed", "shown")
    desk = desk._replace(exposure=for_arms(desk.exposure, arms))
    return desk._replace(**{name: longer(getattr(desk, name)) for name in per_arm})
