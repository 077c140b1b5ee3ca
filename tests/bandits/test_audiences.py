"""Audiences: which keys come, how often, with which factors, and refusals."""

from __future__ import annotations

import dataclasses
import pickle
import re
from typing import Any

import numpy as np
import pytest
from scipy import stats

from rotting import Arm, Audience, Bernoulli, Gaussian, HalfLife, Scenario, Window, models
from rotting.kernel.arrays import FloatArray

ARMS = [Arm(models.Polynomial(0.3)), Arm(models.Constant(0.5))]


def p_value(arrivals: Any, chances: FloatArray) -> float:
    """Of the chi-square test that keys come with these chances."""
    counts = np.bincount(arrivals, minlength=chances.size)
    return float(stats.chisquare(counts, chances * arrivals.size).pvalue)


ZIPF = np.arange(1, 41) ** -1.1
CHANCES = [("uniform", np.full(40, 1 / 40)), ("zipf:1.1", ZIPF / ZIPF.sum())]


@pytest.mark.parametrize(("arrivals", "chances"), CHANCES, ids=[name for name, _ in CHANCES])
def test_keys_come_with_their_chances(arrivals: str, chances: FloatArray) -> None:
    audience = Audience(keys=40, arrivals=arrivals)
    found = [p_value(audience.arrive(9, run, 20_000), chances) for run in range(20)]
    assert min(found) > 1e-4  # 20 tests with a fixed seed
    assert stats.kstest(found, "uniform").pvalue > 1e-3
    others = dict(CHANCES)["zipf:1.1" if arrivals == "uniform" else "uniform"]
    assert p_value(audience.arrive(9, 0, 20_000), others) < 1e-12  # the test can fail
    pairs = audience.arrive(9, 0, 20_001)
    both = np.bincount(pairs[:-1] * 40 + pairs[1:], minlength=1600).reshape(40, 40)
    assert stats.chi2_contingency(both + 1).pvalue > 1e-3  # whichever keys came before


def test_arrivals_depend_on_seed_and_run_alone() -> None:
    for arrivals in ("uniform", "zipf:0.7"):
        audience = Audience(keys=50, arrivals=arrivals)
        whole = audience.arrive(1, 2, 300)
        assert whole.dtype == np.int32
        np.testing.assert_array_equal(audience.arrive(1, 2, 100), whole[:100])
        assert np.mean(audience.arrive(1, 3, 300) == whole) < 0.3
        assert np.mean(audience.arrive(2, 2, 300) == whole) < 0.3


def test_turns_and_given_keys() -> None:
    assert Audience(3, "turns").arrive(0, 7, 7).tolist() == [0, 1, 2, 0, 1, 2, 0]
    keys = np.array([2, 0, 2, 1], dtype=np.int32)
    audience = Audience(3, keys)
    keys[0] = 1  # the owner may go on writing to the array
    assert audience.arrive(0, 7, 3).tolist() == [2, 0, 2]
    assert audience == Audience(3, [2, 0, 2, 1]) != Audience(3, [2, 0, 2, 2])
    assert hash(audience) == hash(Audience(3, [2, 0, 2, 1]))
    assert pickle.loads(pickle.dumps(audience)) == audience  # as workers of a cluster get it


def test_factors_are_uniform_in_their_range() -> None:
    audience = Audience(keys=5000, factors=(0.5, 2.0))
    found = audience.factors_of(3, 0)
    assert found.size == 5000
    assert stats.kstest(found, stats.uniform(0.5, 1.5).cdf).pvalue > 1e-3
    np.testing.assert_array_equal(found[:100], Audience(100, factors=(0.5, 2.0)).factors_of(3, 0))
    assert not np.any(found == audience.factors_of(3, 1))
    assert Audience(keys=5).factors_of(0, 0).tolist() == [1.0]
    # their random numbers are not those by which keys come
    given: Any = np.array([0.5, 2.0])
    assert Audience(keys=5000, factors=given) == audience
    units = Audience(keys=5000, factors=(0.0, 1.0)).factors_of(3, 0)
    assert np.mean(audience.arrive(3, 0, 5000) == (units * 5000).astype(int)) < 0.01


EVERY = [
    Audience(7),
    Audience(7, "zipf:2"),
    Audience(7, "turns"),
    Audience(7, "turns", (0.5, 1.0)),
    Audience(3, [0, 2, 2, 1] * 100),
    Audience(3, [0, 2, 2, 1] * 100, (0.5, 1.0)),
]


@pytest.mark.parametrize("audience", EVERY, ids=range(len(EVERY)))
def test_how_often_a_key_comes_at_most(audience: Audience) -> None:
    """Tables are as long as that; the guess must not be lower."""
    counts = [np.bincount(audience.arrive(4, run, 400)).max() for run in range(5)]
    assert audience.most_of(4, 0, 5, 400) == max(counts)
    assert max(counts) <= audience.most_arrivals(400) <= 400
    scenario = Scenario(ARMS, Gaussian(1.0), 400, audience=audience)
    assert scenario.longest == audience.most_arrivals(400)
    assert scenario.repeats == (audience in (EVERY[2], EVERY[4]))


WORDS = "arrivals must be 'uniform', 'turns', 'zipf:S' with 0 < S <= 10, or key numbers, got "
NUMBERS = "arrivals must be key numbers from 0 to 2, one a round, got "
REFUSED: list[tuple[Any, dict[str, Any], str]] = [
    (Audience, {"keys": 0}, "keys must be an integer >= 1, got 0"),
    (Audience, {"keys": 2.5}, "keys must be an integer >= 1, got 2.5"),
    (Audience, {"keys": True}, "keys must be an integer >= 1, got True"),
    (Audience, {"keys": 2**31}, "keys must be an integer from 1 to 2147483647, got 2147483648"),
    (Audience, {"keys": 3, "arrivals": "poisson"}, WORDS + "'poisson'"),
    (Audience, {"keys": 3, "arrivals": "zipf"}, WORDS + "'zipf'"),
    (Audience, {"keys": 3, "arrivals": "zipf:0"}, WORDS + "'zipf:0'"),
    (Audience, {"keys": 3, "arrivals": "zipf:nan"}, WORDS + "'zipf:nan'"),
    (Audience, {"keys": 3, "arrivals": "zipf:10.5"}, WORDS + "'zipf:10.5'"),
    (Audience, {"keys": 3, "arrivals": None}, NUMBERS + "None"),
    (Audience, {"keys": 3, "arrivals": []}, NUMBERS + "[]"),
    (Audience, {"keys": 3, "arrivals": [0.5]}, NUMBERS + "[0.5]"),
    (Audience, {"keys": 3, "arrivals": [[0], [1, 2]]}, NUMBERS + "[[0], [1, 2]]"),
    (Audience, {"keys": 3, "arrivals": [0, 3]}, NUMBERS + "3 in round 2"),
    (Audience, {"keys": 3, "arrivals": [-1]}, NUMBERS + "-1 in round 1"),
    (Audience, {"keys": 3, "factors": 3}, "factors must be a pair (low, high), got 3"),
    (Audience, {"keys": 3, "factors": (1,)}, "factors must be a pair (low, high), got (1,)"),
    (
        Audience,
        {"keys": 3, "factors": np.arange(3)},
        "factors must be a pair (low, high), got array([0, 1, 2])",
    ),
    (
        Audience,
        {"keys": 3, "factors": np.array(0.5)},
        "factors must be a pair (low, high), got array(0.5)",
    ),
    (
        Audience,
        {"keys": 3, "factors": np.eye(2)},
        "factors[0] must be a number >= 0, got [1.0, 0.0]",
    ),
    (Audience, {"keys": 3, "factors": "ab"}, "factors must be a pair (low, high), got 'ab'"),
    (Audience, {"keys": 3, "factors": (-1, 1)}, "factors[0] must be a number >= 0, got -1"),
    (Audience, {"keys": 3, "factors": (2, 1)}, "factors[1] must be a number >= 2, got 1"),
    (Audience, {"keys": 3, "rest": 20}, "rest must be a HalfLife, a Window or None, got 20"),
    (HalfLife, {"length": 0}, "length must be a number > 0, got 0"),
    (HalfLife, {"length": "x"}, "length must be a number > 0, got 'x'"),
    (
        HalfLife,
        {"length": 1, "unit": "days"},
        "unit must be one of 'decisions', 'rounds', got 'days'",
    ),
    (Window, {"length": 0}, "length must be an integer >= 1, got 0"),
    (Window, {"length": 2.5}, "length must be an integer >= 1, got 2.5"),
    (
        Window,
        {"length": 3, "unit": "day"},
        "unit must be one of 'decisions', 'rounds', got 'day'",
    ),
]


@pytest.mark.parametrize(("kind", "wrong", "message"), REFUSED, ids=[case[2] for case in REFUSED])
def test_refused(kind: Any, wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=rf"^{re.escape(message)}$"):
        kind(**wrong)


def test_a_scenario_refuses_an_audience_that_does_not_fit() -> None:
    scenario = Scenario(ARMS, Bernoulli(), 5)
    for audience, message in (
        (3, "audience must be an Audience or None, got 3"),
        (Audience(2, [0, 1]), "arrivals must have a key for each of the 5 rounds, got 2"),
        (
            Audience(2, factors=(1, 1.5)),
            "Bernoulli rewards need means in [0, 1], but Polynomial(theta=0.3) times a key's "
            "factor 1.5 reaches 1.5 at n = 1",
        ),
    ):
        with pytest.raises(ValueError, match=rf"^{re.escape(message)}$"):
            dataclasses.replace(scenario, audience=audience)  # type: ignore[arg-type]


def test_many_keys_with_factors_make_small_chunks() -> None:
    scenario = Scenario(ARMS, Gaussian(1.0), 10, audience=Audience(10**6, factors=(0.5, 1.0)))
    assert scenario.runs_a_chunk(1 << 28) == (1 << 28) // (8 * 10**6)
    assert scenario.runs_a_chunk(1) == 1
    alike = dataclasses.replace(scenario, audience=Audience(10**6))
    assert alike.runs_a_chunk(1) == 2**62
