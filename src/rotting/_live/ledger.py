"""A player's ledger: all its records beside the policy's state, as arrays.

Pulls and rewards of each arm as the user sees them, the decisions that wait for rewards, the open
arms, and the control group. All of it is arrays, so that compiled code updates it (`_live.steps`).

**Windows.** A decision waits for its reward during a number of decisions, or a span of the user's
own time. A decision that waited longer gets the default reward, if there is one.

**Control group.** For a share `explore` of the decisions the arm is drawn uniformly from those
allowed. The policy decides as well, so the propensity of every arm is known: explore / K, and
1 - explore more for the policy's arm. The lift (`_online.lift`) compares the policy with equal
shares: a reward r enters as (r - centre) weight, with weight = (1{the policy's arm} - 1 / K) /
propensity, whose mean is the policy's reward less that of equal shares. `centre` is the mean reward
at the time of the decision; it reduces the variance. Decisions before the first reward have no
centre and are left out, and so are those with a single arm. Where there is a default reward, a
decision counts with it until its own reward comes: clicks arrive before time-outs, so averaging
only arrivals overstates the rate.

**Audiences.** The exposures of each key are counted here if the policy does not count by key.

**Waiting decisions** form a doubly linked list, the oldest first, so those whose window has ended
are at its head. A hash table (open addressing, linear probing) finds an entry by key, arm and pull;
free entries are linked as well. Each operation is O(1), and memory is needed only for what waits.
The table is at most half full; it is grown from outside when `is_full`. In an audience `pull` is
the key's own number; the policy's number may differ, if it plays pooled or exposures fade, and
is kept beside it (`WaitingKeys`). Without an audience that is `NoKeys` and compiles to nothing.
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
# places in `ends`
FIRST, LAST, FREE, COUNT = 0, 1, 2, 3
# odd numbers, which spread consecutive pulls over the table
_SPREAD, _APART, _ASIDE = 40_503, 30_011, 48_271


# arm, pull, decision, time, weight, centre, key and the policy's number of the pull
Row = tuple[int, int, int, float, float, float, int, int]


class WaitingKeys(NamedTuple):
    """The keys of the decisions that wait."""

    columns: IntArray  # [entry, column]: the key's number, and the policy's number of the pull


class Waiting(NamedTuple):
    """Decisions without a reward, and the hash table that finds them."""

    table: IntArray  # a hash's entry plus one, or zero
    entries: IntArray  # [entry, column]: arm, pull, number of the decision, links
    notes: FloatArray  # [entry, column]: the user's time; weight and centre, see the module
    ends: IntArray  # the first and the last entry, the first free one, and the number that wait
    keys: NoKeys | WaitingKeys = NoKeys()

    @property
    def keyed(self) -> bool:
        return isinstance(self.keys, WaitingKeys)


@by_type("keys")
def note(keys: Any, entry: Any, key: Any, policy_pull: Any) -> Any:
    """Set the key of an entry, and the policy's number of the pull."""


@note.of(WaitingKeys)
def _(keys: Any, entry: Any, key: Any, policy_pull: Any) -> Any:
    keys.columns[entry, KEY] = key
    keys.columns[entry, POLICY_PULL] = policy_pull


@by_type("keys")
def key_at(keys: Any, entry: Any) -> Any:
    """The key of an entry."""
    return 0


@key_at.of(WaitingKeys)
def _(keys: Any, entry: Any) -> Any:
    return keys.columns[entry, KEY]


@by_type("keys")
def policy_pull_at(keys: Any, entry: Any, pull: Any) -> Any:
    """The policy's number of the pull; `pull` is the decision's."""
    return pull


@policy_pull_at.of(WaitingKeys)
def _(keys: Any, entry: Any, pull: Any) -> Any:
    return keys.columns[entry, POLICY_PULL]


@by_type("keys")
def is_key_of(keys: Any, entry: Any, key: Any) -> Any:
    """Whether the entry has this key."""
    return True


@is_key_of.of(WaitingKeys)
def _(keys: Any, entry: Any, key: Any) -> Any:
    return keys.columns[entry, KEY] == key


def no_waiting(size: int = SMALLEST, *, keyed: bool = False) -> Waiting:
    """An empty table with space for `size` decisions, a power of two."""
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
    """Whether there is no space for another decision."""
    return waiting.ends[FREE] == NONE


@shared
def _home(waiting: Waiting, arm: Any, pull: Any, key: Any) -> Any:
    """The place of the hash table where the search for an entry begins."""
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
    """Add a decision at the end; there must be space for it."""
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
    """Enter an entry into the hash table."""
    place = _home_of(waiting, entry)
    while waiting.table[place] != 0:
        place = (place + 1) & (waiting.table.size - 1)
    waiting.table[place] = entry + 1


@shared
@seldom
def find(waiting: Waiting, arm: Any, pull: Any, key: Any) -> Any:
    """The place of a decision in the hash table; NONE if it does not wait."""
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
def remove(waiting: Waiting, place: Any) -> None:
    """Remove the entry at a place of the hash table."""
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
    # Close the gap: entries behind it that a search would reach through the gap move up.
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
    """Fill the hash table from the entries, whatever state an interrupt has left it in."""
    for place in range(waiting.table.size):
        waiting.table[place] = 0
    entry = waiting.ends[FIRST]
    while entry != NONE:
        _enter(waiting, entry)
        entry = waiting.entries[entry, AFTER]


def with_space(waiting: Waiting) -> Waiting:
    """The same with twice the space; `rehash` must follow, which is fast when compiled."""
    size = waiting.entries.shape[0]
    larger = no_waiting(2 * size, keyed=waiting.keyed)
    larger.entries[:size] = waiting.entries
    larger.notes[:size] = waiting.notes
    for old, new in zip(waiting.keys, larger.keys, strict=True):
        new[:size] = old
    larger.ends[:] = waiting.ends
    larger.ends[FREE] = size  # all entries before it are taken
    return larger


def listed(waiting: Waiting) -> list[Row]:
    """The decisions that wait, the oldest first."""
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

# places in `clock`
DECIDED = 0  # decisions made, and pulls of history
LATE = 1  # the arm that was pulled last if its reward has not come yet, else NOBODY
GROW_AT = 2  # the number of decisions for which there is space
GROW_AT_PULL = 3  # the same for the pulls of an arm
BOUND = 4  # restrictions of the next decision: zero, or the sum of AMONG, UNCOUNTED and TAKEN
WINDOW = 5  # decisions after which a decision without a reward expires, or zero
EXPIRED = 6  # decisions that expired
LAST_ARM, LAST_PULL = 7, 8  # the latest decision, or NOBODY
LAST_CONTROL = 9  # whether it belongs to the control group
LAST_ALLOWED = 10  # the number of arms it was made among; zero for a pull of history
LAST_SEEN = 11  # rewards of its arm that had come by then
LEARNT = 12  # rewards that have come since
OPEN = 13  # arms that are not retired
UNHASHED = 14  # whether the hash table needs `rehash`
SILENT = 15  # arms without a reward, open or not
# and of an audience
FURTHEST = 16  # the highest pull number that the policy has seen: tables must reach that far
LAST_KEY = 17  # the key of the latest decision, or NOBODY if the key was removed
CLOCK = 18
NOBODY = -1

# restrictions of a decision
AMONG = 1  # only the arms `allowed`
UNCOUNTED = 2  # decide, but count no pull
TAKEN = 4  # (arm + 1) times this: that arm is taken, whatever the policy would choose

# places in `numbers`
NOW = 0  # the user's time, as given last
LIFETIME = 1  # of a decision without a reward, in the user's time; infinite if there is no limit
DEFAULT = 2  # the reward of an expired decision; NaN for none
EXPLORE = 3  # share of the control group
LEAST, MOST = 4, 5  # the lowest and the highest reward so far
TOTAL = 6  # the sum of all rewards, each less OFFSET
OFFSET = 7  # the first reward
CHANCE = 8  # the probability of the latest decision's arm; NaN without a control group
NEXT_WEIGHT = 9  # of the decision that is being made
LIFT_COUNT, LIFT_SUM, LIFT_SQUARES = 10, 11, 12  # of (r - centre) weight
LIFT_REWARDS = 13  # the sum of the compared rewards, each less OFFSET
LIFT_OTHERS = 14  # the number of those of arms that the policy did not choose
LIFT_CONTROL = 15  # decisions of the control group whose rewards are compared, or will be
NUMBERS = 16


class Ledger(NamedTuple):
    """A player's records, of each arm and of the latest decision."""

    pulls: Counts  # of each arm
    rewarded: Annotated[Any, AtMost("pulls")]  # the number of rewards of each arm
    total: Annotated[FloatArray, Finite((math.nan,))]  # their sum; NaN if not known
    last_chosen: Counts  # the decision in which each arm was chosen last, from 1; 0 for never
    open: Flags  # whether each arm may be chosen, or is retired
    allowed: Flags  # the arms of a restricted decision
    offered: Flags  # the arms that the policy may choose while silent ones are hidden
    clock: Annotated[Any, Within(-1)]  # whole numbers that belong to no arm
    numbers: Annotated[FloatArray, Finite((math.nan, math.inf, -math.inf))]  # floats likewise
    draw: random.Draw  # the position of the control group's random numbers
    waiting: Waiting  # decisions without a reward
    exposure: NoKeys | Exposures | Fading = NoKeys()  # by key, unless the state counts so


def furthest(ledger: Ledger) -> int:
    """The highest pull number that the policy has seen."""
    return int(ledger.clock[FURTHEST] if ledger.waiting.keyed else ledger.pulls.max())


def new_ledger(arms: int, seed: int) -> Ledger:
    """An empty ledger, without a window and a control group."""
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
    """The same ledger with more arms, which are not open yet."""

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
