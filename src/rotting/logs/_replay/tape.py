"""A log as tapes of rewards that a policy is played on, and resamples of these tapes.

There are three kinds. Without keys an arm's tape is its rewards in pull order (`unkeyed`). With
keys there is a tape for each key and arm or, pooled, for each arm and exposure with the rewards of
all keys (`keyed`). A resample of the first kind draws new rewards; of the others, keys.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rotting._engines.replay_loop import Tape
from rotting.kernel import random
from rotting.kernel.arrays import FloatArray, IntArray
from rotting.logs._log import Log
from rotting.logs._replay.levels import Cells, Levels, cells_of, levels_of


class Sample(NamedTuple):
    """A tape, the key of each decision, and the mean reward of the log's own choices."""

    tape: Tape
    arrivals: npt.NDArray[np.int32]
    logged: float


@dataclass(frozen=True, eq=False)
class Source:
    """A log from which tapes are made: the base of the three kinds.

    Attributes:
        log: The log.
        horizon: The number of its decisions that are played.
        seed: Of the resamples.
        simulator: Means [draw, arm, exposure - 1] of what was not logged. The first draw is the
            estimate; resamples take the others in turn, so that its uncertainty counts.
    """

    log: Log
    horizon: int
    seed: int
    simulator: FloatArray | None = None

    @cached_property
    def by_time(self) -> IntArray:
        """The rows that are played, in the order of time."""
        return np.argsort(self.log.time, kind="stable")[: self.horizon]

    @cached_property
    def known(self) -> IntArray:
        """Rows with known rewards."""
        return np.flatnonzero(~np.isnan(self.log.reward))

    @cached_property
    def rewards(self) -> FloatArray:
        return self.log.reward[self.known]

    @cached_property
    def binary(self) -> bool:
        return self.log.binary

    @cached_property
    def shape(self) -> tuple[int, int]:
        """The number of arms, and the largest exposure."""
        return len(self.log.arms), int(self.log.exposure.max())

    @cached_property
    def cell(self) -> IntArray:
        """The cell of each known row."""
        rows = self.known
        return self.log.arm[rows] * np.int64(self.shape[1]) + self.log.exposure[rows] - 1

    @cached_property
    def cells(self) -> Cells:
        """All known rewards, by arm and exposure."""
        return cells_of(self.cell, self.rewards, self.shape, None, self.binary)

    @cached_property
    def levels(self) -> Levels:
        return levels_of(self.cells)

    @cached_property
    def ends(self) -> tuple[float, float]:
        """The smallest and the largest possible reward; for other than 0 and 1, those seen."""
        seen = float(self.rewards.min()), float(self.rewards.max())
        return (0.0, 1.0) if self.binary else seen

    @cached_property
    def slots(self) -> int:
        """The number of keys of a sample."""
        return 1

    def beyond(self, cells: Cells, number: int, covered: Any = None) -> dict[str, Any]:
        """The fields of a tape for rewards not logged; `covered` are cells of a pooled tape."""
        levels = self.levels if number == 0 else levels_of(cells)
        top = self.ends[1]
        most = np.maximum(levels.best, levels.sure)
        if covered is None:
            ceiling = np.concatenate((most[:, :1], most), axis=1)
            ceiling[~cells.many.any(axis=1)] = top
        else:
            ceiling = _last_covered(most, covered, top)
        curve = levels.best
        if self.simulator is not None:
            draws = self.simulator.shape[0]
            place = 0 if number == 0 or draws == 1 else 1 + (number - 1) % (draws - 1)
            curve = np.ascontiguousarray(self.simulator[place])
        sigma = -1.0 if self.binary else levels.sigma
        return {
            "curve": curve,
            "ceiling": ceiling,
            "floor": self.ends[0],
            "sigma": sigma,
            "edge": random.EDGE,
            "height": random.HEIGHT,
        }

    def most(self, resamples: int) -> int:
        """The largest number of decisions of a resample."""
        return self.horizon

    def original(self) -> Sample:
        """The log itself."""
        raise NotImplementedError

    def resample(self, number: int) -> Sample:
        """A log that might have been logged instead; numbers are from 1."""
        raise NotImplementedError

    def generator(self, number: int) -> np.random.Generator:
        """The random numbers of a resample."""
        return np.random.default_rng([self.seed, number])


def _last_covered(levels: FloatArray, covered: Any, top: float) -> FloatArray:
    """The level at the last covered exposure before each [arm, exposure - 1], and one more."""
    arms, width = levels.shape
    places = np.where(covered, np.arange(width), -1)
    last = np.maximum.accumulate(places, axis=1)
    before = np.concatenate((np.full((arms, 1), -1), last), axis=1)
    found = np.take_along_axis(levels, np.maximum(before, 0), axis=1)
    return np.where(before < 0, top, found)
