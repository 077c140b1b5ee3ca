"""What a player keeps beside its policy's state: its ledger, all of it arrays.

Pulls and rewards of each arm as the user sees them, whatever the policy forgets; the decisions that
wait; who may be chosen; the control group. It is made of arrays only, so that compiled code works
on it (`live.steps`) and a decision needs no bookkeeping in Python.

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
state; for one that plays pooled the ledger does.

The decisions whose rewards have not come are found by key, arm and pull, and kept in order.
Entries form a doubly linked list, the oldest decision first, so that those which have waited too
long are at its head. A hash table (open addressing, linear probing) finds an entry by its key, arm
and pull; free entries are linked as well. All of it is O(1) a decision and needs memory only for
what waits. The table is at most half full; it is grown from outside, when `is_full` says so.

In an audience `pull` is the key's own number, while the policy may have been told another: all keys
are one to a policy that plays pooled, and exposures may fade. A player without an audience has
`NoKeys`, and the compiler leaves out what is about them; its key is always zero.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, NamedTuple

import numpy as np

from rotting.kernel import random
from rotting.kernel.arrays import FloatArray, IntArray
from rotting.kernel.compilable import by_type, seldom, shared
from rotting.kernel.state import AtMost, Counts, Finite, Flags, Within
from rotting.policies.parts.exposures import Exposures, Fading, NoKeys, for_arms

SMALLEST = 2  # entries of a new table
NONE = -1
# columns of an entry
ARM, PULL, MADE, BEFORE, AFTER = 0, 1, 2, 3, 4
KEY, POLICY_PULL = 0, 1
AT, WEIGHT, CENTRE = 0, 1, 2
# places among the ends
FIRST, LAST, FREE, COUNT = 0, 1, 2, 3
# odd: pulls in a row go to places far from each other
_SPREAD, _APART, _ASIDE = 40_503, 30_011, 48_271


# arm, pull, decision, time, weight, centre, key and the pull that the policy was told
Row = tuple[int, int, int, float, float, float, int, int]


class WaitingKeys(NamedTuple):
    """The keys of the decisions that wait."""

    columns: IntArray  # [entry, column]: the key's number, and the policy's number of the pull


class Waiting(NamedTuple):
    """Entries, and how to find them."""

    table: IntArray  # a hash's entry plus one, or zero
    entries: IntArray  # [entry, column]: arm, pull, number of the decision, links
    notes: FloatArray  # [entry, column]: the user's time; weight and centre, see `live.ledger`
    ends: IntArray  # the first and the last entry, the first free one, and how many wait
    keys: NoKeys | WaitingKeys = NoKeys()

    @property
    def keyed(self) -> bool:
        """Whether they are those of an audience."""
        return isinstance(self.keys, WaitingKeys)


@by_type("keys")
def note(keys: Any, entry: Any, key: Any, policy_pull: Any) -> Any:
    """Write down whose entry this is, and which pull the policy was told."""


@note.of(WaitingKeys)
def _(keys: Any, entry: Any, key: Any, policy_pull: Any) -> Any:
    keys.columns[entry, KEY] = key
    keys.columns[entry, POLICY_PULL] = policy_pull


@by_type("keys")
def key_at(keys: Any, entry: Any) -> Any:
    """Whose entry this is."""
    return 0


@key_at.of(WaitingKeys)
def _(keys: Any, entry: Any) -> Any:
    return keys.columns[entry, KEY]


@by_type("keys")
def policy_pull_at(keys: Any, entry: Any, pull: Any) -> Any:
    """Which pull the policy was told; `pull` is that of the decision."""
    return pull


@policy_pull_at.of(WaitingKeys)
def _(keys: Any, entry: Any, pull: Any) -> Any:
    return keys.columns[entry, POLICY_PULL]


@by_type("keys")
def is_key_of(keys: Any, entry: Any, key: Any) -> Any:
    """Whether it is this key's entry."""
    return True


@is_key_of.of(WaitingKeys)
def _(keys: Any, entry: Any, key: Any) -> Any:
    return keys.columns[entry, KEY] == key


def no_waiting(size: int = SMALLEST, *, keyed: bool = False) -> Waiting:
    """Space for so many decisions (a power of two), of keys or not; none waits."""
    entries = np.zeros((size, 5), dtype=np.int64)
    entries[:, AFTER] = np.arange(1, size + 1)
    entries[-1, AFTER] = NONE
    return Waiting(
        table=np.zeros(2 * size, dtype=np.int64),
        entries=entries,
        notes=np.zeros((size, 3)),
        ends=np.array([NONE, NONE, 0, 0], dtype=np.int64),
        keys=WaitingKeys(np.zeros((size, 2), dtype=np.int64)) if keyed else NoKeys(),
    )


@shared
def is_full(waiting: Waiting) -> Any:
    """Whether one more would not fit."""
    return waiting.ends[FREE] == NONE


@shared
def _home(waiting: Waiting, arm: Any, pull: Any, key: Any) -> Any:
    """Where the search for an arm's pull begins."""
    return (pull * _SPREAD + arm * _APART + key * _ASIDE) & (waiting.table.size - 1)


@shared
def _home_of(waiting: Waiting, entry: Any) -> Any:
    entries = waiting.entries
    key = key_at(waiting.keys, entry)
    return _home(waiting, entries[entry, ARM], entries[entry, PULL], key)


@shared
def wait(
    waiting: Waiting,
    arm: Any,
    pull: Any,
    made: Any,
    at: Any,
    weight: Any,
    centre: Any,
    key: Any,
    policy_pull: Any,
) -> None:
    """A decision waits from now on; there is space for it."""
    ends, entries = waiting.ends, waiting.entries
    entry = ends[FREE]
    ends[FREE] = entries[entry, AFTER]
    entries[entry, ARM] = arm
    entries[entry, PULL] = pull
    entries[entry, MADE] = made
    note(waiting.keys, entry, key, policy_pull)
    last = ends[LAST]
    entries[entry, BEFORE] = last
    entries[entry, AFTER] = NONE
    if last == NONE:
        ends[FIRST] = entry
    else:
        entries[last, AFTER] = entry
    ends[LAST] = entry
    ends[COUNT] += 1
    waiting.notes[entry, AT] = at
    waiting.notes[entry, WEIGHT] = weight
    waiting.notes[entry, CENTRE] = centre
    _enter(waiting, entry)


@shared
def _enter(waiting: Waiting, entry: Any) -> None:
    """Let an entry be found."""
    place = _home_of(waiting, entry)
    while waiting.table[place] != 0:
        place = (place + 1) & (waiting.table.size - 1)
    waiting.table[place] = entry + 1


@shared
@seldom
def find(waiting: Waiting, arm: Any, pull: Any, key: Any) -> Any:
    """The place in the table of an arm's pull by a key, or NONE if that does not wait."""
    place = _home(waiting, arm, pull, key)
    entries = waiting.entries
    while waiting.table[place] != 0:
        entry = waiting.table[place] - 1
        if (
            entries[entry, ARM] == arm
            and entries[entry, PULL] == pull
            and is_key_of(waiting.keys, entry, key)
        ):
            return place
        place = (place + 1) & (waiting.table.size - 1)
    return NONE


@shared
@seldom
def forget(waiting: Waiting, place: Any) -> None:
    """The entry at a place of the table waits no longer."""
    ends, entries, table = waiting.ends, waiting.entries, waiting.table
    entry = table[place] - 1
    before, after = entries[entry, BEFORE], entries[entry, AFTER]
    if before == NONE:
        ends[FIRST] = after
    else:
        entries[before, AFTER] = after
    if after == NONE:
        ends[LAST] = before
    else:
        entries[after, BEFORE] = before
    entries[entry, AFTER] = ends[FREE]
    ends[FREE] = entry
    ends[COUNT] -= 1
    # Close the gap: what stands behind it and would be looked for from here on moves up.
    mask = table.size - 1
    table[place] = 0
    gap = place
    place = (place + 1) & mask
    while table[place] != 0:
        other = table[place] - 1
        home = _home_of(waiting, other)
        if ((place - home) & mask) >= ((place - gap) & mask):
            table[gap] = table[place]
            table[place] = 0
            gap = place
        place = (place + 1) & mask


@shared
@seldom
def rehash(waiting: Waiting) -> None:
    """Make the table from the entries; Ctrl-C may have left it full of them."""
    for place in range(waiting.table.size):
        waiting.table[place] = 0
    entry = waiting.ends[FIRST]
    while entry != NONE:
        _enter(waiting, entry)
        entry = waiting.entries[entry, AFTER]


def with_space(waiting: Waiting) -> Waiting:
    """The same with twice the space; the table is left to `hash_again`, which compiled is fast."""
    size = waiting.entries.shape[0]
    larger = no_waiting(2 * size, keyed=waiting.keyed)
    larger.entries[:size] = waiting.entries
    larger.notes[:size] = waiting.notes
    for old, new in zip(waiting.keys, larger.keys, strict=True):
        new[:size] = old
    larger.ends[:] = waiting.ends
    larger.ends[FREE] = size  # those before are all taken
    return larger


def listed(waiting: Waiting) -> list[Row]:
    """All that wait, the oldest first."""
    found = []
    entry = int(waiting.ends[FIRST])
    while entry != NONE:
        arm, pull, made = (int(x) for x in waiting.entries[entry, :3])
        at, weight, centre = (float(x) for x in waiting.notes[entry])
        key = int(key_at(waiting.keys, entry))
        policy_pull = int(policy_pull_at(waiting.keys, entry, pull))
        found.append((arm, pull, made, at, weight, centre, key, policy_pull))
        entry = int(waiting.entries[entry, AFTER])
    return found


def waiting_of(rows: list[Row], size: int = 0, *, keyed: bool = False) -> Waiting:
    """A table with these decisions, as `listed` gives them, and space for `size` or more."""
    space = SMALLEST
    while space < max(size, len(rows) + 1):
        space *= 2
    waiting = no_waiting(space, keyed=keyed)
    for row in rows:
        wait(waiting, *row)
    return waiting


# ---------------------------------------------------------------------- the ledger

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
UNCOUNTED = 2  # nothing: the policy is only asked, and no pull is counted
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


class Ledger(NamedTuple):
    """Arrays for so many arms."""

    pulls: Counts  # of each arm
    rewarded: Annotated[Any, AtMost("pulls")]  # rewards of each arm that have come
    total: Annotated[FloatArray, Finite((math.nan,))]  # of those rewards; NaN if not known
    last_chosen: Counts  # the decision in which each arm was chosen last, from 1; 0 for never
    open: Flags  # whether each arm may be chosen, or is retired
    allowed: Flags  # the arms of a restricted decision
    offered: Flags  # the arms that the policy is shown where silent ones are hidden
    clock: Annotated[Any, Within(-1)]  # whole numbers that belong to no arm
    numbers: Annotated[FloatArray, Finite((math.nan, math.inf, -math.inf))]  # floats likewise
    draw: random.Draw  # where the control group's random numbers stand
    waiting: Waiting  # decisions without a reward
    exposure: NoKeys | Exposures | Fading = NoKeys()  # by key, unless the state counts so


def furthest(ledger: Ledger) -> int:
    """The highest pull that the policy was told of."""
    return int(ledger.clock[FURTHEST] if ledger.waiting.keyed else ledger.pulls.max())


def new_ledger(arms: int, seed: int) -> Ledger:
    """Nothing decided, no window, no control group."""
    clock = np.zeros(CLOCK, dtype=np.int64)
    clock[[LATE, LAST_ARM]] = NOBODY
    clock[OPEN] = clock[SILENT] = arms
    numbers = np.zeros(NUMBERS)
    numbers[LIFETIME], numbers[DEFAULT], numbers[NOW] = math.inf, math.nan, math.nan
    numbers[LEAST], numbers[MOST], numbers[CHANCE] = math.inf, -math.inf, math.nan
    return Ledger(
        pulls=np.zeros(arms, dtype=np.int64),
        rewarded=np.zeros(arms, dtype=np.int64),
        total=np.zeros(arms),
        last_chosen=np.zeros(arms, dtype=np.int64),
        open=np.ones(arms, dtype=np.int64),
        allowed=np.zeros(arms, dtype=np.int64),
        offered=np.zeros(arms, dtype=np.int64),
        clock=clock,
        numbers=numbers,
        draw=random.new_draw(seed, random.CONTROL),
        waiting=no_waiting(),
    )


def with_arms(ledger: Ledger, arms: int) -> Ledger:
    """The same with more arms, which are not open yet."""

    def longer(array: Any) -> Any:
        made = np.zeros(arms, dtype=array.dtype)
        made[: array.size] = array
        return made

    clock = ledger.clock.copy()
    clock[SILENT] += arms - ledger.pulls.size
    ledger = ledger._replace(clock=clock)
    per_arm = ("pulls", "rewarded", "total", "last_chosen", "open", "allowed", "offered")
    ledger = ledger._replace(exposure=for_arms(ledger.exposure, arms))
    return ledger._replace(**{name: longer(getattr(ledger, name)) for name in per_arm})
