"""Outputs of a fit are valid inputs of the rest of the library."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rotting
from helpers.made_logs import as_log, log_of_curves, made_log
from rotting import policies
from rotting._catalogue.experiment_file import read_experiment
from rotting.bandits import Bernoulli, Gaussian
from rotting.logs._fits.belief import fall_of, wears_out
from rotting.logs._fits.described import why
from rotting.logs._fits.fitted import Fit
from rotting.logs._fits.fitting import fit
from rotting.logs._fits.shapes import KINDS
from rotting.logs._synthetic import synthetic
from rotting.models import Family, check_means


def keyless(kind: str, sigma: float | None) -> Fit:
    """A fit of one family to two arms that are used up for everybody."""
    generator = np.random.default_rng(1)
    n = np.tile(np.arange(1, 301), 2)
    arm = np.repeat([0, 1], 300)
    means = np.where(arm == 0, 0.6, 0.4) * n ** np.where(arm == 0, -0.3, -0.1)
    clicks = (generator.random(600) < means).astype(float)
    reward = clicks if sigma is None else generator.normal(means, sigma)
    log = made_log(0 * n, arm, n.astype(float), reward, ("a", "b"), keys=False)
    return fit(log, families=[kind], folds=2, resamples=50)


@pytest.fixture(scope="module", params=["binary", "gaussian"])
def audience(request: pytest.FixtureRequest) -> Fit:
    log = as_log(synthetic("rested", "failure", keys=150, rewards=request.param, seed=2))
    return fit(log, folds=3, resamples=50)


@pytest.mark.parametrize("sigma", [None, 0.2])
@pytest.mark.parametrize("kind", KINDS)
def test_every_family_is_played_by_policies_that_take_one(kind: str, sigma: float | None) -> None:
    found = keyless(kind, sigma)
    family = found.family()
    assert isinstance(family, Family)
    assert len(family) <= 45
    if family.weights is not None:
        assert sum(family.weights) == pytest.approx(1.0)
    means = family.table(400)
    assert means.min() > 0.0
    for row in means:
        check_means("a member", row)
    if sigma is None:
        assert means.max() <= 1.0
    scenario = found.scenario(60)
    for policy in (
        policies.Posterior(family, found.sigma),
        policies.Posterior(found.family("b"), found.sigma, rule="thompson"),
        policies.Guarded(family, found.sigma),
        policies.CTO(family),
    ):
        result = rotting.simulate(policy, scenario, runs=2, engine="reference")
        assert result.pulls.sum() == 120


def test_the_family_of_an_arm_lies_around_its_curve() -> None:
    found = keyless("power", 0.2)
    for arm in range(2):
        family = found.family(arm)
        weights = np.ones(len(family)) / len(family) if family.weights is None else family.weights
        mean = np.asarray(weights) @ family.table(50)
        curve = found.simulator(50)[arm]
        spread = found.draws.means(arm, np.arange(1, 51)).std(axis=0)
        assert (np.abs(mean - curve) < spread).all()
    assert found.family("a") == found.family(0)
    with pytest.raises(ValueError, match="unknown arm 'c'"):
        found.family("c")
    with pytest.raises(ValueError, match="arm must be an integer from 0 to 1, got 2"):
        found.family(2)


@pytest.mark.parametrize("kind", KINDS)
def test_models_and_scenario_have_the_curves(kind: str) -> None:
    found = keyless(kind, None)
    scenario = found.scenario()
    assert scenario.horizon == 600
    assert isinstance(scenario.noise, Bernoulli)
    tables = np.stack([model.table(300) for model in found.models()])
    np.testing.assert_allclose(tables, found.simulator(), rtol=1e-9, atol=1e-3)


def test_a_scenario_with_keys_resembles_the_log(audience: Fit) -> None:
    scenario = audience.scenario()
    log, crowd = audience.log, scenario.audience
    assert crowd is not None
    assert (scenario.horizon, crowd.keys) == (len(log.key), log.keys)
    came = np.bincount(crowd.arrive(0, 0, scenario.horizon), minlength=log.keys)
    np.testing.assert_array_equal(came, np.bincount(log.key, minlength=log.keys))
    assert crowd.factors is not None
    low, high = crowd.factors
    assert 0.0 <= low < 1.0 < high <= 2.0
    assert low + high == pytest.approx(2.0)
    if audience.rewards == "gaussian":
        assert scenario.noise == Gaussian(audience.sigma)
    longer = audience.scenario(2 * len(log.key) + 5)
    assert longer.horizon == 2 * len(log.key) + 5
    result = rotting.simulate(policies.Fatigue(), audience.scenario(50), runs=2, engine="reference")
    assert result.pulls.sum() == 100
    with pytest.raises(ValueError, match="horizon must be an integer >= 1, got 0"):
        audience.scenario(0)


def test_rates_near_one_leave_keys_little_room() -> None:
    log = log_of_curves([lambda n: 0.9 + 0.0 * n, lambda n: 0.8 + 0.0 * n], 200, 6, spread=0.1)
    found = fit(log, families=["constant"], folds=2, resamples=50)
    assert found.scenario().audience is not None  # refused if a factor brought a rate above 1


def check_plays(found: Fit, path: Path) -> None:
    found.write_toml(path)
    assert not path.with_name(path.name + ".part").exists()
    asked = read_experiment(path)
    assert [arm.model for arm in asked.scenario.arms] == list(found.models())  # type: ignore[union-attr]
    assert asked.scenario.noise == found.scenario().noise
    assert len(asked.policies) == 4
    short = dataclasses.replace(asked.scenario, horizon=40)
    for policy in asked.policies.values():
        result = rotting.simulate(policy, short, runs=2, engine="reference")
        assert result.pulls.sum() == 80


@pytest.mark.parametrize("sigma", [None, 0.2])
@pytest.mark.parametrize("kind", KINDS)
def test_experiment_files_are_read_and_played(
    kind: str, sigma: float | None, tmp_path: Path
) -> None:
    check_plays(keyless(kind, sigma), tmp_path / "fit.toml")


def test_experiment_files_of_audiences(audience: Fit, tmp_path: Path) -> None:
    path = tmp_path / "fit.toml"
    check_plays(audience, path)
    crowd, mine = read_experiment(path).scenario.audience, audience.scenario().audience
    assert crowd is not None
    assert mine is not None
    assert (crowd.keys, crowd.factors) == (mine.keys, mine.factors)
    first = path.read_text().splitlines()
    assert first[0].startswith("# A simulation of a made log, fitted by rotting: ")
    assert first[1].startswith(f"# Curves: {audience.best.name}")


def test_arrivals_in_a_word_where_there_are_many() -> None:
    log = as_log(synthetic("rested", keys=250, rewards="gaussian", seed=2))
    found = fit(log, families=["power"], folds=2, resamples=20)
    assert len(log.key) > 2000
    assert 'arrivals = "uniform"' in found.as_toml()
    skewed = log.only(log.exposure <= 1 + 11 * (log.key % 7 == 0))
    few = fit(skewed, families=["power"], folds=2, resamples=20)
    assert "arrivals = [" in few.as_toml()


def test_names_of_arms_cannot_break_a_file(tmp_path: Path) -> None:
    found = keyless("power", 0.2)
    names = ('a"\n[x]\\', "b\x1b[2J<b>")
    log = dataclasses.replace(found.log, arms=names, source="log\n]")
    odd = dataclasses.replace(found, log=log)
    check_plays(odd, tmp_path / "fit.toml")
    assert "\x1b" not in str(odd)
    assert "&lt;b&gt;" in odd._repr_html_()


@pytest.mark.parametrize("sigma", [None, 0.2])
@pytest.mark.parametrize("kind", KINDS)
def test_lines_of_python_make_the_recommended_policy(kind: str, sigma: float | None) -> None:
    found = keyless(kind, sigma)
    policy, lines = found.recommended()
    made: dict[str, Any] = {}
    exec("\n".join(lines), made)
    assert made["policy"] == policy
    assert lines[0].startswith("# ")
    expected = policies.SteadyUCB if kind in ("constant", "table") else policies.Guarded
    assert isinstance(policy, expected)


def test_audiences_get_a_formula_only_where_one_is_clear(tmp_path: Path) -> None:
    def falls(n: Any) -> Any:
        return np.where(n <= 3, 1.0, 0.35)

    alike = [falls, lambda n: 0.7 * falls(n)]
    mixed = [falls, lambda n: 0.7 + 0.0 * n, lambda n: n**-0.5]
    flat = [lambda n: 0.7 + 0.0 * n, lambda n: 0.5 + 0.0 * n]
    for curves, expected in ((alike, "Posterior"), (mixed, "Fatigue"), (flat, "Fatigue")):
        found = fit(log_of_curves(curves, 400, 8, sigma=0.4, seed=3), folds=3, resamples=50)
        policy, lines = found.recommended()
        made: dict[str, Any] = {}
        exec("\n".join(lines), made)
        assert made["policy"] == policy
        assert type(policy).__name__ == expected
        found.write_toml(tmp_path / "fit.toml")
        first = next(iter(read_experiment(tmp_path / "fit.toml").policies.values()))
        assert first == policy


def test_what_is_shown(audience: Fit) -> None:
    text, html, data = str(audience), audience._repr_html_(), audience.as_data()
    json.dumps(data, allow_nan=False)
    for candidate in audience.candidates:
        assert candidate.name in text
        assert candidate.name in html
    assert data["best"] == audience.best.name
    assert [each["behind"] for each in data["families"]] == sorted(
        each["behind"] for each in data["families"]
    )
    assert data["families"][0]["behind"] == 0.0
    for arm in data["arms"]:
        assert arm["amplitude"]["low"] < arm["amplitude"]["estimate"] < arm["amplitude"]["high"]
    assert sum(arm["rewards"] for arm in data["arms"]) == len(audience.log.reward)
    powers = next(each for each in data["families"] if each["family"] == "power, pooled")
    theta = powers["parameters"]["theta"]
    assert theta["low"] <= theta["estimate"] <= theta["high"]


def test_curves_have_bands(audience: Fit) -> None:
    curves = audience.curves()
    assert curves.arms == audience.arms
    np.testing.assert_array_equal(curves.estimate, audience.simulator())
    assert (curves.low <= curves.estimate).all()
    assert (curves.estimate <= curves.high).all()
    assert (curves.high - curves.low > 0.0).all()
    assert audience.curves(40).estimate.shape == (3, 40)
    with pytest.raises(ValueError, match="longest must be an integer"):
        audience.curves(0)


def test_a_fit_says_that_nothing_wears_out_where_nothing_does() -> None:
    found = fit(as_log(synthetic("constant", "both", seed=1)), resamples=10, folds=2)
    assert not wears_out(found)
    assert "Nothing wears out by this fit" in why(found)
    policy, lines = found.recommended()
    assert policy == policies.Fatigue()
    assert lines[0].startswith("# Nothing wears out by this fit.")
    falling = fit(as_log(synthetic("rested", "both", theta=0.5, seed=1)), resamples=10, folds=2)
    assert wears_out(falling)
    assert "Nothing wears out" not in why(falling)
    assert 0.3 < fall_of(falling) < 0.6
