"""Fits of logs with a known truth, and refusals."""

from __future__ import annotations

import dataclasses
import json
import math
from typing import Any

import numpy as np
import pytest

from helpers.made_logs import as_log, log_of_curves, made_log
from rotting.logs._fits import fitting
from rotting.logs._fits.fitted import Fit
from rotting.logs._fits.fitting import fit
from rotting.logs._fits.heldout import Candidate, simplest
from rotting.logs._log import Log
from rotting.logs._read.reader import read
from rotting.logs._synthetic import synthetic


def settled(n: Any) -> Any:
    return 0.4 + 0.6 * np.exp(-0.5 * (n - 1.0))


def power(n: Any) -> Any:
    return n**-0.3


def twice(curve: Any) -> Any:
    return lambda n: 2.0 * curve(n)


QUICK: dict[str, Any] = {"folds": 2, "resamples": 100}


def error_of(found: Fit, number: int = 0) -> float:
    return float(found.draws.numbers[:, 0, number].std())


@pytest.mark.parametrize("rewards", ["binary", "gaussian"])
@pytest.mark.parametrize("leaving", ["nobody", "failure", "success"])
def test_keys_who_leave_by_their_rewards_do_not_bend_the_curve(rewards: str, leaving: str) -> None:
    """Without keys' factors the curve of those who were still there is another one."""
    log = as_log(synthetic("rested", leaving, theta=0.3, rewards=rewards, keys=3000, seed=5))
    found = fit(log, families=["power"], **QUICK)
    error = error_of(found)
    assert error < 0.05
    assert found.parameters()["theta"][0] == pytest.approx(0.3, abs=3.5 * error)
    assert found.key_spread == pytest.approx(math.sqrt(1.0 / 3.0), abs=0.08)  # Beta(2, 6)
    if leaving == "success":
        seen = fit(log, families=["power"], keys_differ=False, **QUICK)
        assert seen.parameters()["theta"][0] > 0.3 + 2.0 * error_of(seen)
        assert "still there" in " ".join(seen.notes)


@pytest.mark.parametrize("sigma", [None, 0.6])
@pytest.mark.parametrize(("family", "curve"), [("power", power), ("exponential", settled)])
def test_the_log_of_a_fit_gives_the_fit_back(family: str, curve: Any, sigma: float | None) -> None:
    curves = [lambda n: 0.3 * curve(n), lambda n: 0.2 * curve(n)]
    log = log_of_curves(curves, 2000, 14, sigma=sigma, spread=0.4, seed=7)
    truth = fit(log, families=[family], **QUICK)
    again = fit(as_log(truth.simulate(seed=3)), families=[family], **QUICK)
    for number, name in enumerate(again.parameters()):
        expected = truth.parameters()[name][0]
        assert again.parameters()[name][0] == pytest.approx(
            expected, abs=3.5 * error_of(again, number)
        )
    for arm in range(2):
        error = float(again.draws.amplitudes[:, arm].std())
        assert again.parameters(arm)["amplitude"][0] == pytest.approx(
            truth.parameters(arm)["amplitude"][0], abs=3.5 * error
        )
    assert again.key_spread == pytest.approx(truth.key_spread, abs=0.1)
    assert again.sigma == pytest.approx(truth.sigma, rel=0.05)


def test_intervals_are_as_wide_as_fits_scatter() -> None:
    """Of 25 logs: their scatter is known to 15 %, and so 3.5 standard errors are 50 %."""
    found, said = [], []
    for seed in range(25):
        log = as_log(
            synthetic("rested", "failure", keys=300, arms=1, rewards="gaussian", seed=seed)
        )
        one = fit(log, families=["power"], **QUICK)
        found.append(one.parameters()["theta"][0])
        said.append(error_of(one))
    assert np.mean(said) == pytest.approx(np.std(found, ddof=1), rel=0.5)
    assert np.mean(found) == pytest.approx(0.3, abs=3.5 * float(np.std(found)) / 5.0)


def test_held_out_keys_choose_the_family() -> None:
    def step(n: Any) -> Any:
        return np.where(n <= 4, 1.0, 0.4)

    for curve, kind in (
        (step, "step"),
        (settled, "exponential"),
        (lambda n: 0.0 * n + 1, "constant"),
    ):
        log = log_of_curves([twice(curve), curve], 600, 12, sigma=0.5, seed=2)
        found = fit(log)
        assert found.best.kind == kind
        assert found.best.pooled
        if kind == "step":
            assert found.parameters()["at"] == (4.0, 4.0, 4.0)
            assert found.parameters()["after"][0] == pytest.approx(0.4, abs=4 * error_of(found))


def test_arms_with_shapes_of_their_own() -> None:
    curves: list[Any] = [lambda n: 2.0 * n**-1.0, lambda n: 1.0 + 0.0 * n, lambda n: 1.5 * n**-0.3]
    found = fit(log_of_curves(curves, 900, 10, sigma=0.5, spread=0.3, seed=1))
    assert not found.best.pooled
    assert found.best.borrow < 0.3
    n = np.arange(1, 11)
    bands = found.curves()
    for arm, curve in enumerate(curves):
        # bands of 95 % that are widened by half hold all ten points of all three arms
        middle, low, high = bands.estimate[arm], bands.low[arm], bands.high[arm]
        assert (curve(n) >= middle - 1.8 * (middle - low) - 0.01).all()
        assert (curve(n) <= middle + 1.8 * (high - middle) + 0.01).all()


def test_the_simplest_within_a_standard_error() -> None:
    def one(kind: str, size: int, behind: float, error: float) -> Candidate:
        return Candidate(kind, 1.0, size, -behind, 0.1, behind, error)

    best, near, far = one("table", 9, 0.0, 0.0), one("power", 1, 0.2, 0.3), one("constant", 0, 2, 1)
    assert simplest([best, near, far]) is near
    assert simplest([best, one("power", 1, 0.2, 0.1), far]) is best


def test_few_rewards_of_an_arm_count_little() -> None:
    """Two rewards of 1 do not make a rate of 1; an arm without any has what others have."""
    log = log_of_curves([lambda n: 0.1 * power(n), lambda n: 0.12 * power(n)], 900, 6, seed=4)
    key = np.append(log.key, [900, 901, 902])
    arm = np.append(log.arm, [2, 2, 3])
    time = np.append(log.time, [1.0, 1.0, 1.0])
    reward = np.append(log.reward, [1.0, 1.0, np.nan])
    found = fit(made_log(key, arm, time, reward, ("a", "b", "few", "none")), **QUICK)
    few, none = found.fitted.amplitudes[2:]
    assert 0.09 < few < 0.25
    assert 0.09 < none < 0.15
    assert any("1 rows without a known reward" in note for note in found.notes)
    assert any("1 arms without a known reward" in note for note in found.notes)


def test_unknown_rewards_count_as_showings_only() -> None:
    log = log_of_curves([power], 200, 8, sigma=0.3)
    lost = np.arange(len(log.reward)) % 3 == 1
    holes = dataclasses.replace(log, reward=np.where(lost, np.nan, log.reward))
    one, two = fit(holes, **QUICK), fit(log.only(~lost), **QUICK)
    np.testing.assert_allclose(one.simulator(), two.simulator())
    drawn = one.simulate(seed=1)
    assert drawn["reward"].null_count() == lost.sum()
    assert len(drawn) == len(log.reward)


def test_rows_younger_than_the_window_are_left_out() -> None:
    """Of those only rewards have come that came at once: rates would look too high."""
    log = log_of_curves([lambda n: 0.3 * power(n)], 300, 8, spread=0.0)
    young = log.time > log.time.max() - 3.0
    reward = np.where(young, np.where(log.reward == 1.0, 1.0, np.nan), log.reward)
    windowed = dataclasses.replace(log, reward=reward, window=3.0)
    one, two = fit(windowed, **QUICK), fit(log.only(log.settled & ~young), **QUICK)
    np.testing.assert_allclose(one.simulator(5), two.simulator(5), rtol=1e-3)


def test_what_is_simulated_is_read_again() -> None:
    log = as_log(synthetic("rested", "failure", keys=100, rewards="gaussian", seed=3))
    found = fit(log, families=["power"], **QUICK)
    again = read(found.simulate(seed=1))
    for name in ("key", "arm", "exposure"):
        np.testing.assert_array_equal(getattr(again, name), getattr(log, name))
    np.testing.assert_allclose(again.time, log.time, atol=1e-9)
    assert again.arms == log.arms


def test_weights_and_offsets() -> None:
    log = log_of_curves([power, lambda n: 0.7 * power(n)], 300, 8, sigma=0.3)
    rows = len(log.reward)
    plain = fit(log, keys_differ=False, families=["power"], **QUICK)
    even = fit(log, weights=np.full(rows, 1.0), families=["power"], **QUICK)
    np.testing.assert_allclose(even.simulator(), plain.simulator())
    # a weight of 0 is as good as no row
    late = log.exposure > 5
    some = fit(log, weights=np.where(late, 0.0, 1.0), families=["power"], **QUICK)
    cut = fit(log.only(~late), keys_differ=False, families=["power"], **QUICK)
    np.testing.assert_allclose(some.simulator(5), cut.simulator(5), rtol=1e-3)
    # what is known to be half as high is twice as high as it looks
    half = fit(log, offsets=np.full(rows, 0.5), families=["power"], **QUICK)
    np.testing.assert_allclose(half.simulator(), 2.0 * plain.simulator(), rtol=1e-6)
    # what is known to fall falls no more
    known = fit(log, offsets=power(log.exposure.astype(float)), families=["power"], **QUICK)
    left = max(0.0, plain.parameters()["theta"][0] - 0.3)
    assert known.parameters()["theta"][0] == pytest.approx(left, abs=0.02)


def test_factors_of_keys_may_be_given() -> None:
    """Who leaves by their own rate bends the curve, unless that rate is known."""
    generator = np.random.default_rng(9)
    factors = np.array([0.3, 1.7])
    own = generator.integers(0, 2, 2000)
    lengths = np.where(own == 1, 3, 10)  # the willing leave early
    key = np.repeat(np.arange(2000), lengths)
    n = np.arange(len(key)) - np.repeat(np.cumsum(lengths) - lengths, lengths) + 1
    reward = (generator.random(len(key)) < 0.4 * factors[own[key]] * n**-0.3).astype(float)
    log = made_log(key, 0 * key, n.astype(float), reward, ("a",))
    found = fit(log, key_factors=(factors, np.eye(2)[own]), families=["power"], **QUICK)
    assert found.parameters()["theta"][0] == pytest.approx(0.3, abs=3.5 * error_of(found))
    assert found.key_spread == pytest.approx(0.7, abs=0.02)
    seen = fit(log, keys_differ=False, families=["power"], **QUICK)
    assert seen.parameters()["theta"][0] > 0.6


def test_many_keys_are_sampled_and_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    log = log_of_curves([power], 500, 5, sigma=0.3)
    monkeypatch.setattr(fitting, "MOST_KEYS", 100)
    found = fit(log, families=["power"], **QUICK)
    assert any("Of 500 keys a random sample of 100" in note for note in found.notes)
    assert found.factors.posterior.shape[0] == 100


def test_without_keys_an_arm_is_used_up_for_everybody() -> None:
    generator = np.random.default_rng(0)
    n = np.tile(np.arange(1, 4001), 2)
    arm = np.repeat([0, 1], 4000)
    means = np.where(arm == 0, 1.0, 0.8) * n**-0.2
    reward = generator.normal(means, 0.3)
    found = fit(made_log(0 * n, arm, n.astype(float), reward, ("a", "b"), keys=False))
    assert found.best.kind == "power"
    assert found.parameters()["theta"][0] == pytest.approx(0.2, abs=3.5 * error_of(found))
    assert found.sigma == pytest.approx(0.3, rel=4.0 / math.sqrt(2 * len(n)))
    assert found.key_spread == 0.0
    assert found.scenario().audience is None
    assert "blocks of rows" in str(found)


def test_a_seed_makes_all_the_same() -> None:
    log = as_log(synthetic("rested", "failure", keys=150, seed=2))
    one, two = fit(log, seed=4), fit(log, seed=4)
    assert json.dumps(one.as_data()) == json.dumps(two.as_data())
    assert one.as_toml() == two.as_toml()
    assert one.simulate(3).equals(two.simulate(3))
    assert not one.simulate(3).equals(two.simulate(4))


def small(**changes: Any) -> Log:
    log = log_of_curves([power], 40, 4, sigma=0.3)
    return dataclasses.replace(log, **changes)


REFUSED: list[tuple[str, Log, dict[str, Any]]] = [
    ("at least 2 known rewards, got 0", small(reward=np.full(160, np.nan)), {}),
    ("got the exposure 1 only", small(exposure=np.ones(160, dtype=np.int32)), {}),
    ("must differ for curves to be fitted, but all are 1", small(reward=np.ones(160)), {}),
    ("positive on average, got a mean of -", small(reward=-np.arange(160.0)), {}),
    ("at most 1e[+]100 in size", small(reward=np.append(np.ones(159), 1e120)), {}),
    ("level must be a number > 0 and < 1, got 1.5", small(), {"level": 1.5}),
    ("folds must be an integer from 2 to 100, got 1", small(), {"folds": 1}),
    ("resamples must be an integer", small(), {"resamples": 0}),
    ("seed must be an integer >= 0, got -1", small(), {"seed": -1}),
    ("unknown family 'pwer'; did you mean 'power'", small(), {"families": ["pwer"]}),
    ("families must be a list of names", small(), {"families": "power"}),
    ("weights must be one a row of the log, 160", small(), {"weights": np.ones(3)}),
    ("weights must be finite numbers >= 0", small(), {"weights": -np.ones(160)}),
    ("offsets must be finite numbers >= 0", small(), {"offsets": np.full(160, np.nan)}),
    ("key_factors must be J values and an array of 40", small(),
     {"key_factors": (np.ones(2), np.ones((3, 2)))}),
    ("add up to 1 for each key", small(), {"key_factors": (np.ones(2), np.ones((40, 2)))}),
]  # fmt: skip


@pytest.mark.parametrize(("words", "log", "more"), REFUSED, ids=[case[0] for case in REFUSED])
def test_refused(words: str, log: Log, more: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=words):
        fit(log, **more)
    with pytest.raises(ValueError, match="log must be a Log"):
        fit("log.csv")  # type: ignore[arg-type]


def test_last_rows_are_fitted_as_seen() -> None:
    log = dataclasses.replace(small(), rows="last", history_complete=False)
    notes = " ".join(fit(log, **QUICK).notes)
    assert "last row of each story only" in notes
    assert "began before the log" in notes


def test_progress_ends_where_it_says() -> None:
    seen: list[tuple[int, int]] = []
    fit(small(), progress=lambda done, total: seen.append((done, total)), **QUICK)
    done, totals = zip(*seen, strict=True)
    assert list(done) == list(range(1, totals[0] + 1))
    assert set(totals) == {len(done)}
