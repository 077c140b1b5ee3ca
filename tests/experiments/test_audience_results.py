"""Results, comparisons and grids on scenarios with an audience, and what is said of them."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from rotting import (
    Arm,
    Audience,
    Gaussian,
    HalfLife,
    Result,
    Scenario,
    compare,
    models,
    policies,
    simulate,
    tune,
)
from rotting._cli import app
from rotting._show import plots

FAMILY = models.Polynomial().over([0.1, 0.4])
SCENARIO = Scenario(
    [Arm(models.Polynomial(0.1)), Arm(models.Polynomial(0.4)), Arm(models.Constant(0.4))],
    Gaussian(0.3),
    horizon=120,
    audience=Audience(keys=8),
)
OPTIONS = {"runs": 3, "engine": "reference"}
FILE = """
runs = 3
[scenario]
horizon = 120
noise = { kind = "gaussian", sigma = 0.3 }
arms = [{ model = "polynomial", theta = 0.1 }, { model = "constant", value = 0.4 }]
[scenario.audience]
keys = 8
rest = { half_life = 20 }
[[policies]]
policy = "ucb1"
[outputs]
folder = "FOLDER"
[tune]
policy = "ucb1"
grid = { c = [0.5, 2] }
"""


def test_a_result_is_saved_and_loaded(tmp_path: Path) -> None:
    result = simulate(policies.UCB1(), SCENARIO, **OPTIONS)  # type: ignore[arg-type]
    loaded = Result.load(result.save(tmp_path / "audience.npz"))
    for field in ("regret", "pulls", "total_reward", "adversarial_regret", "share"):
        np.testing.assert_array_equal(getattr(loaded, field), getattr(result, field))
    assert loaded.provenance == result.provenance
    assert np.isnan(loaded.adversarial_regret).all()
    assert loaded.note == "keys ignored"
    assert repr(loaded) == repr(result)
    single = "no adversarial regret (each key has a bandit of its own)"
    assert repr(result).endswith(f", {single}, keys ignored>")
    without = simulate(policies.UCB1(), dataclasses.replace(SCENARIO, audience=None), **OPTIONS)  # type: ignore[arg-type]
    assert "adversarial" not in repr(without)


def test_a_comparison_says_who_ignored_keys() -> None:
    found = compare([policies.CTO(FAMILY), policies.UCB1()], SCENARIO, **OPTIONS)  # type: ignore[arg-type]
    assert found.keys_ignored == found.summary()["keys_ignored"] == ["UCB1"]
    assert found["CTO"].note == ""
    assert repr(found).endswith(" (keys ignored)>")
    assert "CTO" in repr(found).split("(keys ignored)")[0]
    assert found.to_frame()["note"].tolist() == ["", "keys ignored"]
    _, labels = plots.regret_curves(found).get_legend_handles_labels()
    assert labels == ["CTO", "UCB1 (keys ignored)"]
    without = dataclasses.replace(SCENARIO, audience=None)
    assert compare([policies.UCB1()], without, **OPTIONS).keys_ignored == []  # type: ignore[arg-type]


def test_a_grid_is_searched() -> None:
    grid = {"sigma": [0.05, 3.0]}
    found = tune(policies.CellUCB(1.0), grid, SCENARIO, runs=6, engine="reference")
    assert found.chosen == {"sigma": 0.05}
    assert all(result.provenance["keys"] == "counted" for result in found.results)


def test_share_is_that_of_pi_max() -> None:
    oracle = simulate(policies.Oracle(), SCENARIO, **OPTIONS)  # type: ignore[arg-type]
    other = simulate(policies.Uniform(), SCENARIO, **OPTIONS)  # type: ignore[arg-type]
    np.testing.assert_allclose(oracle.share, 1.0, rtol=1e-12)
    np.testing.assert_allclose(other.share, other.total_reward / oracle.total_reward, rtol=1e-12)
    assert (other.share < 0.95).all()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "audience.toml"
    path.write_text(FILE.replace("FOLDER", str(tmp_path / "out")))
    return path


def test_commands_play_audiences(file: Path) -> None:
    runner, args = CliRunner(), ["--file", str(file)]
    for words in (
        ["simulate", "uniform", *args, "--engine", "reference"],
        ["compare", "uniform", "cellucb:cells=4", *args, "--engine", "reference"],
        ["run", str(file)],
        ["tune", *args],
    ):
        found = runner.invoke(app, words)
        assert found.exit_code == 0, found.output
        output = " ".join(found.stdout.split())
        assert "8 keys, 3 runs, seed 0, regret against greedy play" in output
        assert "eys ignored (the audience played as one key)" in output
        assert "nan" not in output
    found = runner.invoke(app, ["run", str(file), "--json", "--force"])
    assert json.loads(found.stdout)["keys_ignored"] == ["UCB1"]


def test_commands_refuse_in_one_line(file: Path) -> None:
    file.write_text(file.read_text().replace("keys = 8", "keys = 2147483648"))
    found = CliRunner().invoke(app, ["run", str(file)])
    assert found.exit_code == 2
    assert "keys must be an integer from 1 to 2147483647, got 2147483648" in found.stderr
    assert "Traceback" not in found.stderr


def test_rest_is_said_to_make_pi_max_greedy() -> None:
    recovering = dataclasses.replace(SCENARIO, audience=Audience(8, rest=HalfLife(5)))
    result = simulate(policies.UCB1(), recovering, **OPTIONS)  # type: ignore[arg-type]
    assert "regret against greedy play" in repr(result)
