"""Lemma 2.1 for audiences by brute force, the sum of gaps, and the bound of CellUCB."""

from __future__ import annotations

import itertools
import math
import random

import numpy as np
import pytest

from rotting import Arm, Audience, Bernoulli, Scenario, models, policies, simulate, theory
from rotting.theory._audience import cell_scale
from twins import audience as twin
from twins.common import Mean


def falling(rng: random.Random, length: int) -> Mean:
    """Means that never rise, with ties, perhaps below zero."""
    values = sorted((rng.randint(-3, 9) / 10 for _ in range(length)), reverse=True)
    return lambda n: values[n - 1]


def instances(count: int, seed: int) -> list[tuple[list[int], list[Mean]]]:
    """Arrivals of two or three keys, and two or three arms; up to eight rounds."""
    rng = random.Random(seed)
    found = []
    for _ in range(count):
        arms = rng.choice([2, 3])
        rounds = rng.randint(3, 8 if arms == 2 else 5)
        keys = rng.choice([2, 3])
        arrivals = [rng.randrange(keys) for _ in range(rounds)]
        found.append((arrivals, [falling(rng, rounds) for _ in range(arms)]))
    return found


def last_of_the_best(t: int, open_arms: list[int], means: list[float]) -> int:
    return max(open_arms, key=lambda arm: (means[arm], arm))


def test_the_highest_next_mean_of_each_key_is_optimal() -> None:
    """Lemma 2.1 for audiences, by all sequences of decisions; whichever arm is taken in a tie."""
    for arrivals, curves in instances(40, seed=1):
        best = twin.best_total(arrivals, curves)
        for choose in (twin.greedy, last_of_the_best):
            total = twin.play(arrivals, curves, choose).collected[-1]
            assert total == pytest.approx(best, abs=1e-12)


@pytest.mark.parametrize("unit", ["decisions", "rounds"])
def test_with_windows_it_is_optimal_too(unit: str) -> None:
    """For each key every window is a separate bandit."""
    rest = twin.Rest("window", 2, unit)
    forgot = 0
    for arrivals, curves in instances(25, seed=2):
        greedy = twin.play(arrivals, curves, twin.greedy, rest=rest).collected[-1]
        assert greedy == pytest.approx(twin.best_total(arrivals, curves, rest), abs=1e-12)
        forgot += greedy > twin.play(arrivals, curves, twin.greedy).collected[-1] + 1e-9
    assert forgot > 5


def curve(*means: float) -> Mean:
    return lambda n: means[min(n, len(means)) - 1]


def test_with_a_half_life_it_is_not() -> None:
    """A pays 1, and nothing if fresh in mind; B pays 0.4. After A, B gives A time to recover."""
    rest = twin.Rest("half-life", 1, "decisions")
    curves = [curve(1.0, 0.0), curve(0.4)]
    greedy = twin.play([0, 0, 0], curves, twin.greedy, rest=rest)
    assert [showing.arm for showing in greedy.shown] == [0, 0, 1]
    assert greedy.collected[-1] == pytest.approx(1.0 + 0.5 + 0.4)
    assert twin.best_total([0, 0, 0], curves, rest) == pytest.approx(1.0 + 0.4 + 0.75)


def test_nor_where_arms_close() -> None:
    """A pays 0.5 and closes after round 2; B pays a key 0.6, then 0.1. Two keys, twice each."""
    curves, opened = [curve(0.5), curve(0.6, 0.1)], [{0, 1}, {0, 1}, {1}, {1}]
    greedy = twin.play([0, 1, 0, 1], curves, twin.greedy, opened=opened)
    assert greedy.collected[-1] == pytest.approx(1.4)
    assert twin.best_total([0, 1, 0, 1], curves, opened=opened) == pytest.approx(2.2)


def test_regret_is_at_most_the_sum_of_gaps() -> None:
    """Every sequence of decisions; a gap is to the best next mean in the sequence's own state."""
    tight = 0
    for arrivals, curves in instances(25, seed=3):
        best = twin.play(arrivals, curves, twin.greedy).collected[-1]
        for sequence in itertools.product(range(len(curves)), repeat=len(arrivals)):
            gaps = []

            def choose(t: int, arms: list[int], means: list[float]) -> int:
                arm = sequence[t - 1]  # noqa: B023
                gaps.append(max(means) - means[arm])  # noqa: B023
                return arm

            regret = best - twin.play(arrivals, curves, choose).collected[-1]
            assert regret <= math.fsum(gaps) + 1e-9
            tight += regret > 0.1 and regret > math.fsum(gaps) - 1e-9
    assert tight > 100  # and no smaller multiple of them would do


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"arms": 0}, "arms must be an integer >= 1, got 0"),
        ({"cells": 0}, "cells must be an integer >= 1, got 0"),
        ({"horizon": 1.5}, "horizon must be an integer >= 1, got 1.5"),
        ({"sigma": 0.0}, "sigma must be a number > 0 and <= 1e\\+100, got 0.0"),
        ({"delta": 1.0}, "delta must be a number > 0 and < 1, got 1.0"),
        ({"span": -1.0}, "span must be a number >= 0 and <= 1e\\+100, got -1.0"),
        ({"variation": -1.0}, "variation must be a number >= 0"),
    ],
)
def test_refused(wrong: dict[str, float], message: str) -> None:
    case = {"arms": 2, "cells": 3, "horizon": 100, "sigma": 0.5, **wrong}
    with pytest.raises(ValueError, match=message):
        theory.audience_regret_bound(**case)  # type: ignore[arg-type]


def test_the_bound_by_its_proof() -> None:
    """The sum of twice every padding, cell by cell, at the worst split of the rounds: an even one.

    The closed form is above it, and not by much.
    """
    arms, cells, horizon, sigma, delta, span = 3, 4, 60_000, 0.05, 0.1, 0.7
    shown = horizon // (arms * cells)
    n = np.arange(1, shown)
    paddings = sigma * np.sqrt(2 * np.log(cell_scale(cells, delta) * n.astype(float) ** 2) / n)
    summed = arms * cells * (span + 2 * paddings.sum())
    bound = theory.audience_regret_bound(arms, cells, horizon, sigma, delta, span)
    assert summed < bound < 1.3 * summed
    more = theory.audience_regret_bound(arms, cells, horizon, sigma, delta, span, variation=0.01)
    assert more == pytest.approx(bound + 0.02 * horizon)
    assert theory.audience_regret_bound(arms, cells, 10, sigma, delta, span) == 7.0  # trivial


def test_bounds_of_all_n_and_cells_fail_together_with_delta() -> None:
    n = np.arange(1.0, 10**6)
    cells, delta = 7, 0.05
    assert cells * np.sum(2 / (cell_scale(cells, delta) * n**2)) == pytest.approx(delta, rel=1e-5)


def test_measured_regret_is_below_the_bound() -> None:
    """Steps at cells' ends, so that means are constant within cells; every run and checkpoint."""
    arms = [
        Arm(models.Step(at=at, before=b, after=0.05)) for at, b in ((2, 0.9), (4, 0.6), (3, 0.7))
    ]
    scenario = Scenario(arms, Bernoulli(), 6_000, audience=Audience(keys=900))
    policy = policies.CellUCB(sigma=0.5, cells=4, delta=0.05)
    result = simulate(policy, scenario, runs=4, checkpoints=6, engine="reference")
    bounds = [
        theory.audience_regret_bound(3, 4, int(t), 0.5, span=0.85) for t in result.checkpoints
    ]
    assert (result.regret < bounds).all()
    assert result.mean_regret[-1] > 0.0
    pooled = simulate(policies.UCB1(), scenario, runs=4, checkpoints=6, engine="reference")
    assert result.mean_regret[-1] < pooled.mean_regret[-1]
