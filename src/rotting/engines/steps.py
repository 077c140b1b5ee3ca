"""Decisions and rewards of online play: written once, run as they are or compiled.

All bookkeeping is done here, on the `Desk`. A decision says first whether there is space for it;
if not, nothing has happened yet, and the player makes some.

A policy that keeps judgements has judged the last pull of the arm that was pulled last, not its
next one. It is asked to judge again only if no reward of the arm comes before the next decision,
since the reward would make it judge anyway.

An arm without any reward is what ramp-ups look for. Where rewards are late, a new arm would get one
decision after the other until its first reward comes; so once others have answered, an arm that
has not is hidden from the policy after 32 + sqrt(t) pulls. That grows: no arm is hidden for ever.
"""

from __future__ import annotations

import math
from typing import Any

from rotting.compilable import seldom, shared
from rotting.engines.attending import attend, recall, showings, told, write_down
from rotting.engines.control import compare, controlled, mean, tally
from rotting.engines.desk import (
    AMONG,
    ASKED,
    BOUND,
    CHANCE,
    DECIDED,
    DEFAULT,
    EXPIRED,
    EXPLORE,
    GROW_AT,
    GROW_AT_PULL,
    LAST_ALLOWED,
    LAST_ARM,
    LAST_CONTROL,
    LAST_PULL,
    LAST_SEEN,
    LATE,
    LEARNT,
    LEAST,
    LIFETIME,
    LIFT_CONTROL,
    MOST,
    NEXT_WEIGHT,
    NOBODY,
    NOW,
    OFFSET,
    OPEN,
    SILENT,
    TAKEN,
    TOTAL,
    UNHASHED,
    WINDOW,
)
from rotting.engines.waiting import (
    ARM,
    AT,
    FIRST,
    MADE,
    NONE,
    PULL,
    find,
    forget,
    hash_again,
    is_full,
    key_at,
    told_at,
    wait,
)
from rotting.policies.parts.exposures import expose, turn_to
from rotting.verbs import choose, chosen, pulled, rejudge, reopen, update

# What comes instead of an arm; where an arm is meant, that comes in the pull's place.
NO_SPACE, NO_SUCH_ARM, CLOSED, NOBODY_OPEN = -1, -2, -3, -4
PATIENCE = 32  # pulls of an arm without any reward that are always allowed


@shared
def decide(params: Any, state: Any, draw: Any, desk: Any, key: Any = 0) -> Any:
    """Choose an arm, for a key, and count its pull; returns both, or why not."""
    clock, numbers = desk.clock, desk.numbers
    allowed = clock[OPEN]
    open_now = desk.open
    bound = clock[BOUND]
    if bound & AMONG != 0:
        allowed = _restrict(desk)
        open_now = desk.allowed
    if allowed == 0 and bound < TAKEN:  # before space is asked for: a refusal changes nothing
        return NOBODY_OPEN, 0
    if clock[DECIDED] >= clock[GROW_AT] or is_full(desk.waiting):
        return NO_SPACE, 0
    if clock[UNHASHED] != 0:
        find_again(desk)
    shown, seen_by_policy = allowed, open_now
    if clock[SILENT] > 0:
        shown = _hide_silent(desk, open_now, allowed)
        if shown < allowed:
            seen_by_policy = desk.shown
    if clock[LATE] != NOBODY:
        rejudge(params, state, clock[LATE])
    if clock[WINDOW] > 0 or numbers[LIFETIME] < math.inf:
        expire(params, state, desk)
    attend(params, state, key, clock[DECIDED] + 1)
    turn_to(desk.exposure, key, clock[DECIDED] + 1)
    arm = bound // TAKEN - 1
    if arm < 0:  # nobody has said which arm is taken: the policy is asked
        if shown < clock[OPEN]:
            reopen(params, state, seen_by_policy)
        arm = choose(params, state, draw)
        if shown < clock[OPEN]:
            reopen(params, state, desk.open)
        if arm < 0 or arm >= open_now.size:
            return NO_SUCH_ARM, arm
        if open_now[arm] == 0:
            return CLOSED, arm
        clock[LAST_ALLOWED] = allowed
        if numbers[EXPLORE] > 0.0:
            arm = controlled(desk, open_now, arm)
        if bound & ASKED != 0:
            return arm, 0
    return arm, count(params, state, desk, arm, key)


@shared
@seldom
def find_again(desk: Any) -> None:
    """Let the decisions that wait be found, after the player has made space for more."""
    hash_again(desk.waiting)
    desk.clock[UNHASHED] = 0


@shared
@seldom
def _restrict(desk: Any) -> Any:
    """Take retired arms out of those allowed; returns how many are left."""
    left = 0
    for i in range(desk.open.size):
        desk.allowed[i] *= desk.open[i]
        left += desk.allowed[i]
    return left


@shared
@seldom
def _hide_silent(desk: Any, open_now: Any, allowed: Any) -> Any:
    """Hide arms that have been pulled a good deal and never answered; returns how many are left."""
    left = allowed
    answered = False
    for i in range(open_now.size):
        desk.shown[i] = open_now[i]
        if open_now[i] != 0:
            if desk.seen[i] > 0:
                answered = True
            else:
                more = desk.pulls[i] - PATIENCE
                if more > 0 and more * more > desk.clock[DECIDED]:
                    desk.shown[i] = 0
                    left -= 1
    return left if answered else allowed


@shared
def count(params: Any, state: Any, desk: Any, arm: Any, key: Any = 0) -> Any:
    """Count the pull of an arm, whose reward is waited for from now on; returns its number.

    In an audience that is the key's own; the key is present.
    """
    clock, numbers = desk.clock, desk.numbers
    pull_told = told(state, desk.pulls, arm)
    pulled(params, state, arm)
    expose(desk.exposure, arm)
    desk.pulls[arm] += 1
    pull = showings(state, desk, key, arm)
    weight, centre = 0.0, 0.0
    if numbers[EXPLORE] > 0.0:
        chosen(params, state, arm, pull_told, numbers[CHANCE])
        if numbers[LEAST] <= numbers[MOST]:  # a reward has come: there is a centre
            weight = numbers[NEXT_WEIGHT]
            centre = mean(desk)
            if weight != 0.0:
                numbers[LIFT_CONTROL] += clock[LAST_CONTROL]
                if numbers[DEFAULT] == numbers[DEFAULT]:
                    tally(desk, weight, centre, numbers[DEFAULT], 1.0)
    write_down(state, desk, key, pull_told)
    if pull_told >= clock[GROW_AT_PULL]:
        clock[GROW_AT] = 0  # the tables have to reach further before the next decision
    made = clock[DECIDED] + 1
    clock[DECIDED] = made
    clock[LATE] = arm
    clock[LAST_ARM] = arm
    clock[LAST_PULL] = pull
    clock[LAST_SEEN] = desk.seen[arm]
    clock[LEARNT] = 0
    desk.chosen[arm] = made
    wait(desk.waiting, arm, pull, made, numbers[NOW], weight, centre, key, pull_told)
    return pull


@shared
def learn(
    params: Any, state: Any, desk: Any, arm: Any, pull: Any, reward: Any, key: Any = 0
) -> Any:
    """Take in the reward of a key's pull; False if that does not wait for one."""
    place = find(desk.waiting, arm, pull, key)
    if place == NONE:
        return False
    _learn(params, state, desk, place, arm, pull, reward, key)
    return True


@shared
def _learn(
    params: Any, state: Any, desk: Any, place: Any, arm: Any, pull: Any, reward: Any, key: Any
) -> None:
    """Take in the reward of the decision at a place of the table of those that wait."""
    numbers, clock = desk.numbers, desk.clock
    waiting = desk.waiting
    pull_told = told_at(waiting.whose, waiting.table[place] - 1, pull)
    if numbers[EXPLORE] > 0.0:
        compare(desk, waiting.table[place] - 1, reward)
    forget(waiting, place)
    recall(state, key)
    update(params, state, arm, pull_told, reward)
    if clock[LATE] == arm:
        clock[LATE] = NOBODY
    clock[LEARNT] += 1
    if desk.seen[arm] == 0 and clock[SILENT] > 0:
        clock[SILENT] -= 1
    desk.seen[arm] += 1
    desk.total[arm] += reward
    if numbers[LEAST] > numbers[MOST]:
        numbers[OFFSET] = reward
    if reward < numbers[LEAST]:
        numbers[LEAST] = reward
    if reward > numbers[MOST]:
        numbers[MOST] = reward
    numbers[TOTAL] += reward - numbers[OFFSET]


@shared
@seldom
def expire(params: Any, state: Any, desk: Any) -> None:
    """Give up the decisions that have waited too long: the default is their reward, if any."""
    clock, numbers, waiting = desk.clock, desk.numbers, desk.waiting
    while True:
        entry = waiting.ends[FIRST]
        if entry == NONE:
            return
        age = clock[DECIDED] - waiting.entries[entry, MADE]
        late = clock[WINDOW] > 0 and age >= clock[WINDOW]
        # times that were not said are NaN, for which no comparison holds
        if not late and not numbers[NOW] - waiting.notes[entry, AT] > numbers[LIFETIME]:
            return
        give_up(params, state, desk, entry)


@shared
@seldom
def give_up(params: Any, state: Any, desk: Any, entry: Any) -> None:
    """Wait no longer for the reward of one decision."""
    entries = desk.waiting.entries
    arm, pull = entries[entry, ARM], entries[entry, PULL]
    key = key_at(desk.waiting.whose, entry)
    place = find(desk.waiting, arm, pull, key)
    desk.clock[EXPIRED] += 1
    default = desk.numbers[DEFAULT]
    if default == default:
        _learn(params, state, desk, place, arm, pull, default, key)
    else:
        forget(desk.waiting, place)
