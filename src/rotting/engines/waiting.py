"""The decisions whose rewards have not come: found by key, arm and pull, and kept in order.

Entries form a doubly linked list, the oldest decision first, so that those which have waited too
long are at its head. A hash table (open addressing, linear probing) finds an entry by its key, arm
and pull; free entries are linked as well. All of it is O(1) a decision and needs memory only for
what waits. The table is at most half full; it is grown from outside, when `is_full` says so.

In an audience `pull` is the key's own number, while the policy may have been told another: all keys
are one to a policy that plays pooled, and exposures may fade. A player without an audience has
`NoKeys`, and the compiler leaves out what is about them; its key is always zero.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rotting.arrays import FloatArray, IntArray
from rotting.compilable import by_type, seldom, shared

SMALLEST = 2  # entries of a new table
NONE = -1
# columns of an entry
ARM, PULL, MADE, BEFORE, AFTER = 0, 1, 2, 3, 4
KEY, TOLD = 0, 1
AT, WEIGHT, CENTRE = 0, 1, 2
# places among the ends
FIRST, LAST, FREE, COUNT = 0, 1, 2, 3
# odd: pulls in a row go to places far from each other
_SPREAD, _APART, _ASIDE = 40_503, 30_011, 48_271


# arm, pull, decision, time, weight, centre, key and the pull that the policy was told
Row = tuple[int, int, int, float, float, float, int, int]


class NoKeys(NamedTuple):
    """There is no audience."""


class Whose(NamedTuple):
    """Whose decisions they are."""

    columns: IntArray  # [entry, column]: the key's number, and the pull that the policy was told


class Waiting(NamedTuple):
    """Entries, and how to find them."""

    table: IntArray  # a hash's entry plus one, or zero
    entries: IntArray  # [entry, column]: arm, pull, number of the decision, links
    notes: FloatArray  # [entry, column]: the user's time; weight and centre, see `engines.desk`
    ends: IntArray  # the first and the last entry, the first free one, and how many wait
    whose: NoKeys | Whose = NoKeys()

    @property
    def keyed(self) -> bool:
        """Whether they are those of an audience."""
        return isinstance(self.whose, Whose)


@by_type("whose")
def note(whose: Any, entry: Any, key: Any, told: Any) -> Any:
    """Write down whose entry this is, and which pull the policy was told."""


@note.of(Whose)
def _(whose: Any, entry: Any, key: Any, told: Any) -> Any:
    whose.columns[entry, KEY] = key
    whose.columns[entry, TOLD] = told


@by_type("whose")
def key_at(whose: Any, entry: Any) -> Any:
    """Whose entry this is."""
    return 0


@key_at.of(Whose)
def _(whose: Any, entry: Any) -> Any:
    return whose.columns[entry, KEY]


@by_type("whose")
def told_at(whose: Any, entry: Any, pull: Any) -> Any:
    """Which pull the policy was told; `pull` is that of the decision."""
    return pull


@told_at.of(Whose)
def _(whose: Any, entry: Any, pull: Any) -> Any:
    return whose.columns[entry, TOLD]


@by_type("whose")
def is_of(whose: Any, entry: Any, key: Any) -> Any:
    """Whether it is this key's entry."""
    return True


@is_of.of(Whose)
def _(whose: Any, entry: Any, key: Any) -> Any:
    return whose.columns[entry, KEY] == key


def nobody_waits(size: int = SMALLEST, *, keyed: bool = False) -> Waiting:
    """Space for so many decisions (a power of two), of keys or not; none waits."""
    entries = np.zeros((size, 5), dtype=np.int64)
    entries[:, AFTER] = np.arange(1, size + 1)
    entries[-1, AFTER] = NONE
    return Waiting(
        table=np.zeros(2 * size, dtype=np.int64),
        entries=entries,
        notes=np.zeros((size, 3)),
        ends=np.array([NONE, NONE, 0, 0], dtype=np.int64),
        whose=Whose(np.zeros((size, 2), dtype=np.int64)) if keyed else NoKeys(),
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
    key = key_at(waiting.whose, entry)
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
    told: Any,
) -> None:
    """A decision waits from now on; there is space for it."""
    ends, entries = waiting.ends, waiting.entries
    entry = ends[FREE]
    ends[FREE] = entries[entry, AFTER]
    entries[entry, ARM] = arm
    entries[entry, PULL] = pull
    entries[entry, MADE] = made
    note(waiting.whose, entry, key, told)
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
            and is_of(waiting.whose, entry, key)
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
def hash_again(waiting: Waiting) -> None:
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
    larger = nobody_waits(2 * size, keyed=waiting.keyed)
    larger.entries[:size] = waiting.entries
    larger.notes[:size] = waiting.notes
    for old, new in zip(waiting.whose, larger.whose, strict=True):
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
        key = int(key_at(waiting.whose, entry))
        told = int(told_at(waiting.whose, entry, pull))
        found.append((arm, pull, made, at, weight, centre, key, told))
        entry = int(waiting.entries[entry, AFTER])
    return found


def lined_up(rows: list[Row], size: int = 0, *, keyed: bool = False) -> Waiting:
    """A table with these decisions, as `listed` gives them, and space for `size` or more."""
    space = SMALLEST
    while space < max(size, len(rows) + 1):
        space *= 2
    waiting = nobody_waits(space, keyed=keyed)
    for row in rows:
        wait(waiting, *row)
    return waiting
