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
from typing import Any, NamedTuple

import numpy as np

from rotting.compilable import shared
from rotting.models.families import CACHED, Family, ordered_rows
from rotting.policies.base import FloatArray, IntArray
from rotting.policies.parts.nearest import nearest, nearest_of_all

CHUNK = 8  # a cache line of rewards
_MASK = CHUNK - 1
NOWHERE = -1
PROMPT = -1  # an arm whose rewards have come in order, none missing
ROOM = ("halves", "expected", "middle", "before", "pending_pull", "pending")  # see `Verbs`


class HalfTables(NamedTuple):
    """Sums over j <= n of mu(j; theta), their means, and first less second halves: [n, theta]."""

    sums: FloatArray
    means: FloatArray  # a division of sums would hold up the next decision
    halves: FloatArray
    ordered: int  # see `nearest`


def _make_tables(family: Family, length: int) -> HalfTables:
    sums = family.sums_by_pull(length)
    halves = 2.0 * sums[np.arange(length + 1) // 2] - sums
    means = sums / np.maximum(1, np.arange(length + 1))[:, None]
    means.flags.writeable = halves.flags.writeable = False
    return HalfTables(sums, means, halves, ordered_rows(halves))


_cached_tables = functools.lru_cache(maxsize=8)(_make_tables)


def half_tables(family: Family, length: int) -> HalfTables:
    """The tables for n = 0..length; long ones are not kept."""
    return (_cached_tables if length <= CACHED else _make_tables)(family, length)


class Halves(NamedTuple):
    """The fields that a D-CTO policy's state starts with."""

    observed: IntArray
    lead: FloatArray
    total: FloatArray  # of all rewards
    settled: IntArray  # with gaps: how many rewards have left the arena; -1 without
    halves: FloatArray  # [arm, theta]: for an arm with gaps, what the table has, and sums of mu
    expected: FloatArray
    head: IntArray  # an arm's first and last chunk, and with gaps where the second half begins
    tail: IntArray
    middle: IntArray
    free: IntArray  # the first of the unused chunks
    after: IntArray
    before: IntArray
    pending_pull: IntArray  # [chunk, slot]; written once there are gaps
    pending: FloatArray


def empty_halves(arms: int, thetas: int, capacity: int) -> Halves:
    """Nothing observed; room for the rewards that so many prompt decisions leave in the arena."""
    chunks = min(capacity, capacity // (2 * CHUNK) + 2 * arms) + 1
    return Halves(
        observed=np.zeros(arms, dtype=np.int64),
        lead=np.zeros(arms),
        total=np.zeros(arms),
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


def grow_halves(state: Any, arms: int, capacity: int) -> Any:
    """The same with room for more: the new chunks go to the front of the unused ones."""
    old = state.after.size
    larger = empty_halves(arms, state.halves.shape[1], capacity)
    if larger.after.size <= old:
        return state
    for name in ("after", "before", "pending_pull", "pending"):
        getattr(larger, name)[:old] = getattr(state, name)
    larger.after[-1] = state.free[0]
    return state._replace(
        free=np.full(1, old, dtype=np.int64),
        after=larger.after,
        before=larger.before,
        pending_pull=larger.pending_pull,
        pending=larger.pending,
    )


@shared
def _lengthen(state: Any, arm: Any) -> Any:
    """A new chunk at the end of an arm's queue."""
    chunk = state.free[0]
    state.free[0] = state.after[chunk]
    tail = state.tail[arm]
    state.before[chunk] = tail
    state.after[chunk] = NOWHERE
    if tail == NOWHERE:
        state.head[arm] = chunk
    else:
        state.after[tail] = chunk
    state.tail[arm] = chunk
    return chunk


@shared
def _shorten(state: Any, arm: Any) -> Any:
    """Give the first chunk of an arm's queue back; another one follows it."""
    chunk = state.head[arm]
    following = state.after[chunk]
    state.after[chunk] = state.free[0]
    state.free[0] = chunk
    state.before[following] = NOWHERE
    state.head[arm] = following
    return following


@shared
def _observe_prompt(state: Any, arm: Any, n: Any, reward: Any) -> Any:
    """The n-th reward of an arm without gaps; returns the lead."""
    chunk = state.tail[arm]
    if (n - 1) & _MASK == 0:
        chunk = _lengthen(state, arm)
    state.pending[chunk, (n - 1) & _MASK] = reward
    lead = state.lead[arm] - reward
    if n & 1 == 0:
        slot = ((n >> 1) - 1) & _MASK
        lead += 2.0 * state.pending[state.head[arm], slot]
        if slot == _MASK:
            _shorten(state, arm)
    return lead


@shared
def note_gap(params: Any, state: Any, arm: Any, rewards: Any) -> None:
    """An arm gets its first gap, after so many rewards: write out what the tables stood for."""
    n = state.observed[arm]
    for k in range(params.mu.shape[1]):
        state.expected[arm, k] = params.sums[rewards, k]
        state.halves[arm, k] = params.halves[n, k]
    state.settled[arm] = n // 2
    chunk = state.head[arm]
    state.middle[arm] = chunk
    for place in range(n // 2, n):
        state.pending_pull[chunk, place & _MASK] = place + 1
        if place & _MASK == _MASK:
            chunk = state.after[chunk]


@shared
def _insert(state: Any, arm: Any, n: Any, pull: Any, reward: Any) -> Any:
    """Put a reward among the n that an arm has, in pull order; returns its place."""
    chunk = state.tail[arm]
    if n & _MASK == 0:
        chunk = _lengthen(state, arm)
    place = n
    while place > state.settled[arm]:
        slot = place & _MASK
        source = chunk if slot > 0 else state.before[chunk]
        last = (slot - 1) & _MASK
        if state.pending_pull[source, last] < pull:
            break
        state.pending_pull[chunk, slot] = state.pending_pull[source, last]
        state.pending[chunk, slot] = state.pending[source, last]
        chunk = source
        place -= 1
    state.pending_pull[chunk, place & _MASK] = pull
    state.pending[chunk, place & _MASK] = reward
    return place


@shared
def _observe_with_gaps(params: Any, state: Any, arm: Any, pull: Any, reward: Any) -> Any:
    """A reward of an arm with gaps joins its half, and at most one changes sides."""
    n = state.observed[arm]
    border = n // 2  # as many are in the first half
    place = _insert(state, arm, n, pull, reward)
    if n == 0:
        state.middle[arm] = state.head[arm]
    sign = 1.0 if place < border else -1.0
    factor = 0.0
    if place < border and n % 2 == 0:
        factor = -2.0
    if place >= border and n % 2 == 1:
        factor = 2.0
    mover = state.middle[arm]
    mover_pull = state.pending_pull[mover, border & _MASK]
    mover_reward = state.pending[mover, border & _MASK]
    for k in range(params.mu.shape[1]):
        state.halves[arm, k] += sign * params.mu[pull, k] + factor * params.mu[mover_pull, k]
    border = (n + 1) // 2
    if n % 2 == 1 and border & _MASK == 0:
        state.middle[arm] = state.after[mover]
    head = state.head[arm]
    settled = state.settled[arm]
    while settled < border and state.pending_pull[head, settled & _MASK] == settled + 1:
        settled += 1
        if settled & _MASK == 0:
            head = _shorten(state, arm)
    state.settled[arm] = settled
    return state.lead[arm] + sign * reward + factor * mover_reward


@shared
def detect(params: Any, state: Any, arm: Any, pull: Any, reward: Any) -> Any:
    """Sort a reward into its half and return theta-hat (Eq. 10), the first in Theta's order.

    If the reward leaves a gap, `note_gap` has been called before.
    """
    n = state.observed[arm] + 1
    if state.settled[arm] == PROMPT:
        lead = _observe_prompt(state, arm, n, reward)
        closest = nearest(lead, params.halves, n, state.closest[arm], params.ordered)
    else:
        lead = _observe_with_gaps(params, state, arm, pull, reward)
        closest = nearest_of_all(lead, state.halves, arm)
    state.observed[arm] = n
    state.lead[arm] = lead
    return closest


@shared
def add_reward(params: Any, state: Any, arm: Any, rewards: Any, pull: Any, reward: Any) -> None:
    """Add a reward to its arm's total; `rewards` is how many came before. Notes the first gap."""
    if state.settled[arm] == PROMPT and pull != rewards + 1:
        note_gap(params, state, arm, rewards)
    if state.settled[arm] != PROMPT:
        for k in range(params.mu.shape[1]):
            state.expected[arm, k] += params.mu[pull, k]
    state.total[arm] += reward


@shared
def constant_of(params: Any, state: Any, arm: Any, rewards: Any, closest: Any) -> Any:
    """The estimate of mu^c: the mean of all rewards, less that of the model."""
    expected = params.means[rewards, closest]
    if state.settled[arm] != PROMPT:
        expected = state.expected[arm, closest] / rewards
    return state.total[arm] / rewards - expected
