"""Batches of online play: decisions, rewards and history by rows, written once as `engines.steps`.

A row is an arm's number, a pull, one more number that says something about it, and in an audience
the key's number.
"""

from __future__ import annotations

from typing import Any

from rotting.compilable import seldom, shared
from rotting.engines.attending import call, showings, whose
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
from rotting.engines.steps import NO_SPACE, count, decide, expire, find_again, give_up, learn
from rotting.engines.waiting import (
    AFTER,
    ARM,
    FIRST,
    LAST,
    MADE,
    NONE,
    PULL,
    find,
    is_full,
    is_of,
    key_at,
    told_at,
)
from rotting.engines.waiting import forget as forget_entry
from rotting.verbs import chosen, rejudge

# what happens to the rows of a batch
DECIDE, LEARN, RECORD, EXPIRE, GIVE_UP_SINCE, GIVE_UP_KEY = 0, 1, 2, 3, 4, 5
UNKNOWN, TWICE = 1, 2  # why a row cannot be learnt
DRAWS = 4  # the first of four columns with keys and steps, of the policy's numbers and the group's


@shared
@seldom
def decide_rows(params: Any, state: Any, draw: Any, desk: Any, rows: Any, chances: Any) -> Any:
    """Decisions in a row, as many as there is space for; returns how many, or why not.

    `rows` gets arm, pull, and whether it is one of the control group; the first of them gets the
    arm that cannot be chosen, if that is why not. Rows with more columns say where the random
    numbers of each decision begin.
    """
    for k in range(rows.shape[0]):
        if rows.shape[1] > DRAWS:
            draw[0], draw[1], draw[2] = rows[k, DRAWS], rows[k, DRAWS + 1], 0
            control = desk.draw
            control[0], control[1], control[2] = rows[k, DRAWS + 2], rows[k, DRAWS + 3], 0
        arm, pull = decide(params, state, draw, desk, whose(state, desk, rows, k))
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
def wrong_row(state: Any, desk: Any, rows: Any) -> Any:
    """The first row whose decision does not wait, or comes twice; its place, or -1.

    `rows` has arm and pull, and gets in its third column why. Rows seen are marked by a sign.
    """
    waiting = desk.waiting
    found = -1
    seen = 0
    while seen < rows.shape[0]:
        place = find(waiting, rows[seen, 0], rows[seen, 1], whose(state, desk, rows, seen))
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
        key = whose(state, desk, rows, k)
        entry = waiting.table[find(waiting, rows[k, 0], rows[k, 1], key)] - 1
        waiting.entries[entry, MADE] = -waiting.entries[entry, MADE]
    return found


@shared
@seldom
def learn_rows(params: Any, state: Any, desk: Any, rows: Any, rewards: Any) -> Any:
    """Rewards in a row: all of them, or none if a decision does not wait; see `wrong_row`."""
    wrong = wrong_row(state, desk, rows)
    if wrong < 0:
        for k in range(rows.shape[0]):
            key = whose(state, desk, rows, k)
            learn(params, state, desk, rows[k, 0], rows[k, 1], rewards[k], key)
    return wrong


@shared
@seldom
def record_rows(params: Any, state: Any, desk: Any, rows: Any, rewards: Any, chances: Any) -> Any:
    """History: each row's arm was pulled, and this was its reward; NaN where it is not known.

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
        key = whose(state, desk, rows, done)
        before = showings(state, desk, key, arm)
        pull = rows[done, 1] if rows[done, 1] > 0 else before + 1
        if pull > before:
            if clock[DECIDED] >= clock[GROW_AT] or is_full(desk.waiting):
                break
            if clock[LATE] != NOBODY:
                rejudge(params, state, clock[LATE])
            call(state, desk, key, clock[DECIDED] + 1)
            made = count(params, state, desk, arm, key)
            if made < pull:
                continue
            if chances[done] == chances[done]:
                last = desk.waiting.ends[LAST]
                pull_told = told_at(desk.waiting.whose, last, pull)
                chosen(params, state, arm, pull_told, chances[done])
        if rewards[done] == rewards[done]:
            learn(params, state, desk, arm, pull, rewards[done], key)
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
        key = key_at(waiting.whose, entry)
        arm, pull = waiting.entries[entry, ARM], waiting.entries[entry, PULL]
        forget_entry(waiting, find(waiting, arm, pull, key))


@shared
@seldom
def give_up_key(params: Any, state: Any, desk: Any, key: Any) -> None:
    """Wait no longer for the rewards of a key's decisions: the default is their reward, if any."""
    waiting = desk.waiting
    entry = waiting.ends[FIRST]
    while entry != NONE:
        after = waiting.entries[entry, AFTER]
        if is_of(waiting.whose, entry, key):
            give_up(params, state, desk, entry)
        entry = after


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
    elif what == GIVE_UP_KEY:
        give_up_key(params, state, desk, rows[0, 0])
    else:
        give_up_since(desk, rows[0, 0])
    return 0
