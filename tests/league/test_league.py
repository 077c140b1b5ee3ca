"""The league: every policy is in it, and what it writes."""

from __future__ import annotations

import json
from pathlib import Path

from typer.testing import CliRunner

from rotting import league, policies
from rotting.cli import app


def test_the_league_on_two_scenarios(tmp_path: Path) -> None:
    runner = CliRunner()
    folder = tmp_path / "league"
    line = "league --runs 2 --scenario stationary_1 --scenario fall_28"
    args = [*line.split(), "--out", str(folder)]
    found = runner.invoke(app, args)
    assert found.exit_code == 0, found.stderr
    data = json.loads((folder / "league.json").read_text())
    assert set(data["scenarios"]) == {"stationary_1", "fall_28"}
    for row in data["scenarios"].values():
        assert set(row["RAWUCB"]) == {"mean", "standard_error", "p95", "max", "nanoseconds"}
    assert set(data["recommended"]) == {
        "nothing_known",
        "family",
        "family_and_constants",
        "bernoulli",
        "many_arms",
    }
    assert (folder / "league.html").read_text().startswith("<!doctype html>")
    refused = runner.invoke(app, [*args[:3], "--scenario", "nowhere", "--out", str(folder / "x")])
    assert refused.exit_code == 2
    assert "unknown scenario 'nowhere'" in refused.stderr


def test_every_policy_is_in_the_league() -> None:
    """All but the oracle, and D-CTO_UCB, whose exploration fits no horizon here."""
    from rotting.league.playing import contestants

    playing = {type(policy) for policy in contestants(league.SCENARIOS["anv"]).values()}
    ours = {kind for kind in policies.POLICIES.values() if kind.__module__.startswith("rotting.")}
    assert ours - playing == {policies.Oracle, policies.DCTO_UCB}
    for name in ("non_parametric", "av", "anv"):
        assert name in league.SCENARIOS
