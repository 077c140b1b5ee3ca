"""The shape of the fall."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import isotonic_regression

from helpers.small_logs import small
from rotting._show.data import json_text
from rotting.logs import diagnose, read, synthetic
from rotting.logs._diagnosis import words
from rotting.logs._diagnosis.shape import (
    Shape,
    _falling,
    _family,
    by_arm,
    cells_of,
    only_arm,
    shapes,
)
from rotting.logs._diagnosis.stories import stories_of


def test_cells_have_enough_rows_and_hold_every_row() -> None:
    exposure = np.repeat(np.arange(1, 15), [500, 200, 59, 60, 70, 40, 30, 10, 10, 10, 10, 10, 3, 2])
    numbers, cell = cells_of(exposure)
    # 3 has 59 rows and waits for 4; 7 and 8 have 40 and wait for 9 to 12; 13 and 14 have 5
    assert numbers.tolist() == [1, 2, 3, 5, 7]
    assert np.bincount(cell).min() >= 60
    for row, number in enumerate(exposure):
        inside = [edge for edge in numbers if edge <= number]
        assert cell[row] == len(inside) - 1


def test_a_falling_curve_is_kept_and_a_rising_part_is_pooled() -> None:
    weights = np.array([10.0, 1.0, 3.0, 2.0])
    kept = _falling(np.array([1.0, 0.8, 0.6, 0.5]), weights, isotonic_regression)
    np.testing.assert_allclose(kept, [1.0, 0.8, 0.6, 0.5])
    pooled = _falling(np.array([1.0, 0.6, 0.8, 0.5]), weights, isotonic_regression)
    middle = (0.6 * 1.0 + 0.8 * 3.0) / 4.0
    np.testing.assert_allclose(pooled, [1.0, middle, middle, 0.5])
    flat = _falling(np.array([1.0, 1.2, 1.1, 1.3]), weights, isotonic_regression)
    np.testing.assert_allclose(flat, 1.0)


def test_the_curve_of_a_log_that_rots_lies_in_its_band() -> None:
    frame = synthetic("rested", theta=0.4, exposures=8, keys=2500, arms=2, seed=0)
    drawn = shapes(stories_of(read(frame)), calendar=True, seed=0)
    assert [one.name for one in drawn] == ["all arms", "arm 0", "arm 1"]
    for shape in drawn:
        assert shape.numbers[0] == 1
        assert shape.worth[0] == shape.low[0] == shape.high[0] == 1.0
        assert np.all(np.diff(shape.worth) <= 1e-12)
        assert np.all(shape.low <= shape.worth + 1e-9)
        assert np.all(shape.worth <= shape.high + 1e-9)
        own = frame["arm"].to_numpy() == shape.name
        assert shape.rows.sum() == (np.sum(own) if own.any() else len(frame))
        json_text(shape.as_data())
    whole = drawn[0]
    for place, number in enumerate(whole.numbers[:5]):  # 2, 3, 4, 5 are cells of one showing
        error = (whole.high[place] - whole.low[place]) / (2.0 * 1.96)
        assert abs(whole.worth[place] - float(number) ** -0.4) <= 3.5 * error
    assert whole.family == "power"
    assert "n^-0.4" in whole.about or "n^-0.3" in whole.about


def test_arms_that_fall_alike_are_not_compared() -> None:
    """None falls most: the same one would also be the one that falls least."""
    frame = synthetic("rested", theta=0.4, exposures=8, keys=2500, arms=2, seed=0)
    whole, one, other = shapes(stories_of(read(frame)), calendar=True, seed=0)
    found = SimpleNamespace(falls=True)
    said = words.shape(found, [whole, one, other])  # type: ignore[arg-type]
    assert f"{one.name!r} falls most" in said or f"{other.name!r} falls most" in said
    said = words.shape(found, [whole, one, other._replace(worth=one.worth)])  # type: ignore[arg-type]
    alike = words.percent(float(one.worth[-1]))
    assert said.endswith(f"The arms fall alike, to {alike} at showing {one.numbers[-1]}.")


def test_arms_are_compared_at_a_showing_that_all_of_them_have() -> None:
    def shape(name: str, numbers: list[int], worth: list[float]) -> Shape:
        curve = np.array(worth)
        rows = np.full(len(numbers), 100)
        about = "gradually (n^-0.4 sums it up)"
        firsts = np.array(numbers)
        return Shape(name, firsts, curve, curve, curve, curve, rows, 1.0, "power", about)

    long, short = [1.0, 0.8, 0.6, 0.3], [1.0, 0.7, 0.5]
    drawn = [
        shape("all arms", [1, 2, 3, 9], long),
        shape("long", [1, 2, 3, 9], long),
        shape("short", [1, 2, 3], short),
    ]
    said = words.shape(SimpleNamespace(falls=True), drawn)  # type: ignore[arg-type]
    assert "showings from 9 on are worth 30 % of the first" in said
    assert "'short' falls most, to 50 % at showing 3, and 'long' least, to 60 %" in said


def test_raw_means_are_those_of_the_log() -> None:
    log = small(1, keys=150, arms=1, most=5)
    (shape,) = shapes(stories_of(log), calendar=False, seed=0)
    numbers, cell = cells_of(log.exposure)
    means = [float(np.mean(log.reward[cell == one])) for one in range(len(numbers))]
    assert shape.level == pytest.approx(means[0])
    assert shape.raw == pytest.approx([mean / means[0] for mean in means])
    (again,) = shapes(stories_of(log), calendar=False, seed=0)
    np.testing.assert_array_equal(again.low, shape.low)
    (other,) = shapes(stories_of(log), calendar=False, seed=1)
    assert np.any(other.low != shape.low)


def test_one_cell_has_no_shape() -> None:
    log = small(2, keys=10, most=3, arms=1)
    (shape,) = shapes(stories_of(log), calendar=False, seed=0)
    assert shape.numbers.tolist() == [1]
    assert shape.worth.tolist() == [1.0]
    assert shape.family == "unknown"


def test_the_rows_of_one_arm_keep_their_units() -> None:
    found = stories_of(small(3, keys=30))
    part = only_arm(found, 1)
    assert np.all(part.log.arm == 1)
    assert part.starts[-1] == np.sum(found.log.arm == 1)
    for begin, end in zip(part.starts[:-1], part.starts[1:], strict=True):
        assert len(set(part.log.key[begin:end].tolist())) == 1
    assert part.units == len(set(part.log.key.tolist()))
    np.testing.assert_array_equal(part.gap, found.gap[found.log.arm == 1])


@pytest.mark.parametrize(
    ("family", "curve"),
    [
        ("constant", lambda n: 1.0 + 0.0 * n),
        ("power", lambda n: n**-0.3),
        ("exponential", lambda n: 0.3 + 0.7 * np.exp(-0.5 * (n - 1.0))),
        ("step", lambda n: np.where(n >= 4, 0.5, 1.0)),
    ],
)
def test_a_family_is_known_by_its_curve(family: str, curve: object) -> None:
    exposure = np.repeat(np.arange(1, 9), 200)
    numbers, cell = cells_of(exposure)
    rows = np.bincount(cell)
    middles = np.bincount(cell, exposure) / rows
    values = curve(middles)  # type: ignore[operator]
    effects = np.log(values[1:] / values[0])
    covariance = 0.02**2 * (np.eye(len(effects)) + 1.0)  # the first cell's error is in all
    name, about = _family(numbers, rows, cell, exposure, effects, covariance)
    assert name == family
    assert about


def test_each_arm_has_a_row_with_a_verdict() -> None:
    frame = synthetic("rested", theta=0.5, exposures=8, keys=2500, arms=2, seed=0)
    found = diagnose(frame)
    heads, lines = found.arms()
    assert heads[0] == "arm"
    assert [row[0] for row in lines] == [
        one["name"] for one in found["shape"].evidence["curves"][1:]
    ]
    assert [row[-1] for row in lines] == ["yes", "yes"]
    assert "wears out" in str(found)
    curve = np.array([1.0, 0.98])
    rows = np.array([100, 100])
    one = Shape("all arms", np.array([1, 5]), curve, curve, curve, curve, rows, 1.0, "", "")
    drawn = [
        one,
        one._replace(name="stays", theta=0.01, error=0.01, most=0.05),
        one._replace(name="unsure", theta=0.2, error=0.2, most=0.4),
        one._replace(name="falls", theta=0.5, error=0.1, most=0.5),
    ]
    rows_of = by_arm(drawn, 0.1, 0.05)
    assert [row["wears"] for row in rows_of] == ["no", "cannot tell", "yes"]
    assert rows_of[2]["worth"] == pytest.approx(5**-0.5)
    assert rows_of[2]["low"] == pytest.approx(5 ** -(0.5 + 0.196))
    assert by_arm(drawn[:1], 0.1, 0.05) == []
