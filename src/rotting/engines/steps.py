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

from rotting import random
from rotting.compilable import seldom, shared
from rotting.engines import desk as at
from rotting.engines import waiting as line
from rotting.engines.desk import NOBODY
from rotting.engines.waiting import NONE, find, forget, hash_again, is_full, wait
from rotting.verbs import choose, chosen, pulled, rejudge, reopen, update

uniform = random.uniform

# What comes instead of an arm; where an arm is meant, that comes in the pull's place.
NO_SPACE, NO_SUCH_ARM, CLOSED, NOBODY_OPEN = -1, -2, -3, -4
# what happens to the rows of a batch
DECIDE, LEARN, RECORD, EXPIRE, GIVE_UP_SINCE = 0, 1, 2, 3, 4
UNKNOWN, TWICE = 1, 2  # why a row cannot be learnt
PATIENCE = 32  # pulls of an arm without any reward that are always allowed

DECIDED, LATE, RESTRICTED, WINDOW = at.DECIDED, at.LATE, at.RESTRICTED, at.WINDOW
GROW_AT, GROW_AT_PULL = at.GROW_AT, at.GROW_AT_PULL
LAST_ARM, LAST_PULL, LAST_CONTROL = at.LAST_ARM, at.LAST_PULL, at.LAST_CONTROL
LAST_ALLOWED, LAST_SEEN, LEARNT = at.LAST_ALLOWED, at.LAST_SEEN, at.LEARNT
NOW, LIFETIME, DEFAULT, EXPLORE, CHANCE = at.NOW, at.LIFETIME, at.DEFAULT, at.EXPLORE, at.CHANCE
LEAST, MOST, TOTAL, SQUARES, OFFSET = at.LEAST, at.MOST, at.TOTAL, at.SQUARES, at.OFFSET
EXPIRED, OPEN, UNHASHED, SILENT = at.EXPIRED, at.OPEN, at.UNHASHED, at.SILENT
LIFT_COUNT, LIFT_SUM = at.LIFT_COUNT, at.LIFT_SUM
LIFT_SQUARES, NEXT_WEIGHT = at.LIFT_SQUARES, at.NEXT_WEIGHT
_ARM, _PULL, _MADE = line.ARM, line.PULL, line.MADE
_LAST = line.LAST
_AT, _WEIGHT, _CENTRE, _FIRST = line.AT, line.WEIGHT, line.CENTRE, line.FIRST


@shared
def decide(params: Any, state: Any, draw: Any, desk: Any) -> Any:
    """Choose an arm and count its pull; returns both, or why not."""
    clock, numbers = desk.clock, desk.numbers
    if clock[DECIDED] >= clock[GROW_AT] or is_full(desk.waiting):
        return NO_SPACE, 0
    if clock[UNHASHED] != 0:
        hash_again(desk.waiting)
        clock[UNHASHED] = 0
    allowed = clock[OPEN]
    open_now = desk.open
    if clock[RESTRICTED] != 0:
        allowed = _restrict(desk)
        open_now = desk.allowed
    if allowed == 0:
        return NOBODY_OPEN, 0
    shown, seen_by_policy = allowed, open_now
    if clock[SILENT] > 0:
        shown = _hide_silent(desk, open_now, allowed)
        if shown < allowed:
            seen_by_policy = desk.shown
    if clock[LATE] != NOBODY:
        rejudge(params, state, clock[LATE])
    if clock[WINDOW] > 0 or numbers[LIFETIME] < math.inf:
        expire(params, state, desk)
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
        arm = _controlled(desk, open_now, arm)
    return arm, count(params, state, desk, arm)


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
@seldom
def _controlled(desk: Any, open_now: Any, wanted: Any) -> Any:
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
def count(params: Any, state: Any, desk: Any, arm: Any) -> Any:
    """Count the pull of an arm, whose reward is waited for from now on; returns its number."""
    clock, numbers = desk.clock, desk.numbers
    pulled(params, state, arm)
    pull = desk.pulls[arm] + 1
    weight, centre = 0.0, 0.0
    if numbers[EXPLORE] > 0.0:
        chosen(params, state, arm, pull, numbers[CHANCE])
        weight = numbers[NEXT_WEIGHT]
        centre = _mean(desk)
    desk.pulls[arm] = pull
    if pull >= clock[GROW_AT_PULL]:
        clock[GROW_AT] = 0  # the tables have to reach further before the next decision
    made = clock[DECIDED] + 1
    clock[DECIDED] = made
    clock[LATE] = arm
    clock[LAST_ARM] = arm
    clock[LAST_PULL] = pull
    clock[LAST_SEEN] = desk.seen[arm]
    clock[LEARNT] = 0
    desk.chosen[arm] = made
    wait(desk.waiting, arm, pull, made, numbers[NOW], weight, centre)
    return pull


@shared
@seldom
def _mean(desk: Any) -> Any:
    """The mean of all rewards that have come, or zero."""
    seen = 0
    for i in range(desk.seen.size):
        seen += desk.seen[i]
    return desk.numbers[OFFSET] + desk.numbers[TOTAL] / seen if seen > 0 else 0.0


@shared
def learn(params: Any, state: Any, desk: Any, arm: Any, pull: Any, reward: Any) -> Any:
    """Take in the reward of a pull; False if that does not wait for one."""
    place = find(desk.waiting, arm, pull)
    if place == NONE:
        return False
    _learn(params, state, desk, place, arm, pull, reward)
    return True


@shared
def _learn(
    params: Any, state: Any, desk: Any, place: Any, arm: Any, pull: Any, reward: Any
) -> None:
    """Take in the reward of the decision at a place of the table of those that wait."""
    numbers, clock = desk.numbers, desk.clock
    if numbers[EXPLORE] > 0.0:
        _compare(desk, desk.waiting.table[place] - 1, reward)
    forget(desk.waiting, place)
    update(params, state, arm, pull, reward)
    if clock[LATE] == arm:
        clock[LATE] = NOBODY
    clock[LEARNT] += 1
    if desk.seen[arm] == 0:
        clock[SILENT] -= 1
    desk.seen[arm] += 1
    desk.total[arm] += reward
    if numbers[LEAST] > numbers[MOST]:
        numbers[OFFSET] = reward
    if reward < numbers[LEAST]:
        numbers[LEAST] = reward
    if reward > numbers[MOST]:
        numbers[MOST] = reward
    off = reward - numbers[OFFSET]
    numbers[TOTAL] += off
    numbers[SQUARES] += off * off


@shared
@seldom
def _compare(desk: Any, entry: Any, reward: Any) -> None:
    """Let a reward enter the comparison with equal shares."""
    numbers, notes = desk.numbers, desk.waiting.notes
    weight = notes[entry, _WEIGHT]
    if weight == 0.0:  # history, or one allowed arm
        return
    off = weight * (reward - notes[entry, _CENTRE])
    numbers[LIFT_COUNT] += 1.0
    numbers[LIFT_SUM] += off
    numbers[LIFT_SQUARES] += off * off


@shared
@seldom
def expire(params: Any, state: Any, desk: Any) -> None:
    """Give up the decisions that have waited too long: the default is their reward, if any."""
    clock, numbers, waiting = desk.clock, desk.numbers, desk.waiting
    while True:
        entry = waiting.ends[_FIRST]
        if entry == NONE:
            return
        age = clock[DECIDED] - waiting.entries[entry, _MADE]
        late = clock[WINDOW] > 0 and age >= clock[WINDOW]
        # times that were not said are NaN, for which no comparison holds
        if not late and not numbers[NOW] - waiting.notes[entry, _AT] > numbers[LIFETIME]:
            return
        give_up(params, state, desk, entry)


@shared
@seldom
def give_up(params: Any, state: Any, desk: Any, entry: Any) -> None:
    """Wait no longer for the reward of one decision."""
    arm, pull = desk.waiting.entries[entry, _ARM], desk.waiting.entries[entry, _PULL]
    place = find(desk.waiting, arm, pull)
    desk.clock[EXPIRED] += 1
    default = desk.numbers[DEFAULT]
    if default == default:
        _learn(params, state, desk, place, arm, pull, default)
    else:
        forget(desk.waiting, place)


@shared
@seldom
def decide_rows(params: Any, state: Any, draw: Any, desk: Any, rows: Any, chances: Any) -> Any:
    """Decisions in a row, as many as there is space for; returns how many, or why not.

    `rows` gets arm, pull, and whether it is one of the control group.
    """
    for k in range(rows.shape[0]):
        arm, pull = decide(params, state, draw, desk)
        if arm < 0:
            if arm == NO_SPACE:
                return k
            rows[k, 0] = pull  # the arm that cannot be
            return arm
        rows[k, 0] = arm
        rows[k, 1] = pull
        rows[k, 2] = desk.clock[LAST_CONTROL]
        chances[k] = desk.numbers[CHANCE]
    return rows.shape[0]


@shared
@seldom
def wrong_row(desk: Any, rows: Any) -> Any:
    """The first row whose decision does not wait, or comes twice; its place, or -1.

    `rows` has arm and pull, and gets in its third column why. Rows seen are marked by a sign.
    """
    waiting = desk.waiting
    found = -1
    seen = 0
    while seen < rows.shape[0]:
        place = find(waiting, rows[seen, 0], rows[seen, 1])
        if place == NONE:
            found = seen
            rows[seen, 2] = UNKNOWN
            break
        entry = waiting.table[place] - 1
        if waiting.entries[entry, _MADE] < 0:
            found = seen
            rows[seen, 2] = TWICE
            break
        waiting.entries[entry, _MADE] = -waiting.entries[entry, _MADE]
        seen += 1
    for k in range(seen):
        entry = waiting.table[find(waiting, rows[k, 0], rows[k, 1])] - 1
        waiting.entries[entry, _MADE] = -waiting.entries[entry, _MADE]
    return found


@shared
@seldom
def learn_rows(params: Any, state: Any, desk: Any, rows: Any, rewards: Any) -> Any:
    """Rewards in a row: all of them, or none if a decision does not wait; see `wrong_row`."""
    wrong = wrong_row(desk, rows)
    if wrong < 0:
        for k in range(rows.shape[0]):
            learn(params, state, desk, rows[k, 0], rows[k, 1], rewards[k])
    return wrong


@shared
@seldom
def record_rows(params: Any, state: Any, desk: Any, rows: Any, rewards: Any, chances: Any) -> Any:
    """History: each row's arm was pulled, and this was its reward.

    A row has the number of the pull, or zero for the arm's next one; pulls that are left out
    were made, too, and wait for rewards that may stand further down. Returns how many rows there
    was space for.
    """
    clock, numbers = desk.clock, desk.numbers
    share = numbers[EXPLORE]
    numbers[EXPLORE] = 0.0  # nothing here was the control group's
    done = 0
    while done < rows.shape[0]:
        arm = rows[done, 0]
        pull = rows[done, 1] if rows[done, 1] > 0 else desk.pulls[arm] + 1
        if pull > desk.pulls[arm]:
            if clock[DECIDED] >= clock[GROW_AT] or is_full(desk.waiting):
                break
            if clock[UNHASHED] != 0:
                hash_again(desk.waiting)
                clock[UNHASHED] = 0
            if clock[LATE] != NOBODY:
                rejudge(params, state, clock[LATE])
            made = count(params, state, desk, arm)
            if made < pull:
                continue
            if chances[done] == chances[done]:
                chosen(params, state, arm, pull, chances[done])
        learn(params, state, desk, arm, pull, rewards[done])
        done += 1
    numbers[EXPLORE] = share
    return done


@shared
@seldom
def give_up_since(desk: Any, made: Any) -> None:
    """Wait no longer for the rewards of decisions after this one; they are not known."""
    waiting = desk.waiting
    while waiting.ends[_LAST] != NONE:
        entry = waiting.ends[_LAST]
        if waiting.entries[entry, _MADE] <= made:
            return
        forget(waiting, find(waiting, waiting.entries[entry, _ARM], waiting.entries[entry, _PULL]))


@shared
def work(
    params: Any,
    state: Any,
    draw: Any,
    desk: Any,
    what: Any,
    rows: Any,
    rewards: Any,
    chances: Any,
) -> Any:
    """A batch of decisions, rewards or history, or the giving up of what is waited for."""
    if what == DECIDE:
        return decide_rows(params, state, draw, desk, rows, chances)
    if what == LEARN:
        return learn_rows(params, state, desk, rows, rewards)
    if what == RECORD:
        return record_rows(params, state, desk, rows, rewards, chances)
    if what == EXPIRE:
        expire(params, state, desk)
    else:
        give_up_since(desk, rows[0, 0])
    return 0
