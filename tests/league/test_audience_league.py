"""The audience league: its scenarios, contestants, lost scenarios, and output."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from rotting import policies
from rotting._cli import app
from rotting.bandits import Bernoulli, DrawnArms, HalfLife, Scenario, Window
from rotting.league import AUDIENCES
from rotting.league import _play as playing
from rotting.league import _share as report
from rotting.league._audience_contestants import capped_names, contestants, recommended_for, usual
from rotting.league._audience_scenarios import AUDIENCE, drawn
from rotting.league._audience_settings import SETTINGS
from rotting.league._entry import Entry
from rotting.league._report import write


def test_the_twelve_settings() -> None:
    curves = ("power", "exponential", "step", "flat")
    assert list(SETTINGS) == [
        f"{c}_{size}" for c in curves for size in ("2k_10", "20k_10", "2k_40")
    ]
    for name, entry in SETTINGS.items():
        curve, users, arms = name.split("_")
        scenario = entry.scenario
        assert scenario.audience is not None
        assert scenario.audience.keys == {"2k": 2_000, "20k": 20_000}[users]
        assert scenario.audience.arrivals == "uniform"
        assert (scenario.arm_count, scenario.horizon) == (int(arms), 200_000)
        assert scenario.noise == Bernoulli()
        assert isinstance(scenario.arms, DrawnArms)
        assert scenario.arms.arms(0, 0) != scenario.arms.arms(0, 1)
        assert (entry.family is not None) == (curve == "power")


def arms_of(scenario: Scenario) -> Any:
    assert isinstance(scenario.arms, DrawnArms)
    return scenario.arms.arms(5, 3)


def test_the_league_has_what_the_settings_have_not() -> None:
    scenarios = {name: entry.scenario for name, entry in AUDIENCE.items()}
    crowds = {name: scenario.audience for name, scenario in scenarios.items()}
    assert {s.arm_count for s in scenarios.values()} >= {3, 10, 100}
    assert {c.keys for c in crowds.values() if c} >= {100, 2_000, 20_000, 100_000}
    assert {type(c.rest) for c in crowds.values() if c} == {type(None), HalfLife, Window}
    tops = {n: [float(a.mean(1)) for a in arms_of(s)] for n, s in scenarios.items()}
    assert max(tops["audience_rare"]) < 0.002
    assert max(tops["audience_frequent"]) > 0.5
    _, flags = scenarios["audience_live"].changes()
    assert set(flags.sum(axis=1)) == {10}
    assert flags.any(axis=0).all()


def test_drawn_scenarios_follow_from_the_seed_alone() -> None:
    first, again, other = drawn(1), drawn(1), drawn(2)
    assert len(first) == 12
    assert [e.scenario for e in first.values()] == [e.scenario for e in again.values()]
    assert [e.scenario for e in first.values()] != [e.scenario for e in other.values()]
    for entry in [entry for seed in range(40) for entry in drawn(seed).values()]:
        scenario = entry.scenario
        assert scenario.audience is not None
        highest = scenario.audience.highest_factor
        if isinstance(scenario.noise, Bernoulli):  # the engines refuse rates above 1
            assert max(float(arm.mean(1)) for arm in arms_of(scenario)) * highest <= 1.0


def test_ones_own_plays_beside_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    small = dataclasses.replace(SETTINGS["flat_2k_10"].scenario, horizon=300)
    monkeypatch.setitem(AUDIENCES, "short", {"flat": Entry("short", small)})
    monkeypatch.setattr(playing, "contestants", lambda entry: {"Uniform": policies.Uniform()})
    found = playing.play(2, group="short", extra={"mine": policies.RoundRobin()})
    assert found.measure == "share"
    assert set(found.as_data("x")["scenarios"]["flat"]["policies"]) == {"Uniform", "mine"}


def test_who_plays() -> None:
    entry = SETTINGS["power_2k_10"]
    named = contestants(entry)
    assert next(iter(named)) == recommended_for(entry.scenario).title == "Fatigue"
    assert named["Uniform"] == policies.Uniform()
    assert named["SteadyUCB"] == policies.SteadyUCB(None)
    posterior = named["Posterior"]
    assert isinstance(posterior, policies.Posterior)
    assert posterior.family == entry.family
    assert "Posterior" not in contestants(SETTINGS["step_2k_10"])
    assert recommended_for(entry.scenario).title in usual(entry.scenario)
    gaussian = AUDIENCE["audience_gaussian"].scenario
    assert usual(gaussian)["UCB1"] == policies.UCB1()


def test_caps_and_counts_that_fade() -> None:
    """A policy for each cap, and where arms recover once more with counts that are forgotten."""
    daily = AUDIENCE["audience_daily"]
    assert daily.scenario.audience is not None
    rest = daily.scenario.audience.rest
    named = contestants(daily)
    names = [f"Capped(cap={cap})" for cap in (1, 2, 3, 5, 8, 13)]
    for name in names:
        capped, resting = named[name], named[f"{name}, resting"]
        assert capped == policies.Capped(policies.Thompson(), int(name[11:-1]))
        assert resting == dataclasses.replace(capped, rest=rest)
    assert named["Fatigue, resting"] == policies.Fatigue(rest=rest)
    assert set(capped_names(named)) == {"Thompson", *names, *(f"{n}, resting" for n in names)}
    assert capped_names({"Thompson": named["Thompson"]}) == []  # nothing to choose among
    noisy = contestants(AUDIENCE["audience_gaussian"])
    assert noisy["Fatigue"] == policies.Fatigue("gaussian")
    assert noisy["Capped(cap=3)"] == policies.Capped(policies.Thompson(10.0), 3)
    assert noisy["CellUCB"] == policies.CellUCB(10.0)
    assert "Mixture" not in noisy  # its rewards lie in [0, 1]
    assert not any("resting" in name for name in noisy)


def cell(difference: float, low: float, high: float, share: float = 0.9) -> dict[str, Any]:
    more = {"standard_error": 0.001, "reward": 1.0, "keys": "counted", "nanoseconds": 10.0}
    return {"share": share, "difference": difference, "low": low, "high": high, **more}


DATA: dict[str, Any] = {
    "scenarios": {
        "one": {
            "about": "this <and> that",
            "compared_with": "Ours",
            "best_cap": "Capped(cap=2)",
            "policies": {
                "Ours": cell(0.0, 0.0, 0.0, 0.95),
                "Thompson": cell(-0.02, -0.03, -0.01),
                "Capped(cap=1)": cell(0.01, 0.005, 0.015),
                "Capped(cap=2)": cell(0.02, 0.01, 0.03),
            },
        },
        "two": {
            "about": "others",
            "compared_with": "Ours",
            "best_cap": "Thompson",
            "policies": {
                "Ours": cell(0.0, 0.0, 0.0, 0.95),
                "Thompson": cell(0.01, -0.01, 0.03),
                "Capped(cap=1)": cell(0.005, -0.01, 0.02),
                "Posterior": cell(0.03, 0.02, 0.04),
            },
        },
    },
    "runs": 4,
    "seed": 0,
    "seconds": 1.0,
    "command": "rotting league --group audience",
}


def test_where_it_is_beaten_and_by_whom() -> None:
    """By intervals that lie above zero; of the caps only by the best in hindsight."""
    found = [(each.scenario, each.by, each.difference) for each in report.beaten(DATA)]
    assert found == [("one", "Capped(cap=2)", 0.02), ("two", "Posterior", 0.03)]


def test_tables_and_page(tmp_path: Path) -> None:
    table = report.standing_table(DATA)
    assert table.headings == ["scenario", "Ours", "Thompson", "best cap", "Posterior"]
    first = ["one", "0.9500 +- 0.0010", "-0.0200 +- 0.0100", "+0.0200 +- 0.0100 (2)", ""]
    thompson = "+0.0100 +- 0.0200"
    second = ["two", "0.9500 +- 0.0010", thompson, f"{thompson} (none)", "+0.0300 +- 0.0100"]
    assert table.cells() == [first, second]
    table = report.summary_table(DATA)
    clear = ["mean share", "mean difference", "better in", "worse in"]
    assert table.headings[1:] == ["scenarios", *clear]
    ours = ["Ours", "2", "0.9500", "", "", ""]
    pooled = ["Thompson", "2", "0.9000", "-0.0050", "0", "1"]
    cap = ["best cap", "2", "0.9000", "+0.0150", "1", "0"]
    assert table.rows == [ours, pooled, cap, ["Posterior", "1", "0.9000", "+0.0300", "1", "0"]]
    entry = SETTINGS["flat_2k_10"]
    league = playing.League(
        {name: found["policies"] for name, found in DATA["scenarios"].items()},
        {name: dataclasses.replace(entry, about="this <and> that") for name in DATA["scenarios"]},
        runs=4,
        seed=0,
        seconds=1.0,
        measure="share",
        best_caps={name: found["best_cap"] for name, found in DATA["scenarios"].items()},
    )
    write(league, tmp_path, "rotting league")
    names = {file.name for file in tmp_path.iterdir()}
    assert names == {f"league.{ending}" for ending in ("json", "html", "png", "svg")}
    page = (tmp_path / "league.html").read_text()
    assert "this &lt;and&gt; that" in page
    assert (
        json.loads((tmp_path / "league.json").read_text())["scenarios"]["two"]["policies"]
        == DATA["scenarios"]["two"]["policies"]
    )
    with pytest.raises(ValueError, match="ratios are of regret, but this league's measure is"):
        league.ratio("Thompson")


def test_the_page_in_the_documents_is_made_anew() -> None:
    page = "before <!-- shares of a -->x<!-- end --> <!-- beaten in a -->y\nz<!-- end --> after"
    found = report.renewed(page, {"a": DATA})
    assert found.startswith("before <!-- shares of a -->\n![Shares of pi_max")
    assert "(../images/a_league.svg)\n\n| policy | scenarios |" in found
    assert "| `two` | Posterior | +0.0300 | +0.0200 to +0.0400 |\n<!-- end --> after" in found
    assert report.renewed(found, {"a": DATA}) == found
    document = Path(__file__).parents[2] / "docs" / "reference" / "audience-league.md"
    for what in ("shares of", "beaten in"):
        assert f"<!-- {what} audience -->" in document.read_text()


def test_the_league_is_played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All policies see the same rewards of the same runs, so that differences are paired."""
    short = {
        name: dataclasses.replace(entry, scenario=dataclasses.replace(entry.scenario, horizon=300))
        for name, entry in SETTINGS.items()
    }
    monkeypatch.setitem(AUDIENCES, "short", short)

    def two(entry: Entry) -> dict[str, policies.Policy]:
        return {"UCB1": policies.UCB1(), "the same": policies.UCB1(), "Uniform": policies.Uniform()}

    monkeypatch.setattr(playing, "contestants", two)
    words = ["league", "--group", "short", "--scenario", "flat_2k_10", "--runs", "3", "--json"]
    done = CliRunner().invoke(app, [*words, "--out", str(tmp_path / "x")])
    assert done.exit_code == 0, done.stderr
    data = json.loads(done.stdout)
    (found,) = data["scenarios"].values()
    assert found["compared_with"] == "UCB1"
    assert found["policies"]["the same"]["difference"] == 0.0
    assert found["policies"]["Uniform"]["difference"] != 0.0
    assert np.isfinite(found["policies"]["Uniform"]["nanoseconds"])
    assert json.loads((tmp_path / "x" / "league.json").read_text()) == data
    refused = CliRunner().invoke(app, ["league", "--group", "short", "--scenario", "flat"])
    assert refused.exit_code == 2
    assert "unknown scenario 'flat'" in refused.stderr
