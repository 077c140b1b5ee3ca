"""Tapes of a log with keys: of each key and arm, or pooled, of each arm and exposure."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from rotting.arrays import FloatArray, IntArray
from rotting.engines.replay import EACH, POOLED, Tape
from rotting.logs.levels import cells_of
from rotting.logs.tape import Sample, Source

LEAST = 5  # rewards that a cell of a pooled tape must have


@dataclass(frozen=True, eq=False)
class Pooled(Source):
    """The rewards of each arm and exposure, of all keys; keys come as they did in the log."""

    @cached_property
    def slots(self) -> int:
        """As many keys as in the log."""
        return self.log.keys

    @cached_property
    def _order(self) -> IntArray:
        return np.argsort(self.cell, kind="stable")

    @cached_property
    def arrivals(self) -> npt.NDArray[np.int32]:
        """Whose decision each one is."""
        return np.ascontiguousarray(self.log.key[self.by_time], dtype=np.int32)

    def original(self) -> Sample:
        """The log itself."""
        return self._sample(None, 0)

    def resample(self, number: int) -> Sample:
        """Keys drawn with replacement, with all that was logged of them."""
        keys = self.log.keys
        drawn = self.generator(number).integers(0, keys, keys)
        return self._sample(np.bincount(drawn, minlength=keys), number)

    def _sample(self, times: IntArray | None, number: int) -> Sample:
        rows = self.known[self._order]
        rewards = self.log.reward[rows]
        each = weight = None
        cells = self.cells
        if times is not None:
            each = times[self.log.key]
            weight = each.astype(np.float64)
            cells = cells_of(self.cell, self.log.reward[self.known], self.shape, weight[self.known])
            rewards = np.repeat(rewards, each[rows])
        count = np.rint(cells.count).astype(np.int64)
        ends = np.cumsum(count).reshape(self.shape)
        tape = Tape(
            kind=POOLED,
            first=ends - count,
            count=count,
            least=LEAST,
            rewards=rewards,
            means=cells.means,
            **self.beyond(cells, number, count >= LEAST),
        )
        return Sample(tape, self.arrivals, self._logged(self.log.reward, weight))


@dataclass(frozen=True, eq=False)
class Each(Source):
    """A tape for each key and arm; a key that is drawn comes with its own arrivals."""

    @cached_property
    def slots(self) -> int:
        """As many keys as in the log."""
        return self.log.keys

    @cached_property
    def _stories(self) -> tuple[IntArray, IntArray, FloatArray]:
        """Where the rewards of each [key, arm] begin, how many, and the rewards, NaN in gaps."""
        log = self.log
        starts = log.story_starts()
        story = np.repeat(np.arange(starts.size - 1), np.diff(starts))
        longest = np.maximum.reduceat(log.exposure.astype(np.int64), starts[:-1])
        begin = np.cumsum(longest) - longest
        rewards = np.full(int(longest.sum()), np.nan)
        rewards[begin[story] + log.exposure - 1] = log.reward
        shape = (self.slots, len(log.arms))
        first, count = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
        places = log.key[starts[:-1]], log.arm[starts[:-1]]
        first[places], count[places] = begin, longest
        return first, count, rewards

    @cached_property
    def _visits(self) -> tuple[IntArray, IntArray]:
        """The rounds in which each key comes, key by key, and where each key's begin."""
        keys = self.log.key[self.by_time]
        starts = np.searchsorted(keys[np.argsort(keys, kind="stable")], np.arange(self.slots + 1))
        return np.argsort(keys, kind="stable"), starts

    def most(self, resamples: int) -> int:
        """Keys that come often may be drawn often."""
        visits = np.diff(self._visits[1])
        drawn = (self._drawn(number) for number in range(1, resamples + 1))
        return max(self.horizon, *(int(visits[keys].sum()) for keys in drawn), 1)

    def _drawn(self, number: int) -> IntArray:
        return self.generator(number).integers(0, self.slots, self.slots)

    def original(self) -> Sample:
        """The log itself."""
        arrivals = np.ascontiguousarray(self.log.key[self.by_time], dtype=np.int32)
        return self._sample(np.arange(self.slots), arrivals, None, 0)

    def resample(self, number: int) -> Sample:
        """Keys drawn with replacement, with their tapes, in the rounds in which they came."""
        drawn = self._drawn(number)
        rounds, starts = self._visits
        visits = np.diff(starts)[drawn]
        slot = np.repeat(np.arange(self.slots), visits)
        nth = np.arange(slot.size) - np.repeat(np.cumsum(visits) - visits, visits)
        when = rounds[starts[drawn][slot] + nth]
        arrivals = slot[np.argsort(when, kind="stable")].astype(np.int32)
        times = np.bincount(drawn, minlength=self.slots).astype(np.float64)
        return self._sample(drawn, arrivals, times, number)

    def _sample(
        self,
        keys: IntArray,
        arrivals: npt.NDArray[np.int32],
        times: FloatArray | None,
        number: int,
    ) -> Sample:
        first, count, rewards = self._stories
        cells, weight = self.cells, None
        if times is not None:
            weight = times[self.log.key]
            cells = cells_of(self.cell, self.log.reward[self.known], self.shape, weight[self.known])
        tape = Tape(
            kind=EACH,
            first=first[keys],
            count=count[keys],
            least=1,
            rewards=rewards,
            means=np.zeros((1, 1)),
            **self.beyond(cells, number),
        )
        return Sample(tape, arrivals, self._logged(self.log.reward, weight))
