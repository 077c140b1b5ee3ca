"""Arms, noise and scenarios: how they are drawn, and refusals that say why."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable

import numpy as np
import pytest

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

ARM = Arm(models.Constant(0.5))
FAMILY = models.Plateau(length=100).over([0.1, 0.2])


REFUSED: list[tuple[str, Callable[[], object]]] = [
    ("sigma must be > 0, got -1.0 at n = 1", lambda: Gaussian(lambda n: -1.0 * n)),
    ("keep the mean at most 1e.100", lambda: Arm(models.Constant(1e100), 1e100)),
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
    (
        "Bernoulli rewards need means in \\[0, 1\\].*1.5 at n = 1",
        lambda: Scenario([Arm(models.Constant(1.5))], Bernoulli(), 10),
    ),
    ("Bernoulli.*at n = 10", lambda: Scenario([Arm(models.Step(5, 0.5, -0.1))], Bernoulli(), 10)),
    ("Bernoulli", lambda: Scenario(RandomArms(FAMILY, 2, (0, 0.5)), Bernoulli(), 10)),
]


@pytest.mark.parametrize(("words", "wrong"), REFUSED, ids=[words for words, _ in REFUSED])
def test_refused_at_construction(words: str, wrong: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match=words):
        wrong()


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


def test_what_is_believed_of_a_scenario_is_no_part_of_it() -> None:
    plain = Scenario([Arm(models.Constant(0.5))], NoNoise(), 10)
    family = models.Exponential().over([0.1, 0.2])
    told = dataclasses.replace(plain, belief=family)
    assert told.belief == family
    assert told == plain
    assert repr(told) == repr(plain)
    assert dataclasses.replace(told, horizon=5).belief == family
    with pytest.raises(ValueError, match="belief must be a Family or an Interval, got 3"):
        dataclasses.replace(plain, belief=3)  # type: ignore[arg-type]
