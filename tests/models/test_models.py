"""Models and families: values, tables, and refusals that say why."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import twins.models
from rotting import Arm, NoNoise, Scenario, models, theory


@given(st.integers(1, 10**9), st.floats(0, 3), st.integers(1, 500))
def test_closed_forms(n: int, theta: float, length: int) -> None:
    polynomial = models.Polynomial(theta).mean(n)
    assert float(polynomial) == pytest.approx(twins.models.polynomial(n, theta), rel=1e-12)
    plateau = models.Plateau(theta, length=length).mean(n)
    assert float(plateau) == pytest.approx(twins.models.plateau(n, theta, length), rel=1e-12)


@given(st.integers(1, 10**6), st.floats(0, 3), st.floats(0, 1))
def test_what_settles_is_an_exponential_and_a_floor(n: int, theta: float, floor: float) -> None:
    expected = (1.0 - floor) * models.Exponential(theta).mean(n) + floor
    assert float(models.Settling(theta, floor).mean(n)) == pytest.approx(float(expected), rel=1e-12)


def test_the_first_plateau_is_one_pull_shorter() -> None:
    table = models.Plateau(0.5, length=100).table(300)
    assert np.flatnonzero(np.diff(table)).tolist() == [98, 198, 298]


def test_tables_and_sums() -> None:
    family = models.Polynomial().over([0.1, 0.4])
    table, sums = family.table(50), family.sums(50)
    assert table.shape == (2, 50)
    assert sums.shape == (2, 51)
    np.testing.assert_allclose(sums[:, 1:], np.cumsum(table, axis=1))
    np.testing.assert_array_equal(family.by_pull(50)[1:], table.T)
    np.testing.assert_array_equal(family.sums_by_pull(50), sums.T)
    with pytest.raises(ValueError, match="read-only"):
        models.Polynomial(0.1).table(5)[0] = 3.0


def test_any_vectorised_function() -> None:
    model = models.Function(lambda n: 1.0 / (1.0 + np.log(n)))
    assert model.mean([1, 2]).tolist() == [1.0, 1.0 / (1.0 + np.log(2))]
    scenario = Scenario([Arm(model), Arm(models.Constant(0.2))], NoNoise(), 100)
    assert scenario.world().means.shape == (2, 100)


def test_scaled_models() -> None:
    model = models.Scaled(models.Exponential(0.001), 0.03)
    assert float(model.mean(1)) == 0.03
    total = float(theory.cumulative(model, 1000))
    assert total == pytest.approx(model.table(1000).sum())
    assert Arm(model).mean(1) == 0.03
    with pytest.raises(ValueError, match="factor of Scaled must be a number > 0"):
        models.Scaled(models.Constant(1.0), -1.0)


REFUSED: list[tuple[str, Callable[[], object]]] = [
    ("must never rise, but mu\\(3\\)", lambda: models.Table([1.0, 0.5, 0.6])),
    ("must be finite, got nan at n = 2", lambda: models.Table([1.0, float("nan")])),
    ("at least one number", lambda: models.Table([])),
    ("must be numbers", lambda: models.Table(["a"])),  # type: ignore[list-item]
    ("Step must never rise.*n = 8", lambda: models.Step(at=7, before=0.1, after=0.2)),
    ("floor of Settling must be a number from 0 to 1, got 1.2", lambda: models.Settling(1.0, 1.2)),
    ("theta of Settling must be >= 0, got -1", lambda: models.Settling(-1.0, 0.2)),
    ("at of Step must be an integer >= 1, got 0", lambda: models.Step(0, 1.0, 0.5)),
    ("theta of Polynomial must be >= 0, got -0.1.*n = 2", lambda: models.Polynomial(-0.1)),
    ("theta of Plateau.*first at n = 100", lambda: models.Plateau(-0.1, length=100)),
    ("theta of Exponential must be a finite", lambda: models.Exponential(float("nan"))),
    ("length of Plateau must be an integer >= 1", lambda: models.Plateau(0.1, length=0)),
    ("must never rise, but mu\\(2\\)", lambda: models.Function(lambda n: n * 1.0)),
    ("vectorised", lambda: models.Function(lambda n: 1.0)),
    ("must be finite, got inf at n = 1", lambda: models.Function(lambda n: np.inf + 0.0 * n)),
    ("must be callable", lambda: models.Function(3)),  # type: ignore[arg-type]
    ("theta of Plateau.*first at n = 2", lambda: models.Plateau(-0.5, length=1)),
    ("Theta must be a list of numbers", lambda: models.Polynomial().over(0.3)),
    ("model of Family must have a theta", lambda: models.Family(models.Constant(1.0), (0.1,))),
    ("Theta must hold at least one theta", lambda: models.Polynomial().over([])),
    ("Theta must hold different thetas", lambda: models.Polynomial().over([0.1, 0.1])),
    ("theta of Polynomial must be >= 0", lambda: models.Polynomial().over([0.1, -0.2])),
    ("has no theta", lambda: models.Constant(1.0).over([0.1])),
    ("needs a theta", lambda: models.Polynomial().mean(1)),
    ("pull numbers", lambda: models.Polynomial(0.1).mean(0)),
    ("pull numbers", lambda: models.Polynomial(0.1).mean(1.5)),
]


@pytest.mark.parametrize(("words", "wrong"), REFUSED, ids=[words for words, _ in REFUSED])
def test_refused_at_construction(words: str, wrong: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match=words):
        wrong()


def test_a_late_rise_is_found_before_the_run() -> None:
    late = models.Function(lambda n: np.where(n < 5000, 1.0, 2.0))
    scenario = Scenario([Arm(late)], NoNoise(), 6000)
    with pytest.raises(ValueError, match=r"mu\(5000\) = 2.0 > mu\(4999\) = 1.0"):
        scenario.world()
