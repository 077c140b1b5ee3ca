"""Amounts that no model here describes: the diagnosis makes no claim."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from helpers.small_logs import quick
from rotting import policies
from rotting.logs import Log, fit, read, synthetic
from rotting.logs._diagnosis.asking import ask
from rotting.logs._diagnosis.cost import allowed
from rotting.logs._diagnosis.misfit import Means, heavy, kurtosis, misfit
from rotting.logs._diagnosis.stories import stories_of


def sales(leaving: str, truth: str = "constant", sigma: float = 0.6, sold: float = 0.8) -> Log:
    """Clicks of which some buy, for a lognormal amount."""
    frame = synthetic(truth, leaving, keys=1500, seed=1)
    rng = np.random.default_rng(3)
    amount = 20.0 * np.exp(rng.normal(0.0, sigma, len(frame))) * (rng.random(len(frame)) < sold)
    return read(frame.with_columns(reward=frame["reward"].to_numpy() * amount))


def lognormal(sigma: float) -> Log:
    frame = synthetic("rested", "both", keys=1500, seed=1)
    amount = np.exp(np.random.default_rng(3).normal(0.0, sigma, len(frame)))
    return read(frame.with_columns(reward=(1.0 + frame["reward"].to_numpy()) * amount))


@pytest.mark.parametrize("leaving", ["nobody", "rate", "both"])
@pytest.mark.parametrize("truth", ["constant", "rested"])
def test_nothing_is_claimed_of_amounts_that_are_mostly_zero(leaving: str, truth: str) -> None:
    found = quick(sales(leaving, truth))
    assert found.overall == "cannot-tell"
    assert found["unknown"].code == "mostly-zeros"
    assert found["cost"].code == "cannot-tell"
    assert found["cost"].estimate is None
    assert "zeros and ones (--reward clicked)" in found.advice


def test_nothing_is_claimed_where_a_few_amounts_outweigh_all_others() -> None:
    found = quick(lognormal(1.5))
    assert found.overall == "cannot-tell"
    assert found["unknown"].code in ("heavy-tails", "contradiction")
    assert found["cost"].estimate is None


def test_a_model_that_contradicts_the_log_is_not_believed() -> None:
    good = stories_of(read(synthetic("rested", "both", rewards="gaussian", seed=2)))
    asked = ask(good)
    assert misfit(good, asked) is None
    moved = asked.fitted.parameters.copy()
    moved[0] += 0.5  # a fall that is not there
    wrong = misfit(good, asked._replace(fitted=asked.fitted._replace(parameters=moved)))
    assert wrong is not None
    assert wrong.code == "contradiction"
    assert "contradicts the log" in wrong.sentence


@pytest.mark.parametrize("rewards", ["binary", "gaussian"])
@pytest.mark.parametrize("leaving", ["nobody", "rate", "both"])
def test_rewards_that_the_model_describes_are_believed(rewards: str, leaving: str) -> None:
    stories = stories_of(read(synthetic("rested", leaving, rewards=rewards, seed=4)))
    assert misfit(stories, ask(stories)) is None


def test_means_contradict_if_neither_chance_nor_a_small_misfit_explains_it() -> None:
    assert Means(1.0, 1.4, 0.1).contradict
    assert not Means(1.0, 1.2, 0.1).contradict  # two standard errors
    assert not Means(1.0, 1.04, 0.001).contradict  # four per cent


def test_a_few_deviations_that_are_small_beside_the_mean_do_no_harm() -> None:
    rest = np.append(np.zeros(1000), 5.0)
    assert heavy(rest, 0.1)
    assert not heavy(rest, 8.0)  # ratings
    assert not heavy(np.random.default_rng(1).normal(size=1000), 0.1)


def test_use_that_cannot_be_told_from_the_calendar_is_the_better_reason() -> None:
    frame = synthetic("rested", starts="lockstep", theta=1.0, seed=1)
    amount = np.exp(np.random.default_rng(3).normal(0.0, 1.5, len(frame)))
    found = quick(frame.with_columns(reward=(0.2 + frame["reward"]).to_numpy() * amount))
    assert found.overall == "cannot-tell"
    assert "whether by use or by the calendar this log cannot tell" in found.headline


def test_kurtosis_is_three_for_gaussian_numbers() -> None:
    values = np.random.default_rng(1).normal(2.0, 3.0, 100_000)
    assert kurtosis(values) == pytest.approx(3.0, abs=4 * np.sqrt(24 / 1e5))
    assert kurtosis(np.ones(5)) == 0.0


def test_the_cost_is_at_most_what_first_showings_allow() -> None:
    """By hand: two sequences of one arm, 40 times; three standard errors are added."""
    table: dict[str, list[Any]] = {"user": [], "ad": [], "time": [], "reward": []}
    for k in range(80):
        for n, paid in enumerate([4.0, 1.0, 1.0] if k % 2 else [2.0, 1.0]):
            for name, value in zip(table, (f"u{k}", "x", 3.0 * k + n, paid), strict=True):
                table[name].append(value)
    stories = stories_of(read(table))
    ones = np.ones(200)
    error = 1.0 / np.sqrt(80)
    assert allowed(stories, ones) == pytest.approx(40 * 3 * 4 + 40 * 2 * 2 + 3 * error * 200)
    few = stories_of(read({name: values[:25] for name, values in table.items()}))
    assert allowed(few, np.ones(25)) == np.inf


def test_a_fit_of_such_amounts_is_doubted_and_not_played_by() -> None:
    found = fit(sales("nobody"), resamples=10, folds=2)
    assert "84 % of them are zero" in found.doubt
    assert found.notes[0] == found.doubt
    policy, lines = found.recommended()
    assert policy == policies.Fatigue("gaussian", None)
    assert lines[-1] == "policy = policies.Fatigue('gaussian', sigma=None)"
    assert found.as_data()["doubt"] == found.doubt
    heavy = fit(lognormal(1.5), resamples=10, folds=2)
    assert heavy.doubt
    assert heavy.recommended()[0] == policies.Fatigue("gaussian", None)


def test_a_fit_that_contradicts_first_showings_is_doubted() -> None:
    from rotting.logs._fits.accepted import doubt_of

    log = read(synthetic("rested", "both", rewards="gaussian", seed=2))
    found = fit(log, resamples=10, folds=2)
    assert not found.doubt
    wrong = replace(found.fitted, amplitudes=2.0 * found.fitted.amplitudes)
    assert "contradict the log" in doubt_of(log, wrong)


def test_a_small_log_whose_first_showings_were_never_clicked_is_no_contradiction() -> None:
    """With 60 keys at 5 % that is chance; the error must not be taken from what was seen."""
    frame = synthetic("constant", "nobody", keys=60, seed=1)
    rng = np.random.default_rng(0)
    clicks = (rng.random(len(frame)) < 0.05).astype(float)
    log = read(frame.with_columns(reward=clicks))
    log.reward[log.exposure == 1] = 0.0
    stories = stories_of(log)
    assert misfit(stories, ask(stories)) is None


def test_a_contradiction_of_clicks_does_not_ask_for_clicks() -> None:
    good = stories_of(read(synthetic("rested", "both", seed=2)))
    asked = ask(good)
    moved = asked.fitted.parameters.copy()
    moved[0] += 1.0
    wrong = misfit(good, asked._replace(fitted=asked.fitted._replace(parameters=moved)))
    assert wrong is not None
    assert "--reward" not in wrong.advice
