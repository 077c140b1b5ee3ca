"""The command `theory`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from rotting import Arm, Audience, Gaussian, Scenario, models
from rotting._cli import app
from rotting._cli.theory import _of_scenario


def test_theory_on_the_command_line(tmp_path: Path) -> None:
    runner = CliRunner()
    found = runner.invoke(app, ["theory", "--scenario", "anv", "--json"])
    assert found.exit_code == 0
    assert json.loads(found.stdout)["guarantees"][2]["detection"] == 3_366_844
    picture = tmp_path / "bounds.png"
    line = "theory --model polynomial --thetas 0.1,0.4 --arms 3 --sigma 0.5 --horizon 2000 --runs 2"
    args = [*line.split(), "--out", str(picture)]
    found = runner.invoke(app, args)
    assert found.exit_code == 0, found.stderr
    assert "CTO_SIM" in found.stdout
    assert "Measured: mean regret of CTO" in found.stdout
    assert "sigma = 0.5, T = 2,000, delta = 0.1" in found.stdout
    assert picture.read_bytes()[:4] == b"\x89PNG"
    for wrong, words in (
        (["theory"], "arms must be given"),
        (["theory", "--model", "polynomial"], "model and thetas must be given together"),
        (["theory", "-s", "anv", "--delta", "2"], "delta must be a number >= 1e-100 and < 1"),
        (["theory", "-s", "anv", "--out", "x.txt"], "out must end in"),
        (["theory", "-s", "late_arrival"], "scenario must be one whose arms are always open"),
        (["theory", "--model", "square", "--thetas", "1"], "unknown model 'square'"),
    ):
        refused = runner.invoke(app, wrong)
        assert refused.exit_code == 2
        assert words in refused.stderr


def test_no_theorem_of_the_paper_is_about_audiences() -> None:
    arms = [Arm(models.Polynomial(0.2))]
    scenario = Scenario(arms, Gaussian(1.0), 10, audience=Audience(keys=3))
    with pytest.raises(ValueError, match=r"scenario must be one without an audience, .* got one"):
        _of_scenario(scenario)
