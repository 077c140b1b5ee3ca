"""Tapes of a log with keys: one for each key and arm, or pooled over keys."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from rotting._engines.replay_loop import EACH, POOLED, Places, Tape
from rotting.kernel.arrays import FloatArray, IntArray
from rotting.logs._replay.levels import Cells, cells_of
from rotting.logs._replay.tape import Sample, Source

LEAST = 5  # rewards that a cell of a pooled tape needs to be used


@dataclass(frozen=True, eq=False)
class Keyed(Source):
    """A source with keys, which a resample draws with replacement."""

    @cached_property
    def slots(self) -> int:
        return self.log.keys

    @cached_property
    def arrivals(self) -> npt.NDArray[np.int32]:
        return np.ascontiguousarray(self.log.key[self.by_time], dtype=np.int32)

    @cached_property
    def visits(self) -> IntArray:
        return np.bincount(self.arrivals, minlength=self.slots)

    @cached_property
    def who(self) -> IntArray:
        """The keys that have a decision."""
        return np.flatnonzero(self.visits)

    @cached_property
    def _keys(self) -> IntArray:
        return self.log.key[self.known].astype(np.int64)

    @cached_property
    def _earned(self) -> tuple[FloatArray, FloatArray]:
        """Sum and number of each key's known rewards, in the rows that are played."""
        rewards = self.log.reward[self.by_time]
        known = ~np.isnan(rewards)
        keys = self.arrivals[known]
        sums, many = (
            np.bincount(keys, each, self.slots).astype(np.float64)
            for each in (rewards[known], np.ones(keys.size))
        )
        return sums, many

    def drawn(self, number: int) -> IntArray:
        return self.who[self.generator(number).integers(0, self.who.size, self.who.size)]

    def cells_with(self, times: FloatArray) -> Cells:
        """The cells of a resample that has each key `times` times."""
        weights = times[self._keys]
        return cells_of(self.cell, self.rewards, self.shape, weights, self.binary)

    def logged_with(self, times: FloatArray | None) -> float:
        """The mean reward of the log's own choices, with each key `times` times."""
        sums, many = self._earned
        weights = np.ones(self.slots) if times is None else times
        total = float(np.sum(weights * many))
        return float(np.sum(weights * sums)) / total if total > 0.0 else float("nan")


@dataclass(frozen=True, eq=False)
class Pooled(Keyed):
    """The rewards of each arm and exposure from all keys; keys arrive as in the log."""

    @cached_property
    def who(self) -> IntArray:
        """All keys: those without a decision in the rows played have rewards, too."""
        return np.arange(self.slots)

    @cached_property
    def _ordered(self) -> tuple[IntArray, FloatArray]:
        """The keys and rewards of all known rows, sorted by cell."""
        order = np.argsort(self.cell, kind="stable")
        return self._keys[order], self.rewards[order]

    def original(self) -> Sample:
        return self._sample(None, 0)

    def resample(self, number: int) -> Sample:
        """Keys drawn with replacement, each with all its rewards."""
        return self._sample(np.bincount(self.drawn(number), minlength=self.slots), number)

    def _sample(self, times: IntArray | None, number: int) -> Sample:
        keys, rewards = self._ordered
        cells, weights = self.cells, None
        if times is not None:
            weights = times.astype(np.float64)
            cells = self.cells_with(weights)
            rewards = np.repeat(rewards, times[keys])
        many = np.rint(cells.many).astype(np.int64)
        ends = np.cumsum(many).reshape(self.shape)
        tape = Tape(
            kind=POOLED,
            first=(ends - many).astype(np.int32),
            many=many.astype(np.int32),
            least=LEAST,
            rewards=rewards,
            means=cells.means,
            **self.beyond(cells, number, many >= LEAST),
        )
        return Sample(tape, self.arrivals, self.logged_with(weights))


@dataclass(frozen=True, eq=False)
class Each(Keyed):
    """A tape for each key and arm; a key is drawn with its own arrivals."""

    @cached_property
    def sequences(self) -> tuple[Places, Places, FloatArray]:
        """First place and number of rewards of each [key, arm], and all rewards; NaN in gaps."""
        log = self.log
        starts = log.story_starts()
        sequence = np.repeat(np.arange(starts.size - 1), np.diff(starts))
        longest = np.maximum.reduceat(log.exposure.astype(np.int64), starts[:-1])
        begin = np.cumsum(longest) - longest
        rewards = np.full(int(longest.sum()), np.nan)
        rewards[begin[sequence] + log.exposure - 1] = log.reward
        shape = (self.slots, len(log.arms))
        first, many = np.zeros(shape, dtype=np.int32), np.zeros(shape, dtype=np.int32)
        places = log.key[starts[:-1]], log.arm[starts[:-1]]
        first[places], many[places] = begin, longest
        return first, many, rewards

    def most(self, resamples: int) -> int:
        """More than the horizon if keys with many decisions are drawn often."""
        drawn = (self.drawn(number) for number in range(1, resamples + 1))
        return max([self.horizon, *(int(self.visits[keys].sum()) for keys in drawn)])

    def original(self) -> Sample:
        return self.sample(np.arange(self.slots), self.arrivals, None, 0)

    def resample(self, number: int) -> Sample:
        """Keys drawn with replacement, with their tapes, in the order of their arrivals."""
        drawn = np.sort(self.drawn(number))
        times = np.bincount(drawn, minlength=self.slots)
        first = np.cumsum(times) - times  # slot of each key; its copies have neighbouring slots
        copies = times[self.arrivals]
        begin = np.repeat(first[self.arrivals] - np.cumsum(copies) + copies, copies)
        arrivals = (begin + np.arange(begin.size)).astype(np.int32)
        return self.sample(drawn, arrivals, times.astype(np.float64), number)

    def sample(
        self,
        keys: IntArray,
        arrivals: npt.NDArray[np.int32],
        times: FloatArray | None,
        number: int,
    ) -> Sample:
        """The tapes of these keys, one key a slot."""
        first, many, rewards = self.sequences
        cells = self.cells if times is None else self.cells_with(times)
        tape = Tape(
            kind=EACH,
            first=first[keys],
            many=many[keys],
            least=1,
            rewards=rewards,
            means=np.zeros((1, 1)),
            **self.beyond(cells, number),
        )
        return Sample(tape, arrivals, self.logged_with(times))
