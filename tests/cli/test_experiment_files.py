"""Experiment files on the command line: simulate, compare and tune."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from rotting._catalogue.experiment_file import EXAMPLE
from rotting._cli import app

ENGINE = ("--engine", "reference")


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "experiment.toml"
    path.write_text(EXAMPLE.replace("runs = 100", "runs = 3").replace("5000", "60"))
    return str(path)


def printed(*words: str) -> Any:
    done = CliRunner().invoke(app, [*words, "--json"])
    assert done.exit_code == 0, done.output
    text = done.output  # older runners mix notes on what was filled in with it
    return json.loads(text[text.index("\n{") if text[0] != "{" else 0 : text.rindex("}") + 1])


def refused(*words: str) -> str:
    done = CliRunner().invoke(app, list(words))
    assert done.exit_code == 2
    *notes, line = done.output.strip().splitlines()
    assert all("filled in" in note for note in notes)
    return line.removeprefix("rotting: ")


def test_simulate_takes_the_scenario_from_a_file(file: str) -> None:
    found = printed("simulate", "wswa:alpha=0.3", "--file", file, *ENGINE)
    assert found["runs"] == 3
    assert found["parameters"] == {
        "wSWA(alpha=0.3)": "WSWA(alpha=0.3, sigma=0.5, restart='forget')"
    }
    assert (found["provenance"]["horizon"], found["provenance"]["seed"]) == (60, 0)
    found = printed("simulate", "UCB1, bold", "-f", file, "--runs", "2", "--seed", "5", *ENGINE)
    assert found["parameters"] == {"UCB1, bold": "UCB1(c=0.5)"}
    assert (found["runs"], found["provenance"]["seed"]) == (2, 5)


def test_compare_takes_policies_too(file: str) -> None:
    assert len(printed("compare", "--file", file, *ENGINE)["policies"]) == 3
    found = printed("compare", "uniform", "UCB1, bold", "--file", file, *ENGINE)
    assert found["policies"] == ["Uniform", "UCB1, bold"]


def test_against_one_policy_by_name_word_or_kind(file: str) -> None:
    for named, wanted in (
        ("UCB1, bold", "UCB1, bold"),
        ("ucb1", "UCB1, bold"),
        ("dcto", "D-CTO"),
        ("D-CTO_SIM-UCB", "D-CTO"),
    ):
        found = printed("compare", "--file", file, "--against", named, *ENGINE)
        assert found["compared_with"].startswith(wanted)
        assert len(found["difference"]) == 2
    words = ("compare", "wswa:alpha=0.2", "wswa:alpha=0.4", "uniform", "--file", file, *ENGINE)
    found = printed(*words, "--against", "wswa:alpha=0.2")
    assert found["compared_with"] == "wSWA(alpha=0.2)"
    done = CliRunner().invoke(app, [*words, "--against", "uniform"], env={"COLUMNS": "100"})
    assert "Regret less that of Uniform, paired by run" in done.output
    assert "wSWA(alpha=0.2) against" not in done.output
    assert "unknown policy to compare with 'wswa'" in refused(*words, "--against", "wswa")


def test_mistakes_are_told_before_anything_else(file: str, tmp_path: Path) -> None:
    """No note on what was filled in goes before the refusal; each says what to do."""

    def all_of_it(*words: str) -> str:
        done = CliRunner().invoke(app, list(words))
        assert done.exit_code == 2
        return done.output.strip().removeprefix("rotting: ")

    none = "runs must be an integer >= 1, got 0"
    for command in ("compare", "simulate"):
        assert all_of_it(command, "wswa:alpha=0.2", "-s", "av", "--runs", "0") == none
    assert all_of_it("tune", "wswa", "alpha=0.2", "-s", "av", "--runs", "0") == none
    assert all_of_it("audience", "cellucb", "--runs", "0") == none
    empty = tmp_path / "empty.toml"
    empty.write_text(Path(file).read_text().replace("runs = 3", "runs = 0"))
    assert all_of_it("run", str(empty)) == none
    assert all_of_it("compare", "wswa") == (
        "alpha of wswa must be given, as alpha=0.2; rotting tune finds one"
    )
    assert all_of_it("run", "nofile.toml") == "file must exist, but there is no nofile.toml"
    assert all_of_it("run", str(tmp_path)) == f"file must be a file, but {tmp_path} is a folder"
    own = tmp_path / "own.toml"
    own.write_text(Path(file).read_text().replace('policy = "ucb1"', 'policy = "unheard"'))
    told = (
        "unknown policy 'unheard'; see `rotting policies` (one of your own must be imported first)"
    )
    assert all_of_it("run", str(own)).endswith(told)


def test_tune_takes_its_grid_from_the_file_or_from_words(file: str) -> None:
    found = printed("tune", "--file", file)
    assert [row["alpha"] for row in found["rows"]] == [0.1, 0.2, 0.4]
    found = printed("tune", "ucb1", "c=0.1,2", "--file", file, "--runs", "1")
    assert [row["c"] for row in found["rows"]] == [0.1, 2]
    assert found["rows"][0]["standard_error"] is None
    assert len(printed("tune", "UCB1, bold", "c=1", "--file", file)["rows"]) == 1


def test_contradictions_and_what_is_missing(file: str, tmp_path: Path) -> None:
    both = refused("simulate", "ucb1", "--file", file, "--scenario", "av")
    assert both.startswith("scenario must not be given together with file, got 'av' and ")
    assert "one of the file's, as 'wSWA(" in refused("simulate", "--file", file)
    assert refused("tune", "ucb1", "--file", file) == (
        "grid must be given after ucb1, as alpha=0.2,0.4"
    )
    assert refused("tune", "ucb1", "c=1", "c=2") == "grid must set c once, got it twice"
    assert refused("compare", "ucb1", "ucb1") == "policies must differ, got ucb1 twice"
    for command in ("simulate", "compare", "tune"):
        assert refused(command).startswith("policy must be given, as wswa")
    bare = tmp_path / "bare.toml"
    bare.write_text('[scenario]\nname = "av"\nhorizon = 20\n')
    assert "policy must be given" in refused("simulate", "--file", str(bare))
    assert "a file with [tune]" in refused("tune", "--file", str(bare))
    assert "policies must be given" in refused("run", str(bare))
    assert printed("simulate", "ucb1", "--file", str(bare), *ENGINE)["runs"] == 100


def test_one_run_has_no_interval(file: str, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    words = ("compare", "--file", file, "--runs", "1", "--out", str(folder), *ENGINE)
    done = CliRunner().invoke(app, list(words))
    assert done.exit_code == 0, done.output
    assert "nan" not in done.output
    assert "1 run," in done.output
    assert "One run has no standard error, interval or p-value." in done.output
    found = json.loads((folder / "comparison.json").read_text())
    assert found["interval_95"]["UCB1, bold"] == [None, None]
    tuned = CliRunner().invoke(app, ["tune", "--file", file, "--runs", "1"])
    assert "nan" not in tuned.output


def test_raw_results_have_the_names_of_their_policies(file: str, tmp_path: Path) -> None:
    from rotting import Result

    folder = tmp_path / "out"
    done = CliRunner().invoke(app, ["compare", "--file", file, "--out", str(folder), *ENGINE])
    assert done.exit_code == 0, done.output
    files = json.loads((folder / "comparison.json").read_text())["files"]
    assert files["UCB1, bold"] == "result-UCB1-bold.npz"
    assert {path.name for path in folder.glob("*.npz")} == set(files.values())
    for name, saved in files.items():
        title = name.split(",")[0].split("(")[0]
        assert title in Result.load(folder / saved).provenance["policy"]
