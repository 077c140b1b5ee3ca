"""The command line: what it prints, what it leaves, and one line for a user's mistake."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from rotting._cli import app

ALONE = 7  # of the commands that fail, every so many runs as users run it, in its own process


def rotting(*words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "rotting", *words], capture_output=True, text=True, cwd=cwd
    )


def within(*words: str) -> subprocess.CompletedProcess[str]:
    """The same in this process, which need not import everything again."""
    done = CliRunner().invoke(app, words)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return subprocess.CompletedProcess(words, done.exit_code, done.stdout, done.stderr)


def test_demo_draws_and_prints(tmp_path: Path) -> None:
    done = rotting("demo", "--runs", "4", "--out", "pictures/x.png", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "wSWA" in done.stdout
    assert "standard error" in done.stdout
    assert (tmp_path / "pictures" / "x.png").read_bytes().startswith(b"\x89PNG")


def printed_json(*words: str, cwd: Path | None = None) -> Any:
    done = rotting(*words, "--json", cwd=cwd)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_simulate(tmp_path: Path) -> None:
    found = printed_json("simulate", "ucb1:c=1", "-s", "av:horizon=200", "-r", "3", "--seed", "5")
    assert found["parameters"] == {"UCB1(c=1)": "UCB1(c=1.0)"}
    assert list(found["mean_regret"]) == ["UCB1(c=1)"]
    assert "wins" not in found
    assert found["provenance"]["seed"] == 5
    done = rotting(
        "simulate", "cto", "-s", "av:horizon=200", "-r", "3", "--out", "x.npz", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "x.npz").exists()


def test_compare_writes_a_folder(tmp_path: Path) -> None:
    known = ("ucb1", "wswa:alpha=0.2", "wswa:alpha=0.2,restart=keep")
    words = ("compare", *known, "-s", "anv:horizon=300", "-r", "5", "--out", "found")
    done = rotting(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Holm" in done.stdout
    names = sorted(path.name for path in (tmp_path / "found").glob("[!.]*"))
    kept = "result-wSWA-alpha=0.2"
    results = ["result-UCB1.npz", f"{kept}-restart=keep.npz", f"{kept}.npz"]
    tables = [f"comparison.{ending}" for ending in ("csv", "json", "tex")]
    pictures = [f"regret.{ending}" for ending in ("pdf", "png", "svg")]
    assert names == [*tables, *pictures, *results]
    again = rotting(*words, cwd=tmp_path)
    assert again.returncode == 2
    assert "use --force" in again.stderr
    (tmp_path / "found" / "mine.txt").write_text("precious")
    forced = rotting(*words, "--force", cwd=tmp_path)
    assert forced.returncode == 0, forced.stderr
    assert (tmp_path / "found" / "mine.txt").read_text() == "precious"


def test_tune(tmp_path: Path) -> None:
    found = printed_json("tune", "wswa", "alpha=0.2,0.6,1", "-s", "anv:horizon=300", "-r", "4")
    assert len(found["rows"]) == 3
    assert found["chosen"]["alpha"] in (0.2, 0.6, 1)
    done = rotting("tune", "swucb:B=1", "tau=50,100", "-s", "av:horizon=300", "-r", "4")
    assert "<- least" in done.stdout


def test_what_a_scenario_fills_in_is_said_and_the_json_stays_json() -> None:
    words = ("simulate", "rawucb", "-s", "clicks:horizon=50", "-r", "2", "--engine", "reference")
    done = rotting(*words, "--json")
    assert done.stderr == "sigma = 0.5 filled in from Bernoulli rewards: RAW-UCB\n"
    assert list(json.loads(done.stdout)["mean_regret"]) == ["RAW-UCB"]


def test_lists() -> None:
    policies = {row["policy"]: row for row in printed_json("policies")}
    assert policies["wswa"]["parameters"] == "alpha, sigma, restart=forget"
    assert all(row["about"] for row in policies.values())
    scenarios = printed_json("scenarios")
    assert [row["scenario"] for row in scenarios][:3] == ["non_parametric", "av", "anv"]
    assert len(scenarios) >= 38
    assert "T = 30000" in scenarios[0]["size"]


def test_run_an_experiment_file(tmp_path: Path) -> None:
    example = rotting("run", "--example").stdout
    path = tmp_path / "experiment.toml"
    path.write_text(example.replace("runs = 100", "runs = 3").replace("5000", "400"))
    found = printed_json("run", "experiment.toml", cwd=tmp_path)
    assert found["policies"][1] == "UCB1, bold"
    assert (tmp_path / "out" / "my-experiment" / "comparison.json").exists()
    random_arms = """
        runs = 2
        [scenario]
        horizon = 100
        noise = { kind = "bernoulli" }
        random_arms = { model = "polynomial", thetas = [0.1, 0.4], count = 3 }
        [[policies]]
        policy = "cto"
    """
    path.write_text(random_arms)
    assert printed_json("run", "experiment.toml", "--seed", "4", cwd=tmp_path)["runs"] == 2
    path.write_text('[scenario]\nname = "av"\nhorizon = 50\n[[policies]]\npolicy = "ucb1"\n')
    assert printed_json("run", "experiment.toml", "--force", cwd=tmp_path)["runs"] == 100


def test_mistakes_are_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("x")
    monkeypatch.chdir(tmp_path)
    mistakes: list[tuple[tuple[str, ...], str]] = [
        (("demo", "--runs", "0"), "runs must be an integer >= 1, got 0"),
        (("demo", "--seed", "-1"), "seed must be an integer from 0"),
        (("demo", "--out", "x.txt"), "out must end in .png, .svg or .pdf"),
        (("demo", "--out", "/proc/nowhere/x.png"), "No such file or directory"),
        (("compare", "wsaw:alpha=0.2"), "unknown policy 'wsaw'; did you mean 'wswa'?"),
        (("compare", "wswa:alhpa=0.2"), "unknown parameter of wswa 'alhpa'; did you mean 'alpha'?"),
        (("compare", "wswa"), "alpha of wswa must be given"),
        (("compare", "wswa:alpha"), "policy must read like name:parameter=value"),
        (("compare", "wswa:alpha=x"), "alpha must be a number > 0, got 'x'"),
        (("compare", "cto"), "family of cto must be given"),
        (("compare", "ucb1", "-s", "aw"), "unknown scenario 'aw'; did you mean 'av'?"),
        (("compare", "ucb1", "--out", "file"), "out must be a folder, but file is a file"),
        (("compare", "ucb1", "--out", "/proc/x"), "out must be a folder that can be written to"),
        (("compare", "ucb1", "--noise", "loud"), "noise must be one of"),
        (("simulate", "ucb1", "--out", "x.txt"), "out must end in .npz"),
        (("tune", "wswa", "alpha"), "grid must read like alpha=0.2,0.4"),
        (("run", "nothing.toml"), "file must exist, but there is no nothing.toml"),
        (("run",), "file must be given"),
        (("reproduce", "levin2017"), "unknown paper 'levin2017'; did you mean 'levine2017'?"),
        (("reproduce", "--runs", "1"), "runs must be an integer >= 2, got 1"),
    ]
    for place, (words, message) in enumerate(mistakes):
        done = within(*words) if place % ALONE else rotting(*words)
        assert done.returncode == 2, words
        assert message in done.stderr, words
        assert "Traceback" not in done.stderr
        assert done.stderr.count("\n") == 1
        assert done.stdout == ""
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file"]


def test_help_and_version() -> None:
    shown = rotting("--help").stdout
    for command in ("reproduce", "compare", "simulate", "tune", "run", "policies", "scenarios"):
        assert command in shown
        assert f"Example: rotting {command}" in " ".join(within(command, "--help").stdout.split())
    assert rotting("--version").stdout.startswith("rotting 0.")
    assert rotting("dmo").returncode != 0


def test_ctrl_c_leaves_nothing(tmp_path: Path) -> None:
    rotting("simulate", "ucb1", "-r", "2")  # compiled and cached: what is stopped is the play
    command = [sys.executable, "-m", "rotting", "compare", "ucb1", "-r", "1000000", "--out", "a/b"]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            while not list(tmp_path.glob("a/.partial-*")) and process.poll() is None:
                time.sleep(0.1)
            time.sleep(2.0)  # it plays by now
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=120)
        finally:
            process.kill()
    assert process.returncode == 130
    assert errors == "rotting: stopped\n"
    assert list(tmp_path.iterdir()) == []
