"""The league: every policy is in it, and what it writes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from rotting import league, policies
from rotting._cli import app
from rotting.league import _regret, _report


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


def test_ones_own_policy_plays_beside_the_others(tmp_path: Path) -> None:
    """By words, filled in from each scenario, or as objects and functions of an entry."""
    words = ["--with", "wswa:alpha=0.4", "--with", "posterior:rule=thompson"]
    line = "league --runs 2 --json --scenario stationary_1 --scenario av"
    found = CliRunner().invoke(app, [*line.split(), *words, "--out", str(tmp_path / "x")])
    assert found.exit_code == 0, found.stderr
    data = json.loads(found.stdout)
    assert data["command"].endswith("--with wswa:alpha=0.4 --with posterior:rule=thompson")
    assert {"UCB1", "wSWA(alpha=0.4)", "Posterior(rule=thompson)"} <= set(data["scenarios"]["av"])
    assert "wSWA(alpha=0.4)" in data["scenarios"]["stationary_1"]
    assert "Posterior(rule=thompson)" not in data["scenarios"]["stationary_1"]  # no family there
    assert "wSWA(alpha=0.4)" in (tmp_path / "x" / "league.html").read_text()
    extra = {
        "mine": policies.UCB1(c=0.3),
        "made": lambda entry: policies.CTO(entry.family) if entry.family else None,
    }
    played = league.play(2, scenarios=["stationary_1", "av"], extra=extra)
    assert {"mine", "made"} <= set(played.cells["av"]) & set(played.ranks())
    assert "made" not in played.cells["stationary_1"]
    assert played.cells["av"]["made"]["mean"] == played.cells["av"]["CTO"]["mean"]
    shown = _regret.figure(played, most=1).axes[0].get_legend_handles_labels()[1]
    assert {"mine", "made"} <= set(shown)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("ucb1", "names of its own, got 'UCB1', which plays already"),
        ("wswa", "alpha of wswa must be given"),
        ("cto:familie=1", "unknown parameter of cto 'familie'"),
        ("dcto_ucb", "family of dcto_ucb must be given"),
        ("nobody", "unknown policy 'nobody'"),
        ("ucb1:c=3 --with ucb1:c=3", "policies must differ, got ucb1:c=3 twice"),
    ],
)
def test_ones_own_that_cannot_play(words: str, told: str, tmp_path: Path) -> None:
    line = f"league --runs 2 --scenario stationary_1 --out {tmp_path / 'x'} --with {words}"
    refused = CliRunner().invoke(app, line.split())
    assert refused.exit_code == 2
    assert told in refused.stderr
    assert not (tmp_path / "x").exists()


def test_one_that_can_play_nowhere() -> None:
    with pytest.raises(ValueError, match="at least one scenario, but 'mine' can play none"):
        league.play(2, scenarios=["stationary_1"], extra={"mine": lambda entry: None})


def test_who_plays_is_known_in_every_group() -> None:
    """Also where each run draws its arms, so that no first rates exist."""
    from rotting.league._play import entries_of, matches

    for group in league.GROUPS:
        assert matches(entries_of(group)) >= 20


def test_every_policy_is_in_the_league() -> None:
    """All but the oracle, and D-CTO_UCB, whose exploration fits no horizon here.

    Policies for audiences are in that of audiences.
    """
    from rotting.league import _audience_contestants
    from rotting.league._play import contestants

    playing = {type(policy) for policy in contestants(league.SCENARIOS["anv"]).values()}
    audience = league.AUDIENCES["audience_settings"]["power_2k_10"]
    playing |= {type(policy) for policy in _audience_contestants.contestants(audience).values()}
    ours = {kind for kind in policies.POLICIES.values() if kind.__module__.startswith("rotting.")}
    assert ours - playing == {policies.Oracle, policies.DCTO_UCB}
    for name in ("non_parametric", "av", "anv"):
        assert name in league.SCENARIOS


def test_groups(tmp_path: Path) -> None:
    """Names are unique over all groups but those of two arms; unknown groups are refused."""
    refused = CliRunner().invoke(app, ["league", "--group", "easy", "--out", str(tmp_path / "x")])
    assert refused.exit_code == 2
    assert "unknown group 'easy'" in refused.stderr
    with pytest.raises(ValueError, match="of the group league, but deep_fall is of adversarial"):
        league.play(2, scenarios=["deep_fall"])
    assert {"late_falls", "below_zero", "deep_fall"} <= set(league.ADVERSARIAL)
    assert not (set(league.ADVERSARIAL) & set(league.SCENARIOS))


def test_worst_and_significantly_above() -> None:
    def cell(mean: float, error: float) -> dict[str, float]:
        return {"mean": mean, "standard_error": error, "p95": mean, "max": mean, "nanoseconds": 1.0}

    cells = {
        "sure": {"RAWUCB": cell(10.0, 0.1), "A": cell(13.0, 0.1)},
        "unsure": {"RAWUCB": cell(10.0, 1.0), "A": cell(14.0, 2.0)},
        "below": {"RAWUCB": cell(10.0, 0.1), "A": cell(9.0, 0.1)},
    }
    found = league.League(cells, {}, runs=2, seed=0, seconds=1.0)
    name, ratio = found.worst("A")
    assert (name, round(ratio, 9)) == ("unsure", 1.4)
    assert found.above("A", 1.1) == ["sure"]
    # the first order of a ratio: 1.4 sqrt(0.1^2 + (2/14)^2)
    assert found.ratio_error("A", "unsure") == pytest.approx(1.4 * (0.01 + 1 / 49) ** 0.5)


def test_arms_that_come_and_go(tmp_path: Path) -> None:
    """Ten creatives are live in every round, and the page says what regret is measured against."""
    creatives = league.OPENINGS["live_creatives"].scenario
    rounds, flags = creatives.changes()
    assert rounds.tolist() == list(range(1, creatives.horizon, 1000))
    assert flags.sum(axis=1).tolist() == [10] * 31
    assert flags.any(axis=0).all()
    late = league.OPENINGS["late_arrival"].scenario
    assert late.changes()[1].sum(axis=1).tolist() == [4, 3, 4, 3, 4, 4]
    cell = {"mean": 9.0, "standard_error": 1.0, "p95": 9.0, "max": 9.0, "nanoseconds": 1.0}
    for group in ("contests", "openings"):
        entries = league.GROUPS[group]
        cells = {name: {"RAWUCB": cell, "UCB1": cell} for name in entries}
        _report.write(league.League(cells, entries, 2, 0, 1.0), tmp_path, "rotting league")
        page = (tmp_path / "league.html").read_text()
        assert ("measured against greedy play" in page) == (group == "openings")


def test_what_a_click_policy_is_told() -> None:
    """RAW-UCB plays clicks twice: with 1/2, and with the sigma of the arms' first rates."""
    from rotting.league._play import contestants

    told = contestants(league.SCENARIOS["clicks"])["RAWUCB told"]
    assert isinstance(told, policies.RAWUCB)
    assert told.sigma == pytest.approx((0.0221875 * (1 - 0.0221875)) ** 0.5)
    assert "RAWUCB told" not in contestants(league.SCENARIOS["av"])
