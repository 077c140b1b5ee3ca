"""First half minus second half of each arm's rewards, shared by the D-CTO policies (Eq. 9).

Z(theta) = lead - (the same difference of the models' means), where lead is the sum of the first
floor(N/2) observed rewards, less the sum of the rest, in the order of the pulls. While pulls 1..N
have been observed, which is always so when rewards are prompt, the models' part is a table, and so
are their means; an arm with gaps keeps both for itself.

A new reward moves at most one other from the second half to the first, so rewards that may still
change sides are kept: a queue per arm in pull order, in chunks of eight out of one arena. A reward
leaves when it is in the first half for good, that is, when every pull before it has been observed;
with prompt rewards half of them are kept. The k-th observed reward of an arm, in pull order and
from zero, is always in slot k mod 8 of its chunk.
"""

from __future__ import annotations

import functools
import itertools
from typing import Annotated, Any, NamedTuple

import numpy as np

from rotting.kernel.arrays import FloatArray, IntArray
from rotting.kernel.compilable import shared
from rotting.kernel.state import Finite, Numbers, Place, Uncleared, Within
from rotting.models._families import CACHED, Family, ordered_rows
from rotting.policies.parts.nearest import nearest, nearest_of_all

__all__ = [
    "HalfTables",
    "Halves",
    "add_reward",
    "constant_of",
    "detect",
    "empty_halves",
    "half_tables",
    "worth_of",
]

CHUNK = 8  # a cache line of rewards; larger chunks are no faster
_MASK = CHUNK - 1
NOWHERE = -1
PROMPT = -1  # an arm whose rewards have come in order, none missing


_ARENA = ("after", "before", "pending_pull", "pending")  # fields by chunk
_BY_ARM = ("lead", "total", "closest", "settled", "halves", "expected", "head", "tail", "middle")


class HalfTables(NamedTuple):
    """A family's tables [n, theta].

    Attributes:
        mu: mu(n; theta).
        sums: The sums of mu over j <= n.
        means: sums / n, tabulated because a division would delay the next decision.
        halves: The sums over the first floor(n / 2) pulls, less the rest.
        ordered: Rows of `halves` below this one are in order, see `parts.nearest`.
    """

    mu: FloatArray
    sums: FloatArray
    means: FloatArray
    halves: FloatArray
    ordered: int


def _make_tables(family: Family, length: int) -> HalfTables:
    mu, sums, _ = family.rows(length)
    halves = 2.0 * sums[np.arange(length + 1) // 2] - sums
    means = sums / np.maximum(1, np.arange(length + 1))[:, None]
    means.flags.writeable = halves.flags.writeable = False
    return HalfTables(mu, sums, means, halves, ordered_rows(halves))


_cached_tables = functools.lru_cache(maxsize=8)(_make_tables)


def half_tables(family: Family, length: int) -> HalfTables:
    """The tables of a family for n = 0..length; long ones are not cached.

    Args:
        family: The family.
        length: The last n: `reach` + 1.

    Returns:
        For the params.
    """
    return (_cached_tables if length <= CACHED else _make_tables)(family, length)


class Halves(NamedTuple):
    """Rewards that may still change sides, and their sums.

    The policy counts n, the number of an arm's rewards that take part. "Gaps" are missing or late
    rewards: from the first one on, an arm keeps its own sums of the models' means. Queues and the
    free list hold the numbers of chunks in the arena.

    Attributes:
        lead: The first half's sum less the second's.
        total: The sum of all rewards.
        closest: theta-hat, as its place in Theta.
        settled: With gaps, the number of rewards that have left the arena; PROMPT (-1) without.
        halves: [arm, theta]: with gaps, as in the table.
        expected: [arm, theta]: with gaps, sums of mu.
        head: An arm's first chunk.
        tail: Its last chunk.
        middle: With gaps, the chunk in which its second half begins.
        free: The head of the free list.
        after: The next chunk of a queue or of the free list.
        before: The previous chunk of a queue.
        pending_pull: [chunk, slot]: the pull of each reward, written once there are gaps.
        pending: [chunk, slot]: the rewards.

    >>> from rotting import models
    >>> tables = half_tables(models.Polynomial().over([0.1, 0.9]), 4)
    >>> halves = empty_halves(arms=1, thetas=2, capacity=4)
    >>> for n, reward in enumerate([1.0, 0.5]):
    ...     add_reward(tables, halves, 0, n, n, n + 1, reward)
    ...     halves.closest[0] = detect(tables, halves, 0, n, n + 1, reward)
    >>> int(halves.closest[0]), round(float(constant_of(tables, halves, 0, 2, 1)), 3)
    (1, -0.018)
    """

    lead: Numbers
    total: Numbers
    closest: Annotated[IntArray, Place("halves", axis=1)]
    settled: Annotated[IntArray, Within(PROMPT)]
    halves: Annotated[FloatArray, Finite(), Uncleared()]
    expected: Annotated[FloatArray, Finite(), Uncleared()]
    head: Annotated[IntArray, Place("after", least=NOWHERE)]
    tail: Annotated[IntArray, Place("after", least=NOWHERE)]
    middle: Annotated[IntArray, Place("after", least=NOWHERE), Uncleared()]
    free: Annotated[IntArray, Place("after", least=NOWHERE)]
    after: Annotated[IntArray, Place("after", least=NOWHERE)]
    before: Annotated[IntArray, Place("after", least=NOWHERE), Uncleared()]
    pending_pull: Annotated[IntArray, Within(0), Uncleared()]
    pending: Annotated[FloatArray, Finite(), Uncleared()]

    def grown(self, larger: Halves, state: Any) -> Halves:
        """The same with a larger arena: the new chunks go to the front of the free list.

        New arms come after the old ones.
        """
        old, arms = self.after.size, self.lead.size
        more, more_arms = larger.after.size > old, larger.lead.size > arms
        names = [name for name in self._fields if name in _ARENA and more]
        names += [name for name in self._fields if name in _BY_ARM and more_arms]
        if not names:
            return self
        for name in names:
            kept = getattr(self, name)
            getattr(larger, name)[: kept.shape[0]] = kept
        made = {name: getattr(larger, name) for name in names}
        if more:
            larger.after[-1] = self.free[0]
            made["free"] = np.full(1, old, dtype=np.int64)
        return self._replace(**made)

    def wrong_for(self, taking_part: IntArray, pulls: IntArray) -> str | None:
        """Why no play could have led here, with these numbers of rewards that take part; or None.

        The queues and the free list share all chunks among them, and a queue has the chunks from
        the first reward that may still change sides to the last.
        """
        if np.any(self.pending_pull > pulls.max(initial=0)):
            return "pending_pull must hold pulls that were made"
        after, before = self.after.tolist(), self.before.tolist()
        seen = [False] * len(after)
        for arm, n in enumerate(taking_part.tolist()):
            settled = int(self.settled[arm])
            if settled > n // 2:
                return f"settled must be at most half of arm {arm}'s {n} rewards, got {settled}"
            left = n // 2 if settled == PROMPT else settled
            length = 0 if n == 0 else (n - 1) // CHUNK - left // CHUNK + 1
            queue = _walk_queue(int(self.head[arm]), after, length, seen)
            if queue is None or self.tail[arm] != (queue[-1] if queue else NOWHERE):
                return f"head and tail must enclose the {length} chunks of arm {arm}"
            if any(before[chunk] != previous for previous, chunk in itertools.pairwise(queue)):
                return f"before must lead back through the chunks of arm {arm}"
            place = (n // 2) // CHUNK - left // CHUNK
            if queue and settled != PROMPT and self.middle[arm] != queue[place]:
                return f"middle must be the chunk of arm {arm} with the border between the halves"
        rest = seen.count(False)
        if _walk_queue(int(self.free[0]), after, rest, seen) is None:
            return f"free must lead through the {rest} chunks that no arm has"
        return None


def _walk_queue(first: int, after: list[int], length: int, seen: list[bool]) -> list[int] | None:
    """The chunks of a queue, marked as seen; None for another length or a chunk twice."""
    found: list[int] = []
    chunk = first
    while chunk != NOWHERE:
        if len(found) == length or seen[chunk]:
            return None
        seen[chunk] = True
        found.append(chunk)
        chunk = after[chunk]
    return found if len(found) == length else None


def empty_halves(arms: int, thetas: int, capacity: int) -> Halves:
    """The part at its start, with an arena for `capacity` prompt decisions.

    Args:
        arms: The number of arms.
        thetas: The number of models.
        capacity: The number of decisions, as `init` gets it.

    Returns:
        For a field of the state; `init` makes it.
    """
    chunks = min(capacity, capacity // (2 * CHUNK) + 2 * arms) + 1
    return Halves(
        lead=np.zeros(arms),
        total=np.zeros(arms),
        closest=np.zeros(arms, dtype=np.int64),
        settled=np.full(arms, PROMPT, dtype=np.int64),
        halves=np.zeros((arms, thetas)),
        expected=np.zeros((arms, thetas)),
        head=np.full(arms, NOWHERE, dtype=np.int64),
        tail=np.full(arms, NOWHERE, dtype=np.int64),
        middle=np.full(arms, NOWHERE, dtype=np.int64),
        free=np.zeros(1, dtype=np.int64),
        after=np.append(np.arange(1, chunks), NOWHERE).astype(np.int64),
        before=np.full(chunks, NOWHERE, dtype=np.int64),
        pending_pull=np.zeros((chunks, CHUNK), dtype=np.int64),
        pending=np.zeros((chunks, CHUNK)),
    )


@shared
def _lengthen(kept: Halves, arm: Any) -> Any:
    """Take a chunk off the free list, to the end of an arm's queue."""
    chunk = kept.free[0]
    kept.free[0] = kept.after[chunk]
    tail = kept.tail[arm]
    kept.before[chunk] = tail
    kept.after[chunk] = NOWHERE
    if tail == NOWHERE:
        kept.head[arm] = chunk
    else:
        kept.after[tail] = chunk
    kept.tail[arm] = chunk
    return chunk


@shared
def _shorten(kept: Halves, arm: Any) -> Any:
    """Put the first chunk of an arm's queue on the free list; the queue has another one."""
    chunk = kept.head[arm]
    following = kept.after[chunk]
    kept.after[chunk] = kept.free[0]
    kept.free[0] = chunk
    kept.before[following] = NOWHERE
    kept.head[arm] = following
    return following


@shared
def _observe_prompt(kept: Halves, arm: Any, n: Any, reward: Any) -> Any:
    """The n-th reward of an arm without gaps; returns the lead."""
    chunk = kept.tail[arm]
    if (n - 1) & _MASK == 0:
        chunk = _lengthen(kept, arm)
    kept.pending[chunk, (n - 1) & _MASK] = reward
    lead = kept.lead[arm] - reward
    if n & 1 == 0:
        slot = ((n >> 1) - 1) & _MASK
        lead += 2.0 * kept.pending[kept.head[arm], slot]
        if slot == _MASK:
            _shorten(kept, arm)
    return lead


@shared
def _note_gap(tables: HalfTables, kept: Halves, arm: Any, n: Any, rewards: Any) -> None:
    """An arm gets its first gap, after `rewards` of them: from here on it has its own sums."""
    for k in range(tables.mu.shape[1]):
        kept.expected[arm, k] = tables.sums[rewards, k]
        kept.halves[arm, k] = tables.halves[n, k]
    kept.settled[arm] = n // 2
    chunk = kept.head[arm]
    kept.middle[arm] = chunk
    for place in range(n // 2, n):
        kept.pending_pull[chunk, place & _MASK] = place + 1
        if place & _MASK == _MASK:
            chunk = kept.after[chunk]


@shared
def _insert(kept: Halves, arm: Any, n: Any, pull: Any, reward: Any) -> Any:
    """Put a reward among the n that an arm has, in pull order; returns its place."""
    chunk = kept.tail[arm]
    if n & _MASK == 0:
        chunk = _lengthen(kept, arm)
    place = n
    while place > kept.settled[arm]:
        slot = place & _MASK
        source = chunk if slot > 0 else kept.before[chunk]
        last = (slot - 1) & _MASK
        if kept.pending_pull[source, last] < pull:
            break
        kept.pending_pull[chunk, slot] = kept.pending_pull[source, last]
        kept.pending[chunk, slot] = kept.pending[source, last]
        chunk = source
        place -= 1
    kept.pending_pull[chunk, place & _MASK] = pull
    kept.pending[chunk, place & _MASK] = reward
    return place


@shared
def _observe_with_gaps(
    tables: HalfTables, kept: Halves, arm: Any, n: Any, pull: Any, reward: Any
) -> Any:
    """A reward of an arm with gaps joins its half, and at most one changes sides."""
    border = n // 2  # the size of the first half
    place = _insert(kept, arm, n, pull, reward)
    if n == 0:
        kept.middle[arm] = kept.head[arm]
    sign = 1.0 if place < border else -1.0
    factor = 0.0
    if place < border and n % 2 == 0:
        factor = -2.0
    if place >= border and n % 2 == 1:
        factor = 2.0
    mover = kept.middle[arm]
    mover_pull = kept.pending_pull[mover, border & _MASK]
    mover_reward = kept.pending[mover, border & _MASK]
    for k in range(tables.mu.shape[1]):
        kept.halves[arm, k] += sign * tables.mu[pull, k] + factor * tables.mu[mover_pull, k]
    border = (n + 1) // 2
    if n % 2 == 1 and border & _MASK == 0:
        kept.middle[arm] = kept.after[mover]
    head = kept.head[arm]
    settled = kept.settled[arm]
    while settled < border and kept.pending_pull[head, settled & _MASK] == settled + 1:
        settled += 1
        if settled & _MASK == 0:
            head = _shorten(kept, arm)
    kept.settled[arm] = settled
    return kept.lead[arm] + sign * reward + factor * mover_reward


@shared
def add_reward(
    tables: HalfTables, kept: Halves, arm: Any, n: Any, rewards: Any, pull: Any, reward: Any
) -> None:
    """Add a reward to its arm's total, before `detect`.

    Args:
        tables: The family's tables.
        kept: The part.
        arm: The arm.
        n: The number of its earlier rewards that took part in the halves.
        rewards: The number of all its earlier rewards.
        pull: The number of the reward's pull.
        reward: The reward.
    """
    if kept.settled[arm] == PROMPT and pull != rewards + 1:
        _note_gap(tables, kept, arm, n, rewards)
    if kept.settled[arm] != PROMPT:
        for k in range(tables.mu.shape[1]):
            kept.expected[arm, k] += tables.mu[pull, k]
    kept.total[arm] += reward


@shared
def detect(tables: HalfTables, kept: Halves, arm: Any, n: Any, pull: Any, reward: Any) -> Any:
    """Sort a reward into its half and detect the model (Eq. 10); ties go to the first theta.

    Args:
        tables: The family's tables.
        kept: The part, after `add_reward`.
        arm: The arm.
        n: The number of its earlier rewards that took part in the halves.
        pull: The number of the reward's pull.
        reward: The reward.

    Returns:
        theta-hat, as its place in Theta; the policy stores it in `kept.closest`.
    """
    if kept.settled[arm] == PROMPT:
        lead = _observe_prompt(kept, arm, n + 1, reward)
        closest = nearest(lead, tables.halves, n + 1, kept.closest[arm], tables.ordered)
    else:
        lead = _observe_with_gaps(tables, kept, arm, n, pull, reward)
        closest = nearest_of_all(lead, kept.halves, arm)
    kept.lead[arm] = lead
    return closest


@shared
def constant_of(tables: HalfTables, kept: Halves, arm: Any, rewards: Any, closest: Any) -> Any:
    """The estimate of the constant mu^c: the mean of all rewards, less that of the model.

    Args:
        tables: The family's tables.
        kept: The part.
        arm: The arm.
        rewards: The number of its rewards.
        closest: The model, as its place in Theta.

    Returns:
        A float.
    """
    expected = tables.means[rewards, closest]
    if kept.settled[arm] != PROMPT:
        expected = kept.expected[arm, closest] / rewards
    return kept.total[arm] / rewards - expected


@shared
def worth_of(tables: HalfTables, kept: Halves, arm: Any, rewards: Any, pull: Any) -> Any:
    """mu^c-hat + mu(pull; theta-hat), the sum of Eq. 12 without its padding.

    Args:
        tables: The family's tables.
        kept: The part.
        arm: The arm.
        rewards: The number of its rewards.
        pull: The number of the pull.

    Returns:
        A float.
    """
    closest = kept.closest[arm]
    return constant_of(tables, kept, arm, rewards, closest) + tables.mu[pull, closest]
