"""Arms that come and go, on the command line; the output names the regret's baseline."""

from __future__ import annotations

import json
from pathlib import Path

from typer.testing import CliRunner

from rotting._cli import app

FILE = """
[scenario]
horizon = 60
noise = { kind = "none" }
arms = [{ model = "constant", value = 0.5 }, { model = "constant", value = 0.7 }]
openings = [{ arm = 1, first = 21, last = 40 }]
[[policies]]
policy = "ucb1"
"""


def test_tables_and_data_name_greedy_play(tmp_path: Path) -> None:
    file = tmp_path / "opened.toml"
    file.write_text(FILE)
    words = ["compare", "ucb1", "ucb1:c=1", "--runs", "2", "--engine", "reference", "--file"]
    found = CliRunner().invoke(app, [*words, str(file)])
    assert found.exit_code == 0, found.output
    assert "K = 2, T = 60, 2 runs, seed 0, regret against greedy play" in found.stdout
    found = CliRunner().invoke(app, [*words, str(file), "--json"])
    assert json.loads(found.stdout)["regret_against"] == "greedy"
    file.write_text(FILE.replace("openings", "# openings"))
    found = CliRunner().invoke(app, [*words, str(file)])
    assert found.exit_code == 0, found.output
    assert "greedy" not in found.stdout


def test_a_mistake_is_one_line(tmp_path: Path) -> None:
    file = tmp_path / "opened.toml"
    file.write_text(FILE.replace("last = 40", "last = 4"))
    found = CliRunner().invoke(app, ["simulate", "--file", str(file)])
    assert found.exit_code == 2
    assert "scenario: last round in openings of arm 1 must be an integer >= 21" in found.stderr
