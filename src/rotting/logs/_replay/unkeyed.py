"""Tapes of a log without keys: all showings of an arm count together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from rotting.logs._replay.keyed import Each
from rotting.logs._replay.tape import Sample


@dataclass(frozen=True, eq=False)
class Plain(Each):
    """One tape for each arm; a resample draws new rewards around the arms' levels."""

    @cached_property
    def slots(self) -> int:
        return 1

    def most(self, resamples: int) -> int:
        return self.horizon

    def resample(self, number: int) -> Sample:
        """New rewards, zeros and ones or Gaussian, around each arm's decreasing curve."""
        log, generator = self.log, self.generator(number)
        means = self.levels.sure[log.arm, log.exposure - 1]
        if self.binary:
            drawn = (generator.random(means.size) < means).astype(np.float64)
        else:
            drawn = generator.normal(means, self.levels.sigma)
        drawn[np.isnan(log.reward)] = np.nan
        other = Plain(replace(log, reward=drawn), self.horizon, self.seed, self.simulator)
        other.__dict__["ends"] = self.ends  # the range of rewards does not change
        return other.sample(np.zeros(1, dtype=np.int64), self.arrivals, None, number)

    def centre(self) -> Sample:
        """The truth of the resamples: an empty tape, with the curve that rewards are drawn around.

        Where a simulator is given, it is the truth beyond the tape.
        """
        sample = self.original()
        tape = sample.tape
        curve = self.levels.sure
        if self.simulator is not None:
            width = max(curve.shape[1], tape.curve.shape[1])
            places = np.arange(width)
            levels, given = (x[:, np.minimum(places, x.shape[1] - 1)] for x in (curve, tape.curve))
            curve = np.where(places < tape.many[0][:, None], levels, given)
        tape = tape._replace(many=np.zeros_like(tape.many), curve=curve)
        return sample._replace(tape=tape)
