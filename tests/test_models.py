"""Models, families, bandits and scenarios: values, and refusals that say why."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from rotting import (
    Arm,
    Bernoulli,
    Gaussian,
    NoNoise,
    RandomArms,
    Scenario,
    models,
    policies,
    simulate,
)
from rotting.papers import levine2017
from rotting.theory import ddet, ddet_star, hardest_star

ARM = Arm(models.Constant(0.5))
FAMILY = models.Plateau(length=100).over([0.1, 0.2])


@given(st.integers(1, 10**9), st.floats(0, 3), st.integers(1, 500))
def test_closed_forms(n: int, theta: float, length: int) -> None:
    polynomial = models.Polynomial(theta).mean(n)
    assert float(polynomial) == pytest.approx(naive.polynomial(n, theta), rel=1e-12)
    plateau = models.Plateau(theta, length=length).mean(n)
    assert float(plateau) == pytest.approx(naive.plateau(n, theta, length), rel=1e-12)


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


REFUSED: list[tuple[str, Callable[[], object]]] = [
    ("must never rise, but mu\\(3\\)", lambda: models.Table([1.0, 0.5, 0.6])),
    ("must be finite, got nan at n = 2", lambda: models.Table([1.0, float("nan")])),
    ("at least one number", lambda: models.Table([])),
    ("must be numbers", lambda: models.Table(["a"])),  # type: ignore[list-item]
    ("Step must never rise.*n = 8", lambda: models.Step(at=7, before=0.1, after=0.2)),
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
    ("too large", lambda: policies.UCB1(c=10**400)),
    ("at most 2\\*\\*62", lambda: policies.SWUCB(tau=10**19)),
    ("sigma must be > 0, got -1.0 at n = 1", lambda: Gaussian(lambda n: -1.0 * n)),
    ("keep the mean finite", lambda: Arm(models.Constant(1e308), 1e308)),
    ("arms of Oracle must be the scenario's own",
     lambda: policies.Oracle([ARM]).prepare_for(levine2017.av())),
    ("Theta must hold at least one theta", lambda: models.Polynomial().over([])),
    ("Theta must hold different thetas", lambda: models.Polynomial().over([0.1, 0.1])),
    ("theta of Polynomial must be >= 0", lambda: models.Polynomial().over([0.1, -0.2])),
    ("has no theta", lambda: models.Constant(1.0).over([0.1])),
    ("needs a theta", lambda: models.Polynomial().mean(1)),
    ("pull numbers", lambda: models.Polynomial(0.1).mean(0)),
    ("pull numbers", lambda: models.Polynomial(0.1).mean(1.5)),
    ("model must be a rotting model", lambda: Arm(0.5)),  # type: ignore[arg-type]
    ("constant must be a finite number", lambda: Arm(models.Constant(1.0), float("inf"))),
    ("sigma must be a number > 0, got 0", lambda: Gaussian(0)),
    ("sigma must be a number > 0, got -1", lambda: Gaussian(-1)),
    ("count must be an integer >= 1, got 0", lambda: RandomArms(FAMILY, 0)),
    ("must be a Family", lambda: RandomArms([0.1], 2)),  # type: ignore[arg-type]
    ("constants\\[1\\] must be a number >= 0.5", lambda: RandomArms(FAMILY, 2, (0.5, 0.1))),
    ("K >= 1", lambda: Scenario([], NoNoise(), 10)),
    ("arms must be Arm objects", lambda: Scenario([0.5], NoNoise(), 10)),  # type: ignore[list-item]
    ("horizon must be an integer >= 1, got 0", lambda: Scenario([ARM], NoNoise(), 0)),
    ("noise must be Gaussian", lambda: Scenario([ARM], 0.5, 10)),  # type: ignore[arg-type]
    ("Bernoulli rewards need means in \\[0, 1\\].*1.5 at n = 1",
     lambda: Scenario([Arm(models.Constant(1.5))], Bernoulli(), 10)),
    ("Bernoulli.*at n = 10",
     lambda: Scenario([Arm(models.Step(5, 0.5, -0.1))], Bernoulli(), 10)),
    ("Bernoulli", lambda: Scenario(RandomArms(FAMILY, 2, (0, 0.5)), Bernoulli(), 10)),
    ("c must be a number > 0", lambda: policies.UCB1(c=0)),
    ("gamma must be a number > 0 and < 1, got 1.0", lambda: policies.DUCB(gamma=1.0)),
    ("gamma must be a number > 0 and < 1, got 0", lambda: policies.DUCB(gamma=0)),
    ("tau must be an integer >= 1, got 0", lambda: policies.SWUCB(tau=0)),
    ("alpha must be a number > 0, got 0", lambda: policies.SWA(alpha=0, sigma=1)),
    ("alpha must be a number > 0, got -1", lambda: policies.WSWA(alpha=-1, sigma=1)),
    ("sigma must be a number > 0, got 0", lambda: policies.WSWA(alpha=1, sigma=0)),
    ("sigma must be a number > 0, got '1'",
     lambda: policies.SWA(alpha=1, sigma="1")),  # type: ignore[arg-type]
    ("restart must be one of 'forget', 'keep'", lambda: policies.WSWA(1, 1, restart="no")),
    ("family of CTO must be a Family", lambda: policies.CTO([0.1])),  # type: ignore[arg-type]
    ("start must be an integer >= 1", lambda: policies.DCTO(FAMILY, sigma=1, start=0)),
    ("halves must be one of", lambda: policies.DCTO(FAMILY, sigma=1, halves="odd")),
    ("delta must be a number > 0 and < 1, got 1",
     lambda: policies.DCTO_UCB(FAMILY, sigma=1, delta=1)),
    ("exploration must be an integer >= 2",
     lambda: policies.DCTO_UCB(FAMILY, 1, 0.1, exploration=1)),
]  # fmt: skip


@pytest.mark.parametrize(("words", "wrong"), REFUSED, ids=[words for words, _ in REFUSED])
def test_refused_at_construction(words: str, wrong: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match=words):
        wrong()


def test_a_late_rise_is_found_before_the_run() -> None:
    late = models.Function(lambda n: np.where(n < 5000, 1.0, 2.0))
    scenario = Scenario([Arm(late)], NoNoise(), 6000)
    with pytest.raises(ValueError, match=r"mu\(5000\) = 2.0 > mu\(4999\) = 1.0"):
        scenario.world()


def test_positivity_is_asked_for_where_theory_needs_it() -> None:
    @dataclasses.dataclass(frozen=True)
    class Sinking(models.Model):
        """Falls below zero."""

        theta: float | None = None

        def _mean(self, n: Any) -> Any:
            return 1.0 - float(self.theta or 0.0) * n

    family = Sinking().over([0.01, 0.02])
    scenario = Scenario(RandomArms(family, 2), Gaussian(0.1), horizon=200)
    with pytest.raises(ValueError, match=r"CTO needs a positive family.*mu\(100; 0.01\)"):
        policies.CTO(family).prepare_for(scenario)
    fading = models.Exponential().over([1.0, 2.0])  # positive, though floats run out
    assert policies.CTO(fading).prepare(2, None, 2000).mu[2000, 0] == 0.0


def test_sigma_as_a_function_of_the_pull() -> None:
    scenario = Scenario([ARM], Gaussian(lambda n: 1.0 / n), 3)
    assert scenario.world().sigma.tolist() == [1.0, 0.5, 1.0 / 3.0]
    for wrong, words in (
        (lambda n: 1.0, "vectorised"),
        (lambda n: 2.0 - n, "> 0, got 0.0 at n = 2"),
    ):
        with pytest.raises(ValueError, match=words):
            Gaussian(wrong)


def test_callable_things_without_a_name() -> None:
    half = functools.partial(np.power, 2.0)
    model = models.Function(lambda n: half(-np.minimum(n, 50).astype(float)))
    noise = Gaussian(functools.partial(np.full_like, fill_value=2.0, dtype=float))
    assert "partial" in repr(noise)
    assert simulate(policies.UCB1(), Scenario([Arm(model)], noise, 5), runs=1).final_regret[0] == 0


def test_a_window_too_long_for_any_run() -> None:
    assert policies.WSWA(0.2, 1e14).prepare(2, None, 10).windows.max() == 2**30
    assert policies.SWA(1e305, 1e10).prepare(2, 100, 10).window == 2**30


def test_random_arms_are_uniform_and_fresh() -> None:
    scenario = levine2017.anv()
    bandits = scenario.bandits(seed=3, first=0, last=4000)
    counts = np.bincount(bandits.models.ravel(), minlength=7)
    n = counts.sum()
    assert np.all(np.abs(counts / n - 1 / 7) < 4 * np.sqrt((1 / 7) * (6 / 7) / n))
    constants = bandits.constants.ravel()
    assert 0.0 <= constants.min() < 0.001 < 0.499 < constants.max() <= 0.5
    assert abs(constants.mean() - 0.25) < 4 * 0.5 / np.sqrt(12 * n)
    assert np.unique(constants).size == n
    part = scenario.bandits(seed=3, first=100, last=102)
    np.testing.assert_array_equal(part.models, bandits.models[100:102])
    np.testing.assert_array_equal(part.constants, bandits.constants[100:102])
    other = scenario.bandits(seed=4, first=0, last=10)
    assert np.any(other.constants != bandits.constants[:10])


def test_the_papers_scenarios() -> None:
    np_, av, anv = levine2017.non_parametric(), levine2017.av(), levine2017.anv()
    assert [s.arm_count for s in (np_, av, anv)] == [2, 10, 10]
    assert all(s.horizon == 30_000 for s in (np_, av, anv))
    means = np_.world().means
    rows = np_.bandits(0, 0, 1)
    falling = means[rows.models[0, 1]] + rows.constants[0, 1]
    assert falling[7499] == 1.0
    assert falling[7500] == 0.4
    assert rows.constants[0, 0] == 0.5
    assert dataclasses.replace(av, horizon=700).horizon == 700
    with pytest.raises(ValueError, match="setup must be one of"):
        levine2017.reported_policies("xyz")


def test_ddet_against_its_twin() -> None:
    def mu(n: int, theta: float) -> float:
        return naive.plateau(n, theta, 10)

    a, b = models.Plateau(0.1, length=10), models.Plateau(0.4, length=10)
    fast = ddet(a, b, 0.5, np.arange(1, 121))
    slow = [naive.ddet(n, 0.1, 0.4, mu, 0.5) for n in range(1, 121)]
    np.testing.assert_allclose(fast, slow, rtol=1e-9)
    for level in (0.5, 0.05, 0.01):
        ours = ddet_star(a, b, 0.1, level)
        assert ours.exact
        assert ours.low == naive.ddet_star(level, 0.1, 0.4, mu, 0.1, 14_000)
    assert hardest_star(models.Polynomial().over([0.3]), 0.5, 0.1, "difference").high == 1


def test_dcto_ucb_refuses_what_does_not_fit() -> None:
    """The paper's own ANV setup: exploration takes millions of pulls an arm, T = 30,000."""
    policy = policies.DCTO_UCB(levine2017.FAMILY, sigma=levine2017.SIGMA, delta=0.1)
    with pytest.raises(ValueError, match=r"10 arms 4249800 times, .*horizon is 30000"):
        policy.prepare_for(levine2017.anv())
    short = dataclasses.replace(policy, exploration=4000)
    with pytest.raises(ValueError, match=r"10 arms 4000 times, that is 40000 decisions.*30000"):
        short.prepare_for(levine2017.anv())
    assert dataclasses.replace(policy, exploration=2999).prepare_for(levine2017.anv())


def test_dcto_ucb_takes_its_exploration_from_theory() -> None:
    """Two distant models: the paper's bound for p = 0.01 is 117,630 pulls (over all n)."""
    family = models.Plateau(length=100).over([0.1, 0.4])
    policy = policies.DCTO_UCB(family, sigma=0.2**0.5, delta=0.02)
    assert policy.prepare(2, 300_000, 300_000).exploration == 117_630
    with pytest.raises(ValueError, match="2 arms 117630 times, that is 235260 decisions"):
        policy.prepare(2, 200_000, 200_000)
