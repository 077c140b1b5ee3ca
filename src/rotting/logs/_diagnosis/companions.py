"""Simpler estimates beside the joint model, each right under an assumption of its own."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from rotting.kernel.arrays import FloatArray, IntArray
from rotting.logs._diagnosis.stories import Stories
from rotting.logs._log import Log

_PERIODS = 24  # into which the log's time is cut
_SWEEPS = 200
_WEIGHT = 20.0  # the most that a row may stand for


class Slope(NamedTuple):
    """An estimate with its standard error; `per` says of what."""

    value: float
    error: float
    per: str
    scale: str = "raw"

    @property
    def p_falls(self) -> float:
        """The one-sided p-value of a fall."""
        from scipy.stats import norm

        return float(norm.cdf(self.value / self.error)) if self.error > 0.0 else math.nan

    @property
    def p_value(self) -> float:
        """The two-sided p-value."""
        below = self.p_falls
        return 2.0 * min(below, 1.0 - below)

    def as_data(self) -> dict[str, float | str]:
        """As plain data."""
        return {
            "slope": self.value,
            "standard_error": self.error,
            "per": self.per,
            "scale": self.scale,
        }


def periods(stories: Stories, most: int = _PERIODS) -> IntArray:
    """Each row's period of the calendar; periods have about equally many rows."""
    edges = np.unique(np.quantile(stories.calendar, np.linspace(0.0, 1.0, most + 1)))
    found = np.searchsorted(edges[1:-1], stories.calendar, side="right")
    return found.astype(np.int64)


def pooled_trend(stories: Stories) -> Slope:
    """Reward against ln n over all rows: right if nobody leaves, or leavers are like others."""
    return _regression(stories, stories.log.reward, stories.log_exposure, [], "ln n")


def within_keys(stories: Stories, *, calendar: bool, logs: bool = False) -> Slope:
    """Reward against the showing's number with effects of each key, and of each period.

    Right if keys leave by what they are, and not by what they were just paid. With `logs` of the
    logarithm of positive rewards, others left out.
    """
    log = stories.log
    reward = log.reward
    rows = np.ones(reward.size, dtype=bool)
    if logs:
        rows = reward > 0.0
        reward = np.log(np.where(rows, reward, 1.0))
    groups = [_story_of(log)]
    if calendar:
        groups.append(periods(stories))
    scale = "logarithms" if logs else "raw"
    exposure = log.exposure.astype(np.float64)
    return _regression(stories, reward, exposure, groups, "showing", rows, scale)


def weighted_differences(stories: Stories) -> Slope:
    """Mean of each reward less the one before it, weighted by who was likely to leave (IPCW).

    Right if keys leave by the rewards that were seen, and not by what they are.
    """
    log = stories.log
    reward = log.reward
    size = reward.size
    follows = np.zeros(size, dtype=bool)
    same = _story_of(log)
    follows[:-1] = (np.diff(same) == 0) & (np.diff(log.exposure) == 1)
    asked = (stories.ended >= 0) | follows
    high = reward > float(np.median(reward[reward > reward.min()])) - 1e-12
    cell = 2 * np.minimum(np.round(4.0 * stories.log_exposure).astype(np.int64), 40) + high
    stayed = np.bincount(cell[asked], follows[asked].astype(float), minlength=82)
    there = np.bincount(cell[asked], minlength=82)
    chance = np.where(there > 0, stayed / np.maximum(there, 1), 1.0)
    rows = np.flatnonzero(follows)
    weight = np.minimum(_WEIGHT, 1.0 / np.maximum(chance[cell[rows]], 1e-9))
    difference = reward[rows + 1] - reward[rows]
    unit = np.searchsorted(stories.starts, rows, side="right") - 1
    sums = np.bincount(unit, weight * difference, minlength=stories.units)
    weights = np.bincount(unit, weight, minlength=stories.units)
    total = float(weights.sum())
    value = float(sums.sum()) / max(total, 1e-12)
    error = math.sqrt(float(np.sum((sums - value * weights) ** 2))) / max(total, 1e-12)
    return Slope(value, error, "showing")


def first_exposures(stories: Stories) -> Slope:
    """First showings against time: they cannot have rotted, so the trend is the calendar's."""
    first = stories.log.exposure == 1
    return _regression(
        stories, stories.log.reward, stories.calendar, [], "length of the log", first
    )


def separability(stories: Stories, *, within: bool, logs: bool) -> float:
    """1 - R^2 of the showing's number, or its logarithm, on periods, and, if `within`, on stories.

    Near zero use and calendar move together, and the log cannot tell them apart.
    """
    groups = [periods(stories)] + ([_story_of(stories.log)] if within else [])
    number = stories.log_exposure if logs else stories.log.exposure.astype(np.float64)
    total = float(np.var(number))
    rest, _ = _residuals(number, groups, np.ones(number.size, dtype=bool))
    return float(np.mean(rest * rest)) / total if total > 0.0 else 0.0


def _story_of(log: Log) -> IntArray:
    starts = log.story_starts()
    return np.repeat(np.arange(len(starts) - 1), np.diff(starts))


def _residuals(
    values: FloatArray, groups: list[IntArray], rows: FloatArray | np.ndarray
) -> tuple[FloatArray, int]:
    """What is left of the values when the groups' means are taken out, in turn until they stay."""
    chosen = values[rows] - float(values[rows].mean())
    lost = 1
    for _ in range(_SWEEPS if len(groups) > 1 else 1):
        largest = 0.0
        for group in groups:
            places = group[rows]
            counts = np.bincount(places)
            means = np.bincount(places, chosen) / np.maximum(counts, 1)
            chosen = chosen - means[places]
            largest = max(largest, float(np.max(np.abs(means))))
        if largest < 1e-9:
            break
    for group in groups:
        lost += int(np.count_nonzero(np.bincount(group[rows]))) - 1
    return chosen, lost


def _regression(
    stories: Stories,
    reward: FloatArray,
    x: FloatArray,
    groups: list[IntArray],
    per: str,
    rows: np.ndarray | None = None,
    scale: str = "raw",
) -> Slope:
    """A slope with standard errors by unit (key, or block of an arm's rows)."""
    if rows is None:
        rows = np.ones(reward.size, dtype=bool)
    if np.count_nonzero(rows) < 3:
        return Slope(math.nan, math.nan, per, scale)
    y, _ = _residuals(reward, groups, rows)
    z, _ = _residuals(x, groups, rows)
    square = float(z @ z)
    if square <= 1e-12 * max(1.0, float(x @ x)):
        return Slope(math.nan, math.nan, per, scale)
    value = float(z @ y) / square
    unit = (np.searchsorted(stories.starts, np.flatnonzero(rows), side="right") - 1).astype(int)
    parts = np.bincount(unit, z * (y - value * z), minlength=stories.units)
    used = max(2, int(np.count_nonzero(np.bincount(unit))))
    error = math.sqrt(float(parts @ parts) * used / (used - 1)) / square
    return Slope(value, error, per, scale)
