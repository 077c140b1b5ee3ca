"""Confidence intervals of a policy's mean reward, from replays of the log and of resamples.

A replay's mean varies for two reasons: another log would have other rewards (between), and the
policy, and a pooled tape, draw at random (within). The log is replayed many times, so its mean has
little variance within. A resample is replayed once, so the variance within is subtracted from its
variance:

    se^2 = (variance of resamples - variance of runs) + variance of runs / runs

Bias. A policy on a pooled tape reads the same rewards again and again: it finds the arm that is by
luck a little too good, and earns too much. On a resample that happens once more, so the mean of
resamples shows by how much, and the estimate is corrected by that (basic bootstrap). An exact
replay reads every reward once, after the decision, and needs no correction, except for the share of
decisions beyond the end of its tape. Without keys the truth of the resamples is known, the curve
that they were drawn around: their bias is their mean less what the policy earns on that curve.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

from rotting.kernel.arrays import FloatArray


@dataclass(frozen=True)
class Estimate:
    """A number with its standard error and interval; NaN where unknown."""

    mean: float
    error: float
    low: float
    high: float

    def as_data(self) -> dict[str, Any]:
        """As plain data; None for NaN."""
        names = ("mean", "error", "low", "high")
        values = {name: float(getattr(self, name)) for name in names}
        return {name: x if math.isfinite(x) else None for name, x in values.items()}

    @property
    def excludes_zero(self) -> bool:
        return self.low > 0.0 or self.high < 0.0


def around(mean: float, error: float, level: float, ends: tuple[float, float]) -> Estimate:
    """The Gaussian interval of a mean, cut off at the smallest and largest possible value."""
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
    """The estimate from the means of runs and of resamples, less a bias.

    A bootstrap's variance is too small by the factor 1 - 1 / clusters; keys are the clusters.
    """
    mean = float(runs.mean()) - bias
    if resamples.size < 2:
        return Estimate(mean, math.nan, math.nan, math.nan)
    within = float(runs.var(ddof=1)) if runs.size > 1 else 0.0
    scatter = float(resamples.var(ddof=1))
    between = max(0.0, scatter - within) / (1.0 - 1.0 / clusters)
    variance = between + within / runs.size + (scatter / resamples.size if bias else 0.0)
    return around(min(max(mean, ends[0]), ends[1]), math.sqrt(variance), level, ends)
