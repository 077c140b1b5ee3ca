"""Intervals of what a policy earns, from replays of the log and of resamples of it.

A replay's mean scatters for two reasons: another log would have other rewards (between), and the
policy decides, and a pooled tape answers, by chance (within). The log is replayed many times, so
that little of the second is left in its mean; a resample is replayed once, so the second has to be
taken out of its scatter:

    se^2 = (variance of resamples - variance of runs) + variance of runs / runs

A pooled tape is read again and again. A policy finds its best arm, by luck a little too good, and
earns more than it could; on a resample that happens once more, so the mean of resamples tells by
how much, and the estimate is less by that (the basic bootstrap's correction). An exact replay reads
every reward once, after it has decided to, and needs none; where its tape ends, the part of its
decisions that is beyond does. Without keys the truth of the resamples is known, the curve that they
were drawn around, so their bias is their mean less what the policy earns on that.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

from rotting.kernel.arrays import FloatArray


@dataclass(frozen=True)
class Estimate:
    """A number with its standard error and interval; NaN where nothing is known of them."""

    mean: float
    error: float
    low: float
    high: float

    def as_data(self) -> dict[str, Any]:
        """As plain data; None for what is not known."""
        names = ("mean", "error", "low", "high")
        values = {name: float(getattr(self, name)) for name in names}
        return {name: x if math.isfinite(x) else None for name, x in values.items()}

    @property
    def excludes_zero(self) -> bool:
        """Whether zero lies outside the interval."""
        return self.low > 0.0 or self.high < 0.0


def around(mean: float, error: float, level: float, ends: tuple[float, float]) -> Estimate:
    """The interval of a mean that scatters as a Gaussian does, inside what is possible."""
    z = NormalDist().inv_cdf(0.5 + 0.5 * level)
    low, high = mean - z * error, mean + z * error
    return Estimate(mean, error, max(low, ends[0]), min(high, ends[1]))


def estimate(
    runs: FloatArray,
    resamples: FloatArray,
    *,
    bias: float,
    clusters: float,
    level: float,
    ends: tuple[float, float] = (-math.inf, math.inf),
) -> Estimate:
    """The estimate from the means of runs and of resamples, less a bias; keys are the clusters.

    A bootstrap's variance is too small by one part in as many as there are clusters.
    """
    mean = float(runs.mean()) - bias
    if resamples.size < 2:
        return Estimate(mean, math.nan, math.nan, math.nan)
    within = float(runs.var(ddof=1)) if runs.size > 1 else 0.0
    scatter = float(resamples.var(ddof=1))
    between = max(0.0, scatter - within) / (1.0 - 1.0 / clusters)
    variance = between + within / runs.size + (scatter / resamples.size if bias else 0.0)
    return around(min(max(mean, ends[0]), ends[1]), math.sqrt(variance), level, ends)
