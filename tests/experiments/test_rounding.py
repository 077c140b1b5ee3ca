"""Regrets that differ by no more than rounding explains are ties."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rotting import (
    Arm,
    Gaussian,
    NoNoise,
    Scenario,
    compare,
    models,
    policies,
    simulate,
    stats,
    tune,
)
from rotting._cli import console
from rotting.bandits._world import running_sums

EQUAL = Scenario([Arm(models.Constant(0.3)) for _ in range(7)], Gaussian(0.5), horizon=1000)


def test_two_optimal_policies_tie(capsys: pytest.CaptureFixture[str]) -> None:
    """By 1e-13 one of them won 33 times of 33, with p = 2e-9."""
    found = compare([policies.RoundRobin(), policies.Oracle()], EQUAL, runs=33, engine="reference")
    for result in found.results.values():
        assert np.all(result.regret == 0.0)
        assert np.all(result.adversarial_regret == 0.0)
    assert found.wins == {"RoundRobin": {"Oracle": 0}, "Oracle": {"RoundRobin": 0}}
    assert found.ties("RoundRobin", "Oracle") == 33
    assert found.p_values["RoundRobin"]["Oracle"] == 1.0
    console.comparison(found)
    assert "0 of 33, 33 ties" in capsys.readouterr().out


@settings(max_examples=15, deadline=None)
@given(st.floats(-1e3, 1e3), st.integers(2, 9))
def test_on_equal_arms_nobody_has_a_regret(mean: float, arms: int) -> None:
    scenario = Scenario([Arm(models.Constant(mean))] * arms, NoNoise(), horizon=120)
    result = simulate(policies.Uniform(), scenario, runs=2, engine="reference")
    assert np.all(result.regret == 0.0)


def test_the_same_regret_by_other_pulls_is_a_tie() -> None:
    """Two arms at 0.3 and one worse: only its pulls matter, not how the others were shared."""
    arms = [Arm(models.Constant(c)) for c in (0.3, 0.3, 0.1)]
    scenario = Scenario(arms, Gaussian(1.0), horizon=1000)
    found = compare(
        {str(tau): policies.SWUCB(tau) for tau in (1, 2)}, scenario, runs=1, engine="reference"
    )
    first, second = found.results.values()
    spread = first.pulls[:, 2] * 0.2
    assert abs(first.final_regret - spread) <= 1000 * first.rounding
    moved = second.final_regret + 0.9 * (first.rounding + second.rounding)
    off = first.rounding + second.rounding
    assert stats.wins(second.final_regret, moved, off) == 0
    assert stats.wins(second.final_regret, moved) == 1
    assert stats.wins(second.final_regret, moved + off, off) == 1


def test_the_rule_bounds_what_rounding_does() -> None:
    """Regrets in exact fractions differ from ours by less than the rule says, but not by far less.

    A rule that allowed a thousand times too much would call true differences ties.
    """
    rng = np.random.default_rng(3)
    most = 0.0
    for trial in range(30):
        arms = int(rng.integers(1, 6))
        tables = [np.sort(rng.normal(size=200) + 1.0)[::-1] for _ in range(arms)]
        constants = rng.normal(size=arms)
        scenario = Scenario(
            [
                Arm(models.Table(table.tolist()), constant)
                for table, constant in zip(tables, constants.tolist(), strict=True)
            ],
            NoNoise(),
            horizon=200,
        )
        result = simulate(policies.Uniform(), scenario, runs=1, seed=trial, engine="reference")
        exact = [
            [Fraction(float(x)) + Fraction(float(c)) for x in table]
            for table, c in zip(tables, constants, strict=True)
        ]
        collected = sum(
            (sum(row[:n], Fraction(0)) for row, n in zip(exact, result.pulls[0], strict=True)),
            Fraction(0),
        )
        best = sum(sorted((x for row in exact for x in row), reverse=True)[:200], Fraction(0))
        error = abs(float(best - collected - Fraction(float(result.final_regret[0]))))
        assert error <= result.rounding[0]
        most = max(most, error / result.rounding[0])
    assert most > 1e-3


def test_the_rule_as_it_is_stated() -> None:
    """(K + 3) eps times |J| + |regret| + |adversarial regret|, run by run."""
    found = stats.rounding([-300.0, 1.0], [50.0, 0.0], [-20.0, 2.0], arms=7)
    assert found.tolist() == [10 * 2.0**-52 * 370.0, 10 * 2.0**-52 * 3.0]
    at_the_edge = stats.settled([1.0, -1.0, 1.5], 1.0)
    assert at_the_edge.tolist() == [0.0, 0.0, 1.5]


def test_running_sums_are_correct_to_the_last_bits() -> None:
    rng = np.random.default_rng(4)
    values = np.stack([np.full(3000, 0.1), rng.normal(size=3000), 1e6 * rng.random(3000) ** 9])
    for row, sums in zip(values, running_sums(values), strict=True):
        total = Fraction(0)
        for value, ours in zip(row.tolist(), sums.tolist(), strict=True):
            total += Fraction(value)
            assert abs(Fraction(ours) - total) <= Fraction(2) ** -52 * abs(total)


def test_tuning_takes_the_first_of_those_that_tie() -> None:
    found = tune(policies.SWUCB(1), {"tau": [3, 1, 2]}, EQUAL, runs=3, engine="reference")
    assert found.chosen == {"tau": 3}
    moved = found.results[0].regret + 0.5 * found.results[0].rounding[:, None]
    object.__setattr__(found.results[0], "regret", moved)
    assert found.chosen == {"tau": 3}
    object.__setattr__(found.results[0], "regret", moved + 1e-6)
    assert found.chosen == {"tau": 1}
