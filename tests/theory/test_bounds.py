"""Bounds of SWA and wSWA, against twins and simulated regret."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import twins.swa
from helpers.cases import PAIR
from rotting import Arm, Gaussian, Scenario, models, policies, simulate, theory
from twins import theory_bounds as naive

SIGMA = 0.2**0.5


def test_bounds_against_their_twins() -> None:
    for arms, horizon, sigma, alpha, mean in (
        (2, 30_000, SIGMA, 0.2, 1.0),
        (7, 500, 2.0, 0.9, 3.0),
    ):
        case = (arms, horizon, sigma, alpha, mean)
        assert theory.swa_regret_bound(*case) == pytest.approx(naive.swa_bound(*case))
        assert theory.wswa_regret_bound(*case) == pytest.approx(naive.wswa_bound(*case))
        q = theory.swa_precision(arms, horizon, sigma, alpha)
        assert q == pytest.approx(naive.swa_q(arms, horizon, sigma, alpha))
        window = theory.averaging_window(alpha, sigma, arms, horizon)
        assert window == twins.swa.swa_window(alpha, sigma, arms, horizon)
        assert theory.best_alpha(mean) == pytest.approx(naive.best_alpha(mean))


def test_bounds_of_the_papers_setup_are_vacuous() -> None:
    """NP: 9,615 for SWA and 30,603 for wSWA; the second is above the trivial 30,000."""
    case = {"arms": 2, "horizon": 30_000, "sigma": SIGMA, "alpha": 0.2, "max_mean": 1.0}
    assert round(theory.swa_regret_bound(**case)) == 9615  # type: ignore[arg-type]
    assert round(theory.wswa_regret_bound(**case)) == 30_603  # type: ignore[arg-type]
    assert theory.trivial_regret_bound(30_000, 1.0) == 30_000


@pytest.mark.parametrize("seed", range(6))
def test_regret_stays_below_the_bounds(seed: int) -> None:
    """Random scenarios with positive means: mean regret of SWA and wSWA below their bounds."""
    rng = np.random.default_rng(seed)
    arms = [
        Arm(models.Polynomial(rng.uniform(0.1, 0.9)), constant=rng.uniform(0, 1))
        for _ in range(int(rng.integers(2, 6)))
    ]
    sigma, horizon, alpha = rng.uniform(0.1, 1.0), int(rng.integers(200, 3000)), rng.uniform(0.1, 1)
    scenario = Scenario(arms, Gaussian(sigma), horizon)
    top = max(float(arm.mean(1)) for arm in arms)
    case = (len(arms), horizon, sigma, alpha, top)
    swa = simulate(policies.SWA(alpha, sigma), scenario, runs=40, seed=seed)
    wswa = simulate(policies.WSWA(alpha, sigma), scenario, runs=40, seed=seed)
    assert swa.mean_regret[-1] < theory.swa_regret_bound(*case)
    assert wswa.mean_regret[-1] < theory.wswa_regret_bound(*case)


def test_one_arm_and_one_round_have_bounds() -> None:
    case = (1, 1, 1.0, 1.0, 1.0)
    assert theory.swa_regret_bound(*case) == pytest.approx(naive.swa_bound(*case))
    assert theory.wswa_regret_bound(*case) == pytest.approx(naive.wswa_bound(*case))
    assert theory.swa_precision(1, 1, 1.0, 1.0) == pytest.approx(naive.swa_q(1, 1, 1.0, 1.0))
    assert theory.trivial_regret_bound(1, 0.5) == 0.5


def test_lower_bound_order() -> None:
    assert theory.lower_bound_order(arms=4, horizon=25, sigma=0.5) == pytest.approx(5.0)


def test_bad_arguments() -> None:
    wrong: list[tuple[Callable[[], object], str]] = [
        (lambda: theory.m_star(PAIR, 0.0, 1.0), "p must be a number > 0 and < 1, got 0"),
        (lambda: theory.m_star(PAIR, 0.1, 0.0), "sigma must be a number > 0"),
        (lambda: theory.m_star(PAIR, 0.1, 1.0, rule="product"), "rule must be one of"),
        (lambda: theory.m_star(PAIR, 0.1, 1.0, method="guess"), "method must be one of"),
        (lambda: theory.swa_regret_bound(0, 1, 1.0, 1.0, 1.0), "arms must be an integer >= 1"),
        (lambda: theory.best_alpha(-1.0), "max_mean must be a number > 0"),
    ]
    for work, words in wrong:
        with pytest.raises(ValueError, match=words):
            work()


LEAST = {"arms": 1, "horizon": 1, "sigma": 1e-100, "alpha": 1e-100, "max_mean": 1e-100}
MOST = {"arms": 10**6, "horizon": 10**9, "sigma": 1e100, "alpha": 1e100, "max_mean": 1e100}


@pytest.mark.parametrize("bound", [theory.swa_regret_bound, theory.wswa_regret_bound])
def test_what_bounds_accept(bound: Callable[..., float]) -> None:
    """The ends of every range, and nothing beyond them."""
    for case in (LEAST, MOST):
        assert 0.0 < bound(**case) < float("inf")
    for name in LEAST:
        beyond = [LEAST[name] * 0] if name in ("arms", "horizon") else [0.0, 1.1e100]
        for value in beyond:
            with pytest.raises(ValueError, match=f"{name} must be"):
                bound(**(LEAST | {name: value}))


def test_what_the_other_formulas_accept() -> None:
    assert theory.swa_precision(1, 1, 1e100, 1e100) > 0.0
    assert theory.lower_bound_order(1, 1, 1e100) == 1e100
    assert theory.trivial_regret_bound(1, 1e-300) == 1e-300
    wrong: list[tuple[Callable[[], object], str]] = [
        (lambda: theory.swa_precision(0, 1, 1.0, 1.0), "arms"),
        (lambda: theory.swa_precision(1, 0, 1.0, 1.0), "horizon"),
        (lambda: theory.swa_precision(1, 1, 1.1e100, 1.0), "sigma"),
        (lambda: theory.swa_precision(1, 1, 1.0, 0.0), "alpha"),
        (lambda: theory.lower_bound_order(0, 1, 1.0), "arms"),
        (lambda: theory.lower_bound_order(1, 1, 0.0), "sigma"),
        (lambda: theory.trivial_regret_bound(0, 1.0), "horizon"),
        (lambda: theory.trivial_regret_bound(1, 0.0), "max_mean"),
        (lambda: theory.best_alpha(0.0), "max_mean"),
    ]
    for work, name in wrong:
        with pytest.raises(ValueError, match=f"{name} must be"):
            work()


def test_a_window_that_no_run_can_fill() -> None:
    """Rounded up, and cut at 2^30."""
    assert theory.averaging_window(1e100, 1.0, 2, 10**6) == 2**30
    assert theory.averaging_window(1e-100, 1.0, 2, 10**6) == 1
    for alpha, sigma, arms, horizon in ((0.2, 0.4, 2, 1), (0.9, 2.0, 7, 50), (0.5, 1.0, 1, 1000)):
        expected = twins.swa.swa_window(alpha, sigma, arms, horizon)
        assert theory.averaging_window(alpha, sigma, arms, horizon) == expected
