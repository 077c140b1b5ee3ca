"""Tapes of a log with keys: of each key and arm, or pooled, of each arm and exposure."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from rotting._engines.replay_loop import EACH, POOLED, Places, Tape
from rotting.kernel.arrays import FloatArray, IntArray
from rotting.logs._replay.levels import Cells, cells_of
from rotting.logs._replay.tape import Sample, Source

LEAST = 5  # rewards that a cell of a pooled tape must have


@dataclass(frozen=True, eq=False)
class Keyed(Source):
    """What both kinds have: keys that can be drawn several times, or not at all."""

    @cached_property
    def slots(self) -> int:
        """As many keys as in the log."""
        return self.log.keys

    @cached_property
    def arrivals(self) -> npt.NDArray[np.int32]:
        """Whose decision each one is."""
        return np.ascontiguousarray(self.log.key[self.by_time], dtype=np.int32)

    @cached_property
    def visits(self) -> IntArray:
        """How many decisions each key has."""
        return np.bincount(self.arrivals, minlength=self.slots)

    @cached_property
    def who(self) -> IntArray:
        """The keys that come at all."""
        return np.flatnonzero(self.visits)

    @cached_property
    def _keys(self) -> IntArray:
        return self.log.key[self.known].astype(np.int64)

    @cached_property
    def _earned(self) -> tuple[FloatArray, FloatArray]:
        """The known rewards of each key in the rows that are played: their sum and number."""
        rewards = self.log.reward[self.by_time]
        known = ~np.isnan(rewards)
        keys = self.arrivals[known]
        sums, many = (
            np.bincount(keys, each, self.slots).astype(np.float64)
            for each in (rewards[known], np.ones(keys.size))
        )
        return sums, many

    def drawn(self, number: int) -> IntArray:
        """The keys of a resample."""
        return self.who[self.generator(number).integers(0, self.who.size, self.who.size)]

    def cells_with(self, times: FloatArray) -> Cells:
        """The cells of a resample that has each key so many times."""
        weights = times[self._keys]
        return cells_of(self.cell, self.rewards, self.shape, weights, self.binary)

    def logged_with(self, times: FloatArray | None) -> float:
        """The mean reward of what was shown."""
        sums, many = self._earned
        weights = np.ones(self.slots) if times is None else times
        total = float(np.sum(weights * many))
        return float(np.sum(weights * sums)) / total if total > 0.0 else float("nan")


@dataclass(frozen=True, eq=False)
class Pooled(Keyed):
    """The rewards of each arm and exposure, of all keys; keys come as they did in the log."""

    @cached_property
    def who(self) -> IntArray:
        """All keys: those that do not come have rewards as well."""
        return np.arange(self.slots)

    @cached_property
    def _ordered(self) -> tuple[IntArray, FloatArray]:
        """The keys and rewards of all known rows, cell by cell."""
        order = np.argsort(self.cell, kind="stable")
        return self._keys[order], self.rewards[order]

    def original(self) -> Sample:
        """The log itself."""
        return self._sample(None, 0)

    def resample(self, number: int) -> Sample:
        """Keys drawn with replacement, with all that was logged of them."""
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
    """A tape for each key and arm; a key that is drawn comes with its own arrivals."""

    @cached_property
    def stories(self) -> tuple[Places, Places, FloatArray]:
        """Where the rewards of each [key, arm] begin, how many, and the rewards, NaN in gaps."""
        log = self.log
        starts = log.story_starts()
        story = np.repeat(np.arange(starts.size - 1), np.diff(starts))
        longest = np.maximum.reduceat(log.exposure.astype(np.int64), starts[:-1])
        begin = np.cumsum(longest) - longest
        rewards = np.full(int(longest.sum()), np.nan)
        rewards[begin[story] + log.exposure - 1] = log.reward
        shape = (self.slots, len(log.arms))
        first, many = np.zeros(shape, dtype=np.int32), np.zeros(shape, dtype=np.int32)
        places = log.key[starts[:-1]], log.arm[starts[:-1]]
        first[places], many[places] = begin, longest
        return first, many, rewards

    def most(self, resamples: int) -> int:
        """Keys that come often may be drawn often."""
        drawn = (self.drawn(number) for number in range(1, resamples + 1))
        return max([self.horizon, *(int(self.visits[keys].sum()) for keys in drawn)])

    def original(self) -> Sample:
        """The log itself."""
        return self.sample(np.arange(self.slots), self.arrivals, None, 0)

    def resample(self, number: int) -> Sample:
        """Keys drawn with replacement, with their tapes, in the rounds in which they came."""
        drawn = np.sort(self.drawn(number))
        times = np.bincount(drawn, minlength=self.slots)
        first = np.cumsum(times) - times  # of the slots that a key is drawn into, side by side
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
        """The tapes of these keys, one a slot."""
        first, many, rewards = self.stories
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
