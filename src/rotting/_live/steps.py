"""Decisions and rewards of online play: written once, run as they are or compiled.

A decision first checks that there is space for it. If there is none, nothing has changed yet: the
player makes space and decides again.

After a pull without a reward a cached score refers to that pull. It is refreshed lazily, at the
next decision, because a reward that comes before would refresh it anyway.

A ramp-up pulls the arms without a reward. Where rewards are late, a new arm would get every
decision until its first reward comes. So once other arms have rewards, an arm without any is hidden
from the policy after 32 + sqrt(t) pulls; this bound grows, so no arm is hidden for ever.

First the control group, then single decisions and rewards, then batches of rows. A row is an arm's
number, a pull, one more number about it, and in an audience the key's number.
"""

from __future__ import annotations

import math
from typing import Any

from rotting._live.keys import (
    pull_for_policy,
    record_decision,
    row_key,
    set_key,
    set_key_for_reward,
    show_unchosen,
    showings,
)
from rotting._live.ledger import (
    AFTER,
    AMONG,
    ARM,
    AT,
    BOUND,
    CENTRE,
    CHANCE,
    COUNT,
    DECIDED,
    DEFAULT,
    EXPIRED,
    EXPLORE,
    FIRST,
    GROW_AT,
    GROW_AT_PULL,
    LAST,
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
    LIFT_COUNT,
    LIFT_OTHERS,
    LIFT_REWARDS,
    LIFT_SQUARES,
    LIFT_SUM,
    MADE,
    MOST,
    NEXT_WEIGHT,
    NOBODY,
    NONE,
    NOW,
    OFFSET,
    OPEN,
    PULL,
    SILENT,
    TAKEN,
    TOTAL,
    UNCOUNTED,
    UNHASHED,
    WEIGHT,
    WINDOW,
    find,
    is_full,
    is_key_of,
    key_at,
    policy_pull_at,
    rehash,
    remove,
    wait,
)
from rotting.kernel import random
from rotting.kernel.compilable import seldom, shared
from rotting.kernel.verbs import choose, pulled, refresh_score, set_open, set_propensity, update
from rotting.policies.parts.exposures import expose, turn_to

# -------------------------------------------------------------------------------- control group

uniform = random.uniform


@shared
@seldom
def controlled(ledger: Any, open_now: Any, wanted: Any) -> Any:
    """The arm of a decision where there is a control group: the policy's, or a random one."""
    clock, numbers = ledger.clock, ledger.numbers
    arms = clock[LAST_ALLOWED]
    share = numbers[EXPLORE]
    arm = wanted
    clock[LAST_CONTROL] = 0
    if uniform(ledger.draw) < share:
        clock[LAST_CONTROL] = 1
        left = int(uniform(ledger.draw) * arms)
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
def mean(ledger: Any) -> Any:
    """The mean of all rewards so far, or zero; with a default, waiting decisions count with it."""
    seen = 0
    for i in range(ledger.rewarded.size):
        seen += ledger.rewarded[i]
    numbers = ledger.numbers
    total = numbers[TOTAL]
    if numbers[DEFAULT] == numbers[DEFAULT]:
        seen += ledger.waiting.ends[COUNT]
        total += ledger.waiting.ends[COUNT] * (numbers[DEFAULT] - numbers[OFFSET])
    return numbers[OFFSET] + total / seen if seen > 0 else 0.0


@shared
@seldom
def compare(ledger: Any, entry: Any, reward: Any) -> None:
    """Enter a reward into the comparison with equal shares."""
    numbers, notes = ledger.numbers, ledger.waiting.notes
    weight = notes[entry, WEIGHT]
    if weight == 0.0:  # learnt from history, only one arm allowed, or before the first reward
        return
    centre, default = notes[entry, CENTRE], numbers[DEFAULT]
    if reward == default:
        return  # counted at the decision
    if default == default:
        tally(ledger, weight, centre, default, -1.0)
    tally(ledger, weight, centre, reward, 1.0)


def leave_out(ledger: Any, entry: Any) -> None:
    """Drop a decision from the comparison, with the default reward with which it counted."""
    notes, default = ledger.waiting.notes, ledger.numbers[DEFAULT]
    if notes[entry, WEIGHT] != 0.0 and default == default:
        tally(ledger, notes[entry, WEIGHT], notes[entry, CENTRE], default, -1.0)


@shared
@seldom
def tally(ledger: Any, weight: Any, centre: Any, reward: Any, times: Any) -> None:
    """Add a reward to the sums of the comparison; `times` is 1, or -1 to subtract it."""
    numbers = ledger.numbers
    off = weight * (reward - centre)
    numbers[LIFT_COUNT] += times
    numbers[LIFT_SUM] += times * off
    numbers[LIFT_SQUARES] = max(numbers[LIFT_SQUARES] + times * off * off, 0.0)
    numbers[LIFT_REWARDS] += times * (reward - numbers[OFFSET])
    if weight < 0.0:
        numbers[LIFT_OTHERS] += times


# ------------------------------------------------------------------------------------ one by one


# Reasons in place of an arm; where a reason concerns an arm, it comes in place of the pull.
NO_SPACE, NO_SUCH_ARM, CLOSED, NONE_OPEN = -1, -2, -3, -4
SILENT_PULLS = 32  # pulls of an arm without any reward that are always allowed


@shared
def decide(params: Any, state: Any, draw: Any, ledger: Any, key: Any = 0) -> Any:
    """Choose an arm for a key and count the pull; returns both, or a reason in place of the arm."""
    clock, numbers = ledger.clock, ledger.numbers
    allowed = clock[OPEN]
    open_now = ledger.open
    bound = clock[BOUND]
    if bound & AMONG != 0:
        allowed = _restrict(ledger)
        open_now = ledger.allowed
    if allowed == 0 and bound < TAKEN:  # before space is made: a refusal changes nothing
        return NONE_OPEN, 0
    if clock[DECIDED] >= clock[GROW_AT] or is_full(ledger.waiting):
        return NO_SPACE, 0
    if clock[UNHASHED] != 0:
        find_again(ledger)
    offered, seen_by_policy = allowed, open_now
    if clock[SILENT] > 0:
        offered = _hide_silent(ledger, open_now, allowed)
        if offered < allowed:
            seen_by_policy = ledger.offered
    if clock[LATE] != NOBODY:
        refresh_score(params, state, clock[LATE])
    if clock[WINDOW] > 0 or numbers[LIFETIME] < math.inf:
        expire(params, state, ledger)
    set_key(params, state, key, clock[DECIDED] + 1)
    turn_to(ledger.exposure, key, clock[DECIDED] + 1)
    arm = bound // TAKEN - 1
    if arm < 0:  # no arm is given: the policy chooses
        if offered < clock[OPEN]:
            set_open(params, state, seen_by_policy)
        arm = choose(params, state, draw)
        if offered < clock[OPEN]:
            set_open(params, state, ledger.open)
        if arm < 0 or arm >= open_now.size:
            return NO_SUCH_ARM, arm
        if open_now[arm] == 0:
            return CLOSED, arm
        clock[LAST_ALLOWED] = allowed
        if numbers[EXPLORE] > 0.0:
            arm = controlled(ledger, open_now, arm)
        if bound & UNCOUNTED != 0:
            return arm, 0
    return arm, count(params, state, ledger, arm, key)


@shared
@seldom
def find_again(ledger: Any) -> None:
    """Fill the hash table of waiting decisions, after the player has made space."""
    rehash(ledger.waiting)
    ledger.clock[UNHASHED] = 0


@shared
@seldom
def _restrict(ledger: Any) -> Any:
    """Remove retired arms from those allowed; returns how many are left."""
    left = 0
    for i in range(ledger.open.size):
        ledger.allowed[i] *= ledger.open[i]
        left += ledger.allowed[i]
    return left


@shared
@seldom
def _hide_silent(ledger: Any, open_now: Any, allowed: Any) -> Any:
    """Hide arms with many pulls and no reward; returns how many are left."""
    left = allowed
    answered = False
    for i in range(open_now.size):
        ledger.offered[i] = open_now[i]
        if open_now[i] != 0:
            if ledger.rewarded[i] > 0:
                answered = True
            else:
                more = ledger.pulls[i] - SILENT_PULLS
                if more > 0 and more * more > ledger.clock[DECIDED]:
                    ledger.offered[i] = 0
                    left -= 1
    return left if answered else allowed


@shared
def count(params: Any, state: Any, ledger: Any, arm: Any, key: Any = 0) -> Any:
    """Count the pull of an arm, which then waits for its reward; returns the pull's number.

    In an audience that is the key's own number; `set_key` has been called.
    """
    clock, numbers = ledger.clock, ledger.numbers
    policy_pull = pull_for_policy(state, ledger.pulls, arm)
    pulled(params, state, arm)
    expose(ledger.exposure, arm)
    ledger.pulls[arm] += 1
    pull = showings(state, ledger, key, arm)
    weight, centre = 0.0, 0.0
    if numbers[EXPLORE] > 0.0:
        set_propensity(params, state, arm, policy_pull, numbers[CHANCE])
        if numbers[LEAST] <= numbers[MOST]:  # a reward has come: there is a centre
            weight = numbers[NEXT_WEIGHT]
            centre = mean(ledger)
            if weight != 0.0:
                numbers[LIFT_CONTROL] += clock[LAST_CONTROL]
                if numbers[DEFAULT] == numbers[DEFAULT]:
                    tally(ledger, weight, centre, numbers[DEFAULT], 1.0)
    record_decision(state, ledger, key, policy_pull)
    if policy_pull >= clock[GROW_AT_PULL]:
        clock[GROW_AT] = 0  # tables must be extended before the next decision
    made = clock[DECIDED] + 1
    clock[DECIDED] = made
    clock[LATE] = arm
    clock[LAST_ARM] = arm
    clock[LAST_PULL] = pull
    clock[LAST_SEEN] = ledger.rewarded[arm]
    clock[LEARNT] = 0
    ledger.last_chosen[arm] = made
    wait(ledger.waiting, arm, pull, made, numbers[NOW], weight, centre, key, policy_pull)
    return pull


@shared
def learn(
    params: Any, state: Any, ledger: Any, arm: Any, pull: Any, reward: Any, key: Any = 0
) -> Any:
    """Learn the reward of a key's pull; False if the pull does not wait for one."""
    place = find(ledger.waiting, arm, pull, key)
    if place == NONE:
        return False
    _learn(params, state, ledger, place, arm, pull, reward, key)
    return True


@shared
def _learn(
    params: Any, state: Any, ledger: Any, place: Any, arm: Any, pull: Any, reward: Any, key: Any
) -> None:
    """Learn the reward of the decision at a place of the hash table."""
    numbers, clock = ledger.numbers, ledger.clock
    waiting = ledger.waiting
    policy_pull = policy_pull_at(waiting.keys, waiting.table[place] - 1, pull)
    if numbers[EXPLORE] > 0.0:
        compare(ledger, waiting.table[place] - 1, reward)
    remove(waiting, place)
    set_key_for_reward(state, key)
    update(params, state, arm, policy_pull, reward)
    if clock[LATE] == arm:
        clock[LATE] = NOBODY
    clock[LEARNT] += 1
    if ledger.rewarded[arm] == 0 and clock[SILENT] > 0:
        clock[SILENT] -= 1
    ledger.rewarded[arm] += 1
    ledger.total[arm] += reward
    if numbers[LEAST] > numbers[MOST]:
        numbers[OFFSET] = reward
    if reward < numbers[LEAST]:
        numbers[LEAST] = reward
    if reward > numbers[MOST]:
        numbers[MOST] = reward
    numbers[TOTAL] += reward - numbers[OFFSET]


@shared
@seldom
def expire(params: Any, state: Any, ledger: Any) -> None:
    """Expire the decisions whose window has ended: the default is their reward, if any."""
    clock, numbers, waiting = ledger.clock, ledger.numbers, ledger.waiting
    while True:
        entry = waiting.ends[FIRST]
        if entry == NONE:
            return
        age = clock[DECIDED] - waiting.entries[entry, MADE]
        late = clock[WINDOW] > 0 and age >= clock[WINDOW]
        # unknown times are NaN, for which no comparison holds
        if not late and not numbers[NOW] - waiting.notes[entry, AT] > numbers[LIFETIME]:
            return
        give_up(params, state, ledger, entry)


@shared
@seldom
def give_up(params: Any, state: Any, ledger: Any, entry: Any) -> None:
    """Expire one decision."""
    entries = ledger.waiting.entries
    arm, pull = entries[entry, ARM], entries[entry, PULL]
    key = key_at(ledger.waiting.keys, entry)
    place = find(ledger.waiting, arm, pull, key)
    ledger.clock[EXPIRED] += 1
    default = ledger.numbers[DEFAULT]
    if default == default:
        _learn(params, state, ledger, place, arm, pull, default, key)
    else:
        remove(ledger.waiting, place)


# --------------------------------------------------------------------------------------- batches


# the work to do with the rows of a batch
DECIDE, LEARN, RECORD, EXPIRE, GIVE_UP_SINCE, GIVE_UP_KEY = 0, 1, 2, 3, 4, 5
UNKNOWN, TWICE = 1, 2  # why a row cannot be learnt
DRAWS = 4  # first of four columns: stream keys and steps of the policy's and the group's numbers


@shared
@seldom
def decide_rows(params: Any, state: Any, draw: Any, ledger: Any, rows: Any, chances: Any) -> Any:
    """Make decisions while there is space; returns their number, or a negative reason.

    `rows` gets arm, pull, and whether the decision belongs to the control group. If the reason is
    an arm that cannot be chosen, the first row gets it. Rows with more columns have the position of
    the random streams of each decision.
    """
    for k in range(rows.shape[0]):
        if rows.shape[1] > DRAWS:
            draw[0], draw[1], draw[2] = rows[k, DRAWS], rows[k, DRAWS + 1], 0
            control = ledger.draw
            control[0], control[1], control[2] = rows[k, DRAWS + 2], rows[k, DRAWS + 3], 0
        arm, pull = decide(params, state, draw, ledger, row_key(state, ledger, rows, k))
        if arm < 0:
            if arm == NO_SPACE:
                return k
            rows[0, 0] = pull  # the arm that cannot be chosen
            return arm
        rows[k, 0] = arm
        rows[k, 1] = pull
        rows[k, 2] = ledger.clock[LAST_CONTROL]
        chances[k] = ledger.numbers[CHANCE]
    return rows.shape[0]


@shared
@seldom
def wrong_row(state: Any, ledger: Any, rows: Any) -> Any:
    """The place of the first row whose decision does not wait, or comes twice; -1 if there is none.

    `rows` has arm and pull; the third column gets the reason. Negative decision numbers mark the
    entries of rows already visited.
    """
    waiting = ledger.waiting
    found = -1
    seen = 0
    while seen < rows.shape[0]:
        place = find(waiting, rows[seen, 0], rows[seen, 1], row_key(state, ledger, rows, seen))
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
        key = row_key(state, ledger, rows, k)
        entry = waiting.table[find(waiting, rows[k, 0], rows[k, 1], key)] - 1
        waiting.entries[entry, MADE] = -waiting.entries[entry, MADE]
    return found


@shared
@seldom
def learn_rows(params: Any, state: Any, ledger: Any, rows: Any, rewards: Any) -> Any:
    """Learn rewards: all of them, or none if a decision does not wait; see `wrong_row`."""
    wrong = wrong_row(state, ledger, rows)
    if wrong < 0:
        for k in range(rows.shape[0]):
            key = row_key(state, ledger, rows, k)
            learn(params, state, ledger, rows[k, 0], rows[k, 1], rewards[k], key)
    return wrong


@shared
@seldom
def record_rows(params: Any, state: Any, ledger: Any, rows: Any, rewards: Any, chances: Any) -> Any:
    """Learn history: each row's arm was pulled, with this reward; NaN if it is unknown.

    A row has the number of the pull, or zero for the arm's next one. Pulls that are left out were
    made, too, and wait: their rewards may come in a later row. Returns the number of rows that
    fitted.
    """
    clock, numbers = ledger.clock, ledger.numbers
    share = numbers[EXPLORE]
    numbers[EXPLORE] = 0.0  # history has no control group
    done = 0
    while done < rows.shape[0]:
        arm = rows[done, 0]
        key = row_key(state, ledger, rows, done)
        before = showings(state, ledger, key, arm)
        pull = rows[done, 1] if rows[done, 1] > 0 else before + 1
        if pull > before:
            if clock[DECIDED] >= clock[GROW_AT] or is_full(ledger.waiting):
                break
            if clock[LATE] != NOBODY:
                refresh_score(params, state, clock[LATE])
            show_unchosen(state, ledger, key, clock[DECIDED] + 1)
            made = count(params, state, ledger, arm, key)
            if made < pull:
                continue
            if chances[done] == chances[done]:
                last = ledger.waiting.ends[LAST]
                policy_pull = policy_pull_at(ledger.waiting.keys, last, pull)
                set_propensity(params, state, arm, policy_pull, chances[done])
        if rewards[done] == rewards[done]:
            learn(params, state, ledger, arm, pull, rewards[done], key)
        done += 1
    numbers[EXPLORE] = share
    return done


@shared
@seldom
def give_up_since(ledger: Any, made: Any) -> None:
    """Remove the decisions after this one from those that wait; their rewards are unknown."""
    waiting = ledger.waiting
    while waiting.ends[LAST] != NONE:
        entry = waiting.ends[LAST]
        if waiting.entries[entry, MADE] <= made:
            return
        key = key_at(waiting.keys, entry)
        arm, pull = waiting.entries[entry, ARM], waiting.entries[entry, PULL]
        remove(waiting, find(waiting, arm, pull, key))


@shared
@seldom
def give_up_key(params: Any, state: Any, ledger: Any, key: Any) -> None:
    """Expire a key's decisions: the default is their reward, if any."""
    waiting = ledger.waiting
    entry = waiting.ends[FIRST]
    while entry != NONE:
        after = waiting.entries[entry, AFTER]
        if is_key_of(waiting.keys, entry, key):
            give_up(params, state, ledger, entry)
        entry = after


@shared
def work(
    params: Any,
    state: Any,
    draw: Any,
    ledger: Any,
    what: Any,
    rows: Any,
    rewards: Any,
    chances: Any,
) -> Any:
    """A batch of decisions, rewards or history, or the expiry of what waits."""
    if ledger.clock[UNHASHED] != 0:
        find_again(ledger)
    if what == DECIDE:
        return decide_rows(params, state, draw, ledger, rows, chances)
    if what == LEARN:
        return learn_rows(params, state, ledger, rows, rewards)
    if what == RECORD:
        return record_rows(params, state, ledger, rows, rewards, chances)
    if what == EXPIRE:
        expire(params, state, ledger)
    elif what == GIVE_UP_KEY:
        give_up_key(params, state, ledger, rows[0, 0])
    else:
        give_up_since(ledger, rows[0, 0])
    return 0
