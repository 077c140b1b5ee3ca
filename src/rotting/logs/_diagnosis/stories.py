"""Stories: all showings of an arm to a key, as the rows that the joint model takes in."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from rotting.kernel.arrays import FloatArray, IntArray
from rotting.logs._diagnosis import joint
from rotting.logs._log import Log

MOST_UNITS = 20_000  # keys that the model is fitted to; of more, a random part
_BLOCKS = 40  # units of an arm's rows, where there are no keys
_NODES, _POWERS = 17, 4
_FEW_LEAVERS, _FEW_GAPS, _FEW_FIRST = 20, 200, 50


class Memory(NamedTuple):
    """All rows, those without a known reward among them: they were shown, and are remembered."""

    place: IntArray  # in the story, from 0
    gap: FloatArray  # days since the row before; inf for the first of a story
    before: FloatArray  # showings before the first row of a story; 0 elsewhere
    known: IntArray  # the rows whose reward is known


class Stories(NamedTuple):
    """A log's rows with known rewards, unit after unit, and what explains them."""

    log: Log
    starts: IntArray
    log_exposure: FloatArray  # ln n
    gap: FloatArray  # days since the showing of the arm to the key before; inf for the first
    calendar: FloatArray  # 0 at the log's first row, 1 at its last
    ended: IntArray
    patience: FloatArray
    memory: Memory

    @property
    def units(self) -> int:
        """How many units there are."""
        return len(self.starts) - 1


def stories_of(log: Log, seed: int = 0, most: int = MOST_UNITS) -> Stories:
    """The stories of a log, of a random part of its keys if there are very many."""
    if log.has_keys and log.keys > most:
        chosen = np.zeros(log.keys, dtype=bool)
        chosen[np.random.default_rng(seed).permutation(log.keys)[:most]] = True
        log = log.only(chosen[log.key])
    ended, gap, patience = _ends(log)
    known = np.flatnonzero(~np.isnan(log.reward))
    memory = _memory(log, gap, known)
    log, ended, gap, patience = log.only(known), ended[known], gap[known], patience[known]
    span = max(float(np.ptp(log.time)), 1e-12) if log.key.size else 1.0
    calendar = (log.time - (log.time.min() if log.key.size else 0.0)) / span
    numbers = np.log(log.exposure.astype(np.float64))
    return Stories(log, _units(log), numbers, gap, calendar, ended, patience, memory)


def _memory(log: Log, gap: FloatArray, known: IntArray) -> Memory:
    starts = log.story_starts()
    place = np.arange(log.key.size) - np.repeat(starts[:-1], np.diff(starts))
    before = np.where(place == 0, log.exposure - 1.0, 0.0)
    return Memory(place, gap, before, known)


def _units(log: Log) -> IntArray:
    """Where units begin: keys, or, without them, blocks of an arm's rows."""
    if log.has_keys:
        starts = np.flatnonzero(np.concatenate(([True], np.diff(log.key) != 0)))
        return np.append(starts, log.key.size).astype(np.int64)
    parts = []
    ends = log.story_starts()
    for begin, end in pairwise(ends):
        blocks = min(_BLOCKS, max(1, (end - begin) // 5))
        parts.append(np.linspace(begin, end, blocks + 1).astype(np.int64)[:-1])
    return np.append(np.concatenate(parts), log.key.size)


def _ends(log: Log) -> tuple[IntArray, FloatArray, FloatArray]:
    """Whether a story ended after each row (1, 0, or -1 if nobody asked), gaps, and patience.

    Patience is the chance that a story which goes on shows nothing more before the log ends: who
    was last seen near its end may come back, so "nothing more was seen" is leaving or patience. A
    story that has reached the highest number of showings was cut by whoever made the table.
    """
    starts = log.story_starts()
    size = log.key.size
    last = np.zeros(size, dtype=bool)
    last[starts[1:] - 1] = True
    gap = np.full(size, math.inf)
    gap[1:] = np.diff(log.time)
    gap[starts[:-1]] = math.inf
    ended = last.astype(np.int64)
    closed = float(log.time.max())
    # gaps after rows in the first half of the log: later ones are seen only if they are short
    early = np.zeros(size, dtype=bool)
    early[1:] = log.time[:-1] <= 0.5 * (closed + float(log.time.min()))
    inner = gap[np.isfinite(gap) & early]
    if inner.size < _FEW_GAPS:
        inner = gap[np.isfinite(gap)]
    patience = np.zeros(size)
    if inner.size:
        ordered = np.sort(inner)
        left = closed - log.time
        patience = 1.0 - np.searchsorted(ordered, left, side="right") / ordered.size
    counts = np.diff(starts)
    top = int(log.exposure.max())
    if log.has_keys and np.mean(log.exposure[starts[1:] - 1] == top) > 1.0 / max(3.0, counts.max()):
        ended[log.exposure == top] = -1
    return ended, gap, patience


def exposure_effect(stories: Stories, half_life: float = math.inf) -> FloatArray:
    """ln(1 + showings before, of which half are forgotten after `half_life` days)."""
    if math.isinf(half_life):
        return stories.log_exposure
    memory = stories.memory
    remembered = memory.before.copy()
    fade = 0.5 ** (memory.gap / half_life)  # 0 where a story begins: its gap is without end
    # row by row of all stories at once: the n-th rows follow from the rows before them
    order = np.argsort(memory.place, kind="stable")
    edges = np.searchsorted(memory.place[order], np.arange(1, int(memory.place.max()) + 2))
    for begin, end in pairwise(edges):
        later = order[begin:end]
        remembered[later] = (remembered[later - 1] + 1.0) * fade[later]
    return np.log1p(remembered[memory.known])


def model_data(stories: Stories, use: FloatArray, *, calendar: bool) -> joint.Data:
    """What the joint model takes in; the first effect is the use, then the calendar's two."""
    log = stories.log
    binary = log.binary
    reward = log.reward.astype(np.float64)
    first = reward[log.exposure == log.exposure.min()]
    level = float(first.mean() if first.size >= _FEW_FIRST else reward.mean())
    spread = float(reward.std()) or 1.0
    columns = [-use]
    if calendar:
        columns += calendar_effects(stories)
    one_each = not log.has_keys
    columns += [(log.arm == arm).astype(np.float64) for arm in _arms(log)[0 if one_each else 1 :]]
    kind = joint.BINARY if binary else joint.GAUSSIAN
    if one_each:  # an arm has its own level, and there is no other
        levels, z, basis = np.array([level]), np.zeros(1), np.zeros((1, 1))
    else:
        levels, z = _grid(stories, level, spread, binary)
        basis = _powers(z)
    seen, pattern = _seen(log, level, spread, binary)
    leaving = log.has_keys and _some_leave(stories)
    return joint.Data(
        stories.starts,
        reward,
        np.ascontiguousarray(np.stack(columns, axis=1)),
        pattern,
        stories.ended,
        stories.patience,
        seen,
        levels,
        z,
        basis,
        kind,
        leaving,
    )


def _some_leave(stories: Stories) -> bool:
    """Whether more stories end than patience explains, by more than chance."""
    asked = stories.ended >= 0
    gone = int(np.sum(stories.ended == 1))
    patient = float(stories.patience[asked].sum())
    return gone > patient + 3.0 * math.sqrt(patient) + _FEW_LEAVERS


def start_of(data: joint.Data) -> FloatArray:
    """Where the search begins: nothing moves the mean, one in ten leaves, weights like a bell."""
    start = np.zeros(data.size)
    if data.leaving:
        start[data.effects] = -2.0
    first = data.size - data.basis.shape[1] - int(data.kind == joint.GAUSSIAN)
    if data.basis.shape[1] > 1:
        start[first + 1] = -2.0
    if data.kind == joint.GAUSSIAN:
        start[-1] = math.log(float(np.std(data.reward)) or 1.0)
    return start


def calendar_effects(stories: Stories) -> list[FloatArray]:
    """A trend and a bend over the time of the log."""
    when = stories.calendar - 0.5
    return [-when, -(when * when * 4.0 - 1.0 / 3.0)]


def _arms(log: Log) -> IntArray:
    """Arms with rows, the most frequent first."""
    counts = np.bincount(log.arm, minlength=len(log.arms))
    order = np.argsort(-counts, kind="stable")
    return order[counts[order] > 0].astype(np.int64)


def _grid(
    stories: Stories, level: float, spread: float, binary: bool
) -> tuple[FloatArray, FloatArray]:
    """Levels that keys may have, and their place on a scale around zero."""
    if binary:
        middle = math.log(max(level, 1e-4) / (1.0 - min(level, 0.999)))
        z = np.linspace(-4.0, 4.0, _NODES)
        return 1.0 / (1.0 + np.exp(-(middle + z))), z / 2.0
    log = stories.log
    sums = np.add.reduceat(log.reward, stories.starts[:-1])
    means = sums / np.diff(stories.starts)
    low, high = np.quantile(means, [0.001, 0.999])
    width = max(float(np.std(means)), 1e-9)
    nodes = int(np.clip(4.0 * (high - low) / max(spread, 1e-9), _NODES, 41))
    levels = np.linspace(low - 0.3 * width, high + 0.3 * width, nodes)
    return levels, (levels - float(means.mean())) / (1.5 * width)


def _powers(z: FloatArray) -> FloatArray:
    return np.stack([z ** (m + 1) for m in range(_POWERS)], axis=1)


def _seen(log: Log, level: float, spread: float, binary: bool) -> tuple[FloatArray, IntArray]:
    """What may lead to leaving, each different row once: one, the reward, ln n."""
    numbers = np.log(log.exposure.astype(np.float64))
    numbers = np.round(numbers * 8.0) / 8.0  # long stories have many numbers
    if binary:
        rows = np.stack([np.ones(len(numbers)), log.reward, numbers], axis=1)
    else:
        height = np.round(np.clip((log.reward - level) / spread, -3.0, 3.0) * 4.0) / 4.0
        above = (log.reward > level).astype(np.float64)
        rows = np.stack([np.ones(len(numbers)), above, height, numbers], axis=1)
    found, place = np.unique(rows, axis=0, return_inverse=True)
    return np.ascontiguousarray(found), place.reshape(-1).astype(np.int64)
