"""Batches of online play: decisions, rewards and history by rows, written once as `engines.steps`.

A row is an arm's number, a pull, and one more number that says something about it.
"""

from __future__ import annotations

from typing import Any

from rotting.compilable import seldom, shared
from rotting.engines.desk import (
    CHANCE,
    DECIDED,
    EXPLORE,
    GROW_AT,
    LAST_CONTROL,
    LATE,
    NOBODY,
    UNHASHED,
)
from rotting.engines.steps import NO_SPACE, count, decide, expire, find_again, learn
from rotting.engines.waiting import ARM, LAST, MADE, NONE, PULL, find, forget, is_full
from rotting.verbs import chosen, rejudge

# what happens to the rows of a batch
DECIDE, LEARN, RECORD, EXPIRE, GIVE_UP_SINCE = 0, 1, 2, 3, 4
UNKNOWN, TWICE = 1, 2  # why a row cannot be learnt


@shared
@seldom
def decide_rows(params: Any, state: Any, draw: Any, desk: Any, rows: Any, chances: Any) -> Any:
    """Decisions in a row, as many as there is space for; returns how many, or why not.

    `rows` gets arm, pull, and whether it is one of the control group; the first of them gets the
    arm that cannot be chosen, if that is why not.
    """
    for k in range(rows.shape[0]):
        arm, pull = decide(params, state, draw, desk)
        if arm < 0:
            if arm == NO_SPACE:
                return k
            rows[0, 0] = pull  # the arm that cannot be
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
        if waiting.entries[entry, MADE] < 0:
            found = seen
            rows[seen, 2] = TWICE
            break
        waiting.entries[entry, MADE] = -waiting.entries[entry, MADE]
        seen += 1
    for k in range(seen):
        entry = waiting.table[find(waiting, rows[k, 0], rows[k, 1])] - 1
        waiting.entries[entry, MADE] = -waiting.entries[entry, MADE]
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
    while waiting.ends[LAST] != NONE:
        entry = waiting.ends[LAST]
        if waiting.entries[entry, MADE] <= made:
            return
        forget(waiting, find(waiting, waiting.entries[entry, ARM], waiting.entries[entry, PULL]))


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
    if desk.clock[UNHASHED] != 0:
        find_again(desk)
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
