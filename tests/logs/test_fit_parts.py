"""The parts of a fit against slow twins, and properties that hold for any data."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import twins.fits
from helpers.made_logs import log_of_curves, made_log
from rotting.kernel.arrays import FloatArray
from rotting.logs._fits.curves import curves_of_kind, table_curves
from rotting.logs._fits.factors import Factors, alike, centred, group_values, learn_factors, sums
from rotting.logs._fits.likelihood import profile, shrink
from rotting.logs._fits.rows import Rows, cells_of, rows_of
from rotting.logs._fits.shapes import KINDS, Shape, first_grid, shape_tables
from rotting.models import Model


def one_story(rewards: FloatArray) -> Rows:
    zeros = np.zeros(len(rewards), dtype=int)
    return rows_of(made_log(zeros, zeros, np.arange(len(rewards)), rewards, ("a",)))


@pytest.mark.parametrize("sigma", [None, 0.4])
@given(st.integers(0, 10_000), st.floats(0.0, 1.5))
@settings(max_examples=25, deadline=None)
def test_amplitudes_are_the_likeliest(sigma: float | None, seed: int, theta: float) -> None:
    generator = np.random.default_rng(seed)
    shape = np.arange(1.0, 13.0) ** -theta
    rewards = (generator.random(12) < 0.4).astype(float)
    rewards[:2] = [0.0, 1.0]  # with none, or all, the amplitude is at an end
    if sigma is not None:
        rewards = 0.4 * shape + generator.normal(0.3, sigma, 12)
        rewards[0] += 2.0  # positive on the whole
    rows = one_story(rewards)
    cells = sums(rows, alike(rows, sigma))
    amplitude, value = profile(cells, 0, shape[None, :])
    expected = twins.fits.best_amplitude(rewards, shape, sigma, 0.999 if sigma is None else 10.0)
    assert float(amplitude[0]) == pytest.approx(expected, rel=2e-3)
    flat, level = profile(cells, 0, np.ones((1, 12)))
    twin = [
        twins.fits.log_likelihood(rewards, factor * left, sigma)
        for factor, left in ((amplitude[0], shape), (flat[0], np.ones(12)))
    ]
    assert float(value[0] - level[0]) == pytest.approx(twin[0] - twin[1], rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("sigma", [None, 0.7])
def test_the_likelihood_of_keys(sigma: float | None) -> None:
    log = log_of_curves([lambda n: 0.3 * n**-0.3, lambda n: 0.2 + 0 * n], 7, 5, sigma=sigma)
    rows = rows_of(log)
    means = np.stack([0.3 * rows.nodes**-0.2, 0.25 * rows.nodes**-0.1])
    factors = Factors(np.array([0.4, 1.7]), np.array([0.3, 0.7]), np.zeros((7, 2)), sigma)
    found = group_values(rows, means, factors)
    for key in range(7):
        mine = log.key == key
        curve = means[log.arm[mine], log.exposure[mine] - 1]
        expected = twins.fits.key_log_likelihood(
            log.reward[mine], curve, factors.values, factors.weights, sigma
        )
        assert found[key] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("sigma", [None, 0.5])
@given(st.integers(0, 10_000))
@settings(max_examples=15, deadline=None)
def test_tables_are_isotonic_regressions(sigma: float | None, seed: int) -> None:
    log = log_of_curves([lambda n: 0.5 * n**-0.4], 30, 6, sigma=sigma, spread=0.3, seed=seed)
    rows = rows_of(log)
    cells = sums(rows, alike(rows, sigma))
    found = table_curves(cells, rows.nodes, rows.firsts, 1.0).means(rows.nodes)[0]
    means = [log.reward[log.exposure == n].mean() for n in range(1, 7)]
    expected = twins.fits.never_rising(means, [30.0] * 6)
    np.testing.assert_allclose(found, np.maximum(expected, 1e-3 * found[0]), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("kind", KINDS[:-1])
def test_shapes_are_the_models_that_they_become(kind: str) -> None:
    nodes = np.arange(1, 31)
    numbers, _ = first_grid(kind, nodes)
    tables = shape_tables(kind, numbers, nodes)
    assert (tables[:, 0] == 1.0).all()
    for row in range(0, len(numbers), max(1, len(numbers) // 7)):
        shape = Shape(kind, tuple(numbers[row].tolist()))
        model: Model = shape.model(0.25, 30)
        np.testing.assert_allclose(0.25 * shape.at(nodes), np.maximum(model.table(30), 0.25e-3))
        np.testing.assert_array_equal(shape.at(nodes), tables[row])


def test_cells_follow_each_other() -> None:
    firsts = cells_of(1_000_000)
    assert firsts[:24].tolist() == list(range(1, 25))
    ratios = firsts[25:] / firsts[24:-1]
    assert len(firsts) < 170
    assert ratios.max() < 1.1
    assert cells_of(3).tolist() == [1, 2, 3]


@given(
    st.lists(st.tuples(st.floats(0.01, 1.0), st.floats(0.1, 1e6)), min_size=2, max_size=9),
)
def test_shrinking_stays_between_an_arm_and_the_others(arms: list[tuple[float, float]]) -> None:
    own, precision = (np.array(column) for column in zip(*arms, strict=True))
    found, part = shrink(own, precision, 0.0)
    slack = 1e-9
    assert (found >= own.min() - slack).all()
    assert (found <= own.max() + slack).all()
    assert ((part >= 0.0) & (part <= 1.0)).all()
    assert (np.diff(part[np.argsort(precision)]) >= 0.0).all()
    unknown, zero = shrink(np.append(own, np.nan), np.append(precision, 0.0), 0.0)
    np.testing.assert_allclose(unknown[:-1], found)
    assert zero[-1] == 0.0
    assert own.min() - slack <= unknown[-1] <= own.max() + slack


@pytest.mark.parametrize("sigma", [None, 0.8])
def test_how_keys_differ_is_learnt(sigma: float | None) -> None:
    """Gamma factors that scatter by 0.5, rates far below 1."""
    level = 0.25 if sigma is None else 1.0
    log = log_of_curves([lambda n: level * n**-0.3], 1500, 12, sigma=sigma, seed=3)
    rows = rows_of(log)
    factors, _ = centred(learn_factors(rows, sigma))
    assert factors.weights.sum() == pytest.approx(1.0)
    assert factors.weights @ factors.values == pytest.approx(1.0)
    # a standard deviation of 1,500 values has a standard error of 2 %, more for a gamma's tail and
    # for what 12 rewards a key leave open: 0.06 is some four of them
    assert factors.spread == pytest.approx(0.5, abs=0.06)
    if sigma is not None:
        assert factors.sigma == pytest.approx(sigma, rel=4.0 / np.sqrt(2.0 * len(rows.reward)))


@pytest.mark.parametrize("kind", KINDS)
def test_borrowing_all_is_one_shape_and_none_is_each_alone(kind: str) -> None:
    curves = [lambda n: 0.9 * n**-0.6, lambda n: 0.5 * n**-0.1]
    log = log_of_curves(curves, 400, 8, sigma=0.3, spread=0.0, seed=1)
    rows = rows_of(log)
    cells = sums(rows, alike(rows, 0.3))
    pooled = curves_of_kind(kind, 1.0, cells, rows.nodes, rows.firsts)
    assert len(set(pooled.shapes)) == 1
    alone = curves_of_kind(kind, 0.0, cells, rows.nodes, rows.firsts)
    for arm in range(2):
        only = rows_of(log.only(log.arm == arm))
        single = curves_of_kind(kind, 1.0, sums(only, alike(only, 0.3)), rows.nodes, rows.firsts)
        np.testing.assert_allclose(
            alone.left(rows.nodes)[arm], single.left(rows.nodes)[arm], rtol=1e-3
        )
