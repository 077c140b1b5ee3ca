"""The simpler estimates, against regressions with a column for every key and period."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from helpers.small_logs import small, stories
from rotting.kernel.arrays import FloatArray
from rotting.logs import read, synthetic
from rotting.logs._diagnosis import companions
from rotting.logs._diagnosis.companions import Slope
from rotting.logs._diagnosis.stories import Stories, stories_of


def dummies(labels: Any) -> FloatArray:
    """A column of zeros and ones for each label."""
    labels = np.asarray(labels)
    return np.stack([(labels == one).astype(float) for one in np.unique(labels)], axis=1)


def story_labels(found: Stories) -> FloatArray:
    return 1000 * found.log.key.astype(int) + found.log.arm


def regression(
    y: FloatArray, x: FloatArray, others: list[FloatArray], unit: Any
) -> tuple[float, float]:
    """The slope by least squares with all columns, and its error by unit."""
    beside = np.column_stack([np.ones(len(y)), *others])
    design = np.column_stack([x, beside])
    rest = y - design @ np.linalg.lstsq(design, y, rcond=None)[0]
    alone = x - beside @ np.linalg.lstsq(beside, x, rcond=None)[0]
    slope = float(alone @ y / (alone @ alone))
    meat = 0.0
    units = np.unique(unit)
    for one in units:
        meat += float(np.sum((alone * rest)[unit == one])) ** 2
    factor = len(units) / (len(units) - 1)
    return slope, math.sqrt(meat * factor) / float(alone @ alone)


CASES = [
    stories_of(small(1, keys=40, most=8)),
    stories_of(small(2, keys=30, gaussian=True, missing=0.1)),
]


@pytest.mark.parametrize("found", CASES)
def test_periods_have_about_equally_many_rows_in_the_order_of_time(found: Stories) -> None:
    period = companions.periods(found, 6)
    counts = np.bincount(period)
    assert len(counts) == 6
    assert counts.max() - counts.min() <= 2
    order = np.argsort(found.log.time)
    assert np.all(np.diff(period[order]) >= 0)


@pytest.mark.parametrize("found", CASES)
def test_the_pooled_trend(found: Stories) -> None:
    log = found.log
    expected = regression(log.reward, np.log(log.exposure), [], log.key)
    slope = companions.pooled_trend(found)
    assert slope[:2] == pytest.approx(expected, rel=1e-9)
    assert slope.per == "ln n"


@pytest.mark.parametrize("calendar", [False, True])
@pytest.mark.parametrize("found", CASES)
def test_slopes_within_keys(found: Stories, calendar: bool) -> None:
    log = found.log
    others = [dummies(story_labels(found))]
    if calendar:
        others.append(dummies(companions.periods(found)))
    expected = regression(log.reward, log.exposure.astype(float), others, log.key)
    slope = companions.within_keys(found, calendar=calendar)
    assert slope[:2] == pytest.approx(expected, rel=1e-5)


def test_slopes_of_logarithms_leave_out_what_has_none() -> None:
    found = stories_of(small(2, keys=40, gaussian=True))
    found.log.reward[::9] *= -1.0
    log, rows = found.log, found.log.reward > 0.0
    assert 0 < np.sum(~rows) < 40
    others = [dummies(story_labels(found)[rows]), dummies(companions.periods(found)[rows])]
    number = log.exposure[rows].astype(float)
    expected = regression(np.log(log.reward[rows]), number, others, log.key[rows])
    slope = companions.within_keys(found, calendar=True, logs=True)
    assert slope[:2] == pytest.approx(expected, rel=1e-5)
    assert slope.scale == "logarithms"


@pytest.mark.parametrize("found", CASES)
def test_first_showings_over_time(found: Stories) -> None:
    log, first = found.log, found.log.exposure == 1
    expected = regression(log.reward[first], found.calendar[first], [], log.key[first])
    assert companions.first_exposures(found)[:2] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("within", [False, True])
@pytest.mark.parametrize("found", CASES)
def test_separability_is_what_periods_and_keys_leave_unexplained(
    found: Stories, within: bool
) -> None:
    number = found.log.exposure.astype(float) if within else np.log(found.log.exposure)
    columns = [dummies(companions.periods(found))]
    if within:
        columns.append(dummies(story_labels(found)))
    design = np.column_stack(columns)
    rest = number - design @ np.linalg.lstsq(design, number, rcond=None)[0]
    expected = float(np.sum(rest**2) / np.sum((number - number.mean()) ** 2))
    assert companions.separability(found, within=within, logs=not within) == pytest.approx(
        expected, rel=1e-5
    )


def test_nothing_is_apart_where_all_begin_on_one_day() -> None:
    found = stories_of(read(synthetic(starts="lockstep", keys=40)))
    assert companions.separability(found, within=False, logs=True) == pytest.approx(0.0, abs=1e-9)
    assert companions.separability(found, within=True, logs=False) == pytest.approx(0.0, abs=1e-9)


def test_weighted_differences_weigh_by_who_stayed() -> None:
    found = stories_of(read(synthetic("rested", "failure", keys=80, exposures=6, seed=2)))
    log = found.log
    asked: dict[tuple[int, float], list[int]] = {}  # by about 4 ln n, and by what was paid
    pairs = []
    for rows in stories(log).values():
        for place, row in enumerate(rows):
            follows = place + 1 < len(rows)
            cell = round(4.0 * math.log(place + 1)), float(log.reward[row])
            if follows or found.ended[row] >= 0:
                asked.setdefault(cell, []).append(int(follows))
            if follows:
                pairs.append((cell, row, rows[place + 1]))
    weights = [min(20.0, len(asked[cell]) / sum(asked[cell])) for cell, _, _ in pairs]
    steps = [float(log.reward[after] - log.reward[row]) for _, row, after in pairs]
    total = math.fsum(weights)
    value = math.fsum(w * step for w, step in zip(weights, steps, strict=True)) / total
    by_key: dict[int, float] = {}
    for weight, step, (_, row, _) in zip(weights, steps, pairs, strict=True):
        key = int(log.key[row])
        by_key[key] = by_key.get(key, 0.0) + weight * (step - value)
    squares = math.fsum(part * part for part in by_key.values())
    slope = companions.weighted_differences(found)
    assert slope.value == pytest.approx(value, rel=1e-9)
    assert slope.error == pytest.approx(math.sqrt(squares) / total, rel=1e-9)


def test_a_showing_that_is_missing_makes_no_difference() -> None:
    rewards = [5.0, None, 1.0] * 30
    rewards[1] = 4.0  # the first key has all three
    keys = [f"u{row // 3}" for row in range(90)]
    whole = {"key": keys, "time": [0, 1, 2] * 30, "reward": rewards}
    slope = companions.weighted_differences(stories_of(read(whole, arm=False)))
    # from 5 to 4 where one of thirty has a next reward, and weights end at 20; then from 4 to 1
    assert slope.value == pytest.approx((20.0 * -1.0 + 1.0 * -3.0) / 21.0)


def test_p_values_of_a_slope() -> None:
    slope = Slope(-1.96, 1.0, "showing")
    assert slope.p_falls == pytest.approx(0.5 * math.erfc(1.96 / math.sqrt(2.0)))
    assert slope.p_value == pytest.approx(2.0 * slope.p_falls)
    assert Slope(1.96, 1.0, "showing").p_value == pytest.approx(slope.p_value)
    assert math.isnan(Slope(1.0, 0.0, "showing").p_falls)
    assert slope.as_data() == {
        "slope": -1.96,
        "standard_error": 1.0,
        "per": "showing",
        "scale": "raw",
    }


def test_no_slope_where_nothing_varies() -> None:
    rows = {"key": list("abcdefgh"), "time": list(range(8)), "reward": [0, 1] * 4}
    found = stories_of(read(rows, arm=False))
    assert math.isnan(companions.pooled_trend(found).value)
    assert math.isnan(companions.within_keys(found, calendar=True).value)
    assert companions.separability(found, within=False, logs=True) == 0.0
