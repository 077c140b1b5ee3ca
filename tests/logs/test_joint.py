"""The joint model against its twin, and its errors against cases with a known answer."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest

from rotting.logs._diagnosis import joint
from twins import joint as twin


def case_of(
    seed: int,
    lengths: Sequence[int],
    *,
    binary: bool,
    leaving: bool,
    effects: int = 3,
    levels: int = 5,
    patient: float = 0.5,
    unasked: float = 0.2,
) -> twin.Case:
    """A small made-up case: nothing in it need be likely."""
    rng = np.random.default_rng(seed)
    columns, patterns = 3, 4
    units = []
    for length in lengths:
        rows = []
        for n in range(length):
            gone = int(n == length - 1)
            ended = -1 if rng.random() < unasked else gone
            reward = float(rng.random() < 0.4) if binary else float(rng.normal(1.0, 0.7))
            patience = float(rng.random()) if rng.random() < patient else 0.0
            x = rng.normal(0.0, 0.3, effects).tolist()
            rows.append(twin.Row(x, reward, int(rng.integers(patterns)), ended, patience))
        units.append(rows)
    z = np.linspace(-1.5, 1.5, levels)
    grid = np.linspace(0.1, 0.7, levels) if binary else np.linspace(-0.5, 2.5, levels)
    seen = np.column_stack([np.ones(patterns), rng.normal(size=(patterns, columns - 1))])
    basis = np.stack([z, z * z], axis=1)
    return twin.Case(
        units, seen.tolist(), grid.tolist(), z.tolist(), basis.tolist(), binary, leaving
    )


def data_of(case: twin.Case) -> joint.Data:
    rows = [row for unit in case.units for row in unit]
    return joint.Data(
        np.cumsum([0] + [len(unit) for unit in case.units]).astype(np.int64),
        np.array([row.reward for row in rows]),
        np.array([row.x for row in rows]),
        np.array([row.pattern for row in rows], dtype=np.int64),
        np.array([row.ended for row in rows], dtype=np.int64),
        np.array([row.patience for row in rows]),
        np.array(case.seen),
        np.array(case.levels),
        np.array(case.z),
        np.array(case.basis),
        joint.BINARY if case.binary else joint.GAUSSIAN,
        case.leaving,
    )


def parameters_of(case: twin.Case, seed: int, scale: float = 0.4) -> np.ndarray:
    return np.random.default_rng(1000 + seed).normal(0.0, scale, data_of(case).size)


KINDS = [(binary, leaving) for binary in (True, False) for leaving in (True, False)]
SHORT = [1, 2, 7, 3, 1]


@pytest.mark.parametrize(("binary", "leaving"), KINDS)
@pytest.mark.parametrize("lengths", [SHORT, [1], [60, 2, 45]])
def test_likelihood_and_gradients_are_the_twin_s(
    binary: bool, leaving: bool, lengths: list[int]
) -> None:
    for seed in range(3):
        case = case_of(seed, lengths, binary=binary, leaving=leaving)
        parameters = parameters_of(case, seed)
        likelihood, gradients = joint.scores(parameters, data_of(case))
        assert likelihood == pytest.approx(twin.log_likelihood(parameters.tolist(), case), rel=1e-9)
        slopes = np.array(twin.slopes(parameters.tolist(), case))
        scale = max(1.0, float(np.abs(slopes).max()))
        assert gradients.shape == slopes.shape
        np.testing.assert_allclose(gradients, slopes, rtol=1e-5, atol=1e-7 * scale)
        total = slopes.sum(axis=0)
        np.testing.assert_allclose(gradients.sum(axis=0), total, rtol=1e-5, atol=1e-7 * scale)


@pytest.mark.parametrize("patient", [0.0, 1.0])
@pytest.mark.parametrize("unasked", [0.0, 1.0])
def test_patience_and_rows_that_nobody_asks_about(patient: float, unasked: float) -> None:
    case = case_of(5, SHORT, binary=True, leaving=True, patient=patient, unasked=unasked)
    parameters = parameters_of(case, 5)
    likelihood, gradients = joint.scores(parameters, data_of(case))
    assert likelihood == pytest.approx(twin.log_likelihood(parameters.tolist(), case), rel=1e-9)
    slopes = np.array(twin.slopes(parameters.tolist(), case))
    np.testing.assert_allclose(gradients, slopes, rtol=1e-5, atol=1e-7)
    moved = gradients[:, 3:7]  # three of what was seen, and the level
    assert np.all(moved == 0.0) == (unasked == 1.0)


def test_no_showing_pays_more_surely_than_the_most() -> None:
    case = case_of(7, [4, 30], binary=True, leaving=False, effects=1)
    high = [[row._replace(x=[2.0]) for row in unit] for unit in case.units]
    case = case._replace(units=high)
    parameters = np.array([1.0, 0.3, -0.2])  # e^2 times 0.1, and times 0.25 which is above one
    likelihood, gradients = joint.scores(parameters, data_of(case))
    assert likelihood == pytest.approx(twin.log_likelihood(parameters.tolist(), case), rel=1e-9)
    slopes = np.array(twin.slopes(parameters.tolist(), case))
    np.testing.assert_allclose(gradients, slopes, rtol=1e-5, atol=1e-7)


def test_far_parameters_overflow_nothing() -> None:
    for binary, leaving in KINDS:
        case = case_of(11, [60, 3], binary=binary, leaving=leaving)
        parameters = parameters_of(case, 11, scale=3.0)
        likelihood, gradients = joint.scores(parameters, data_of(case))
        expected = twin.log_likelihood(parameters.tolist(), case)
        assert likelihood == pytest.approx(expected, rel=1e-9)
        assert np.all(np.isfinite(gradients))


def lively(binary: bool, seed: int = 0, keys: int = 150) -> twin.Case:
    """Keys with levels that fall, and that leave by them and by what they were paid."""
    rng = np.random.default_rng(seed)
    z = np.linspace(-1.5, 1.5, 5)
    grid = 0.35 + 0.2 * z if binary else 2.0 + z
    grid = np.clip(grid, 0.05, 0.65) if binary else grid
    seen = [[1.0, 0.0], [1.0, 1.0]]
    units = []
    for _ in range(keys):
        j = int(rng.integers(5))
        rows = []
        for n in range(1, 7):
            mean = grid[j] * n**-0.3
            reward = float(rng.random() < mean) if binary else float(rng.normal(mean, 0.5))
            pattern = int(reward > 0.5)
            gone = rng.random() < 1.0 / (1.0 + math.exp(1.5 - 0.5 * z[j] + 0.5 * pattern))
            rows.append(twin.Row([-math.log(n)], reward, pattern, int(gone) if n < 6 else -1, 0.0))
            if gone:
                break
        units.append(rows)
    basis = np.stack([z, z * z], axis=1).tolist()
    return twin.Case(units, seen, grid.tolist(), z.tolist(), basis, binary, True)


@pytest.mark.parametrize("binary", [True, False])
def test_the_search_ends_where_nothing_rises(binary: bool) -> None:
    case = lively(binary)
    data = data_of(case)
    start = np.zeros(data.size)
    found = joint.fit(data, start)
    assert found.converged
    slopes = np.array(twin.slopes(found.parameters.tolist(), case))
    free = [place for place in range(data.size) if place not in (5, 6)]  # powers are penalised
    size = np.sqrt((slopes**2).sum(axis=0))
    assert np.all(np.abs(slopes.sum(axis=0))[free] < 0.02 * size[free])
    begun = twin.log_likelihood(start.tolist(), case)
    assert twin.log_likelihood(found.parameters.tolist(), case) > begun + 1.0
    theta, error = found.effect(0)
    assert abs(theta - 0.3) < 3.0 * error
    assert 0.01 < error < 0.2


def one_level(rewards: Sequence[Sequence[float]], binary: bool, level: float) -> twin.Case:
    """Units of rewards around one mean, from which nobody leaves."""
    units = [[twin.Row([1.0], reward, 0, -1, 0.0) for reward in unit] for unit in rewards]
    return twin.Case(units, [[1.0]], [level], [0.0], [[0.0]], binary, False)


def test_errors_of_a_mean_are_the_robust_ones_by_unit() -> None:
    rng = np.random.default_rng(3)
    rewards = [(2.0 + rng.normal() + rng.normal(size=1 + unit % 5)).tolist() for unit in range(40)]
    every = np.concatenate(rewards)
    case = one_level(rewards, binary=False, level=1.0)
    data = data_of(case)
    found = joint.with_errors(joint.search(data, np.zeros(data.size)), data)
    mean, count = every.mean(), every.size
    spread = math.sqrt(((every - mean) ** 2).mean())
    near = 0.01 * np.sqrt(np.diag(found.covariance))  # the search may stop so far from the top
    assert found.parameters[0] == pytest.approx(math.log(mean), abs=near[0])
    assert found.parameters[-1] == pytest.approx(math.log(spread), abs=near[-1])
    sums = np.array([np.sum(np.array(unit) - mean) for unit in rewards])
    variance = float(sums @ sums) / count**2
    # the mean is e^beta, so beta's error is the mean's over the mean; there are 40 units
    ratio = found.covariance[0, 0] * mean**2 / variance
    assert ratio == pytest.approx(40 / (40 - data.size), rel=2e-3)
    assert found.effect(0)[1] == pytest.approx(math.sqrt(found.covariance[0, 0]))
    squares = np.array([np.sum((np.array(unit) - mean) ** 2 / spread**2 - 1.0) for unit in rewards])
    variance = float(squares @ squares) / (2.0 * count) ** 2
    ratio = found.covariance[-1, -1] / variance
    assert ratio == pytest.approx(40 / (40 - data.size), rel=2e-3)


def test_errors_of_a_rate_are_the_robust_ones_by_unit() -> None:
    rng = np.random.default_rng(4)
    rates = rng.beta(2.0, 3.0, 60)
    rewards = [(rng.random(4) < rate).astype(float).tolist() for rate in rates]
    every = np.concatenate(rewards)
    case = one_level(rewards, binary=True, level=0.5)
    data = data_of(case)
    found = joint.with_errors(joint.search(data, np.zeros(data.size)), data)
    rate = every.mean()
    near = 0.01 * found.effect(0)[1]
    assert found.parameters[0] == pytest.approx(math.log(rate / 0.5), abs=near)
    sums = np.array([np.sum(np.array(unit) - rate) for unit in rewards])
    variance = float(sums @ sums) / every.size**2 / rate**2
    ratio = found.covariance[0, 0] / variance
    assert ratio == pytest.approx(60 / (60 - data.size), rel=2e-3)


def test_errors_are_the_twin_s_sandwich() -> None:
    case = lively(True, seed=1, keys=60)
    data = data_of(case)
    found = joint.fit(data, np.zeros(data.size))
    here = found.parameters.tolist()
    size, step = len(here), 1e-3
    curvature = np.zeros((size, size))
    for one in range(size):
        for other in range(one, size):
            for sign, (a, b) in ((1, (1, 1)), (-1, (1, -1)), (-1, (-1, 1)), (1, (-1, -1))):
                moved = list(here)
                moved[one] += a * step
                moved[other] += b * step
                part = sign * twin.log_likelihood(moved, case) / (4.0 * step * step)
                curvature[one, other] += part
            curvature[other, one] = curvature[one, other]
    slopes = np.array(twin.slopes(here, case))
    inverse = np.linalg.inv(-curvature)
    sandwich = inverse @ (slopes.T @ slopes) @ inverse * 60.0 / (60.0 - size)
    # the powers' slight penalty is not in the twin
    np.testing.assert_allclose(np.diag(found.covariance), np.diag(sandwich), rtol=0.01)
    assert found.covariance[0, 1] == pytest.approx(sandwich[0, 1], abs=0.01 * sandwich[0, 0])


def test_wald_is_the_chi_square_of_the_parameters() -> None:
    covariance = np.array([[0.04, 0.0, 0.01], [0.0, 1.0, 0.0], [0.01, 0.0, 0.09]])
    found = joint.Fitted(np.array([0.4, 5.0, -0.3]), covariance, -10.0, True)
    assert found.wald([0]) == pytest.approx(math.erfc(2.0 / math.sqrt(2.0)))  # two-sided
    inverse = np.linalg.inv(covariance[np.ix_([0, 2], [0, 2])])
    square = float(np.array([0.4, -0.3]) @ inverse @ np.array([0.4, -0.3]))
    assert found.wald([0, 2]) == pytest.approx(math.exp(-square / 2.0))  # two degrees
    assert found.effect(2) == pytest.approx((-0.3, 0.3))
