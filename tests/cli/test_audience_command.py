"""`rotting audience`: table, JSON, page, and one line for a user's mistake."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from rotting._catalogue import names
from rotting._cli import app, console
from rotting.league._audience_contestants import usual

SHORT = ["--scenario", "power_2k_10:horizon=400", "--runs", "2", "--engine", "reference"]


def rotting(*words: str) -> Any:
    return CliRunner().invoke(app, ["audience", *words])


def test_json_has_a_share_for_every_policy() -> None:
    done = rotting("uniform", "posterior:rule=thompson", *SHORT, "--seed", "3", "--json")
    assert done.exit_code == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["scenario"] == "power_2k_10:horizon=400"
    assert list(found["policies"]) == ["Uniform", "Posterior(rule=thompson)"]
    for row in found["policies"].values():
        assert 0.3 < row["share"] <= 1.0
        assert 0.0 < row["standard_error"] < 0.3
    assert found["compared_with"] == "Uniform"
    assert found["seed"] == 3
    assert found["policies"]["Uniform"]["keys"] == "ignored"
    assert found["policies"]["Posterior(rule=thompson)"]["keys"] == "counted"
    curves = found["curves"]
    assert (curves["policy"], curves["run"]) == ("Posterior(rule=thompson)", 0)
    assert sorted(arm["arm"] for arm in curves["arms"]) == list(range(10))
    assert all(set(arm["worth"]) <= {"1", "2", "3", "5", "8"} for arm in curves["arms"])
    assert all(0.02 < arm["worth"]["1"] < 0.1 for arm in curves["arms"])
    assert any(arm["cap"] for arm in curves["arms"])
    again = rotting("uniform", "posterior:rule=thompson", *SHORT, "--seed", "3", "--json")
    assert json.loads(again.stdout) == found
    pooled = rotting("uniform", *SHORT, "--json")
    assert json.loads(pooled.stdout)["curves"] is None


def test_table_and_page(tmp_path: Path) -> None:
    words = ["ucb1", "posterior:rule=thompson", *SHORT]
    done = rotting(*words, "--out", str(tmp_path / "x"))
    assert done.exit_code == 0, done.stderr
    assert "ignored" in done.stdout
    assert "differences to the share of UCB1" in done.stdout
    said = " ".join(done.stdout.split())
    assert "as Posterior(rule=thompson) believes at the end of the first run" in said
    assert "arm cap #1 #2 #3 #5 #8 " in said
    page = (tmp_path / "x" / "audience.html").read_text()
    assert page.count("<svg") == 2 + 10  # shares, regret, and a curve for each arm
    assert "what Posterior(rule=thompson) believes" in page
    assert "rotting audience ucb1 posterior:rule=thompson" in page
    data = json.loads((tmp_path / "x" / "audience.json").read_text())
    assert data["compared_with"] == "UCB1"
    assert data["curves"] == json.loads(rotting(*words, "--json").stdout)["curves"]
    for row in data["curves"]["arms"]:
        assert f"{row['worth']['1']:.4g}" in said
    again = rotting(*words, "--out", str(tmp_path / "x"))
    assert again.exit_code == 2
    assert "use --force" in again.stderr


@pytest.mark.parametrize("width", [40, 80, 120])
def test_no_line_is_wider_than_the_terminal(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console.out, "_width", width)
    done = rotting("uniform", "ucb1", *SHORT)
    table, _, _ = done.stdout.partition("Shares of")  # a sentence is wrapped by the terminal
    assert max(map(len, table.splitlines())) <= width
    assert ("\nUniform\n" in done.stdout) == (width == 40)


def test_the_usual_policies_play_where_none_is_named() -> None:
    shorter = ["--scenario", "power_2k_10:horizon=30", "--runs", "1", "--engine", "reference"]
    done = rotting(*shorter, "--json")
    assert done.exit_code == 0, done.stderr
    scenario = names.parse_scenario("power_2k_10")
    assert list(json.loads(done.stdout)["policies"]) == list(usual(scenario))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--scenario", "av"], "scenario must be one with an audience, as power_2k_10, got 'av'"),
        (["--scenario", "pover_2k_10"], "unknown scenario 'pover_2k_10'; did you mean"),
        (["--runs", "0"], "runs must be an integer >= 1, got 0"),
        (["ubc1"], "unknown policy 'ubc1'; did you mean 'ucb1'?"),
        (["ucb1", "ucb1"], "policies must differ, got ucb1 twice"),
        (["ucb1", "guarded:sigma=0.2"], "policy must be one that can play an audience"),
    ],
)
def test_mistakes_are_one_line(words: list[str], message: str) -> None:
    done = rotting(*words)
    assert done.exit_code == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""


def test_help_names_the_engines_that_play_audiences() -> None:
    done = rotting("--help")
    assert "cpu, or reference (plain Python, slow)." in " ".join(done.stdout.split())
    assert "cuda" not in done.stdout
    refused = rotting("ucb1", *SHORT[:-1], "cuda")
    assert refused.exit_code == 2
    assert "cuda" in refused.stderr
