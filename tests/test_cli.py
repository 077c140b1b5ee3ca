"""The command line: what it prints, what it leaves, and one line for a user's mistake."""

from __future__ import annotations

import contextlib
import io
import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from rotting.cli import console
from rotting.reports.folders import output_folder


def rotting(*words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "rotting", *words], capture_output=True, text=True, cwd=cwd
    )


def printed_json(*words: str, cwd: Path | None = None) -> Any:
    done = rotting(*words, "--json", cwd=cwd)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_demo_draws_and_prints(tmp_path: Path) -> None:
    done = rotting("demo", "--runs", "4", "--out", "pictures/x.png", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "wSWA" in done.stdout
    assert "standard error" in done.stdout
    assert (tmp_path / "pictures" / "x.png").read_bytes().startswith(b"\x89PNG")


def test_simulate(tmp_path: Path) -> None:
    found = printed_json("simulate", "ucb1:c=1", "-s", "av:horizon=200", "-r", "3", "--seed", "5")
    assert found["parameters"] == {"UCB1(c=1)": "UCB1(c=1.0)"}
    assert list(found["mean_regret"]) == ["UCB1(c=1)"]
    assert "wins" not in found
    assert found["provenance"]["seed"] == 5
    done = rotting("simulate", "cto", "-s", "av:horizon=200", "-r", "3", "--out", "x.npz",
                   cwd=tmp_path)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "x.npz").exists()


def test_compare_writes_a_folder(tmp_path: Path) -> None:
    words = ("compare", "ucb1", "wswa:alpha=0.2", "wswa:alpha=0.2,restart=keep", "-s",
             "anv:horizon=300", "-r", "5", "--out", "found")  # fmt: skip
    done = rotting(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Holm" in done.stdout
    names = sorted(path.name for path in (tmp_path / "found").iterdir())
    assert names == ["comparison.json", "regret.png", "result-1.npz", "result-2.npz",
                     "result-3.npz"]  # fmt: skip
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


def test_lists() -> None:
    policies = {row["policy"]: row for row in printed_json("policies")}
    assert policies["wswa"]["parameters"] == "alpha, sigma, restart=forget"
    assert all(row["about"] for row in policies.values())
    scenarios = printed_json("scenarios")
    assert [row["scenario"] for row in scenarios] == ["non_parametric", "av", "anv"]
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


GOOD = '[scenario]\nname = "av"\nhorizon = 50\n[[policies]]\npolicy = "ucb1"\n'
FILES = [
    ("runs = 'many'\n" + GOOD, "runs must be a whole number, got 'many'"),
    ("runs = true\n" + GOOD, "runs must be a whole number, got True"),
    ("rums = 3\n" + GOOD, "unknown key 'rums'; did you mean 'runs'?"),
    (GOOD + "alpha = 0.2\n", "policies[0]: unknown parameter of ucb1 'alpha'"),
    (GOOD.replace("ucb1", "ucb2"), "policies[0]: unknown policy 'ucb2'; did you mean 'ucb1'?"),
    (GOOD.replace('"av"', '"aw"'), "scenario: unknown scenario 'aw'; did you mean 'av'?"),
    (GOOD.replace("50", '"50"'), "scenario.horizon must be a whole number, got '50'"),
    (GOOD.replace("horizon", "horizn"), "unknown key 'scenario.horizn'; did you mean"),
    (GOOD.split("[[")[0], "policies must be given"),
    ("noise = 'no'\n" + GOOD, "noise must be one of"),
    ("policies = 3\n" + GOOD.split("[[")[0], "policies must be a list, got 3"),
    (GOOD + "[outputs]\nfoldr = 'x'\n", "unknown key 'outputs.foldr'"),
    ("[scenario]\nhorizon = 5\n" + GOOD[GOOD.index("[["):], "must have a name, arms or"),
    ("[scenario]\nhorizon = 5\nnoise = {kind = 'gaussian', sigma = -1}\n"
     "arms = [{model = 'constant', value = 1}]\n" + GOOD[GOOD.index("[["):],
     "scenario.noise: sigma must be a number > 0, got -1"),
    ("[scenario]\nhorizon = 5\nnoise = {kind = 'none'}\n"
     "arms = [{model = 'step', at = 3, before = 0, after = 1}]\n" + GOOD[GOOD.index("[["):],
     "scenario.arms[0]: Step must never rise"),
    ("[scenario]\nhorizon = 5\nnoise = {kind = 'none'}\n"
     "arms = [{model = 'stp', at = 3}]\n" + GOOD[GOOD.index("[["):],
     "scenario.arms[0]: unknown model 'stp'; did you mean 'step'?"),
    ("runs = \n", "is not valid TOML"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "words"), FILES, ids=[words for _, words in FILES])
def test_bad_experiment_files(text: str, words: str, tmp_path: Path) -> None:
    from rotting.catalogue.experiment_file import read_experiment

    path = tmp_path / "experiment.toml"
    path.write_text(text)
    with pytest.raises(ValueError, match=re.escape(words)):
        read_experiment(path)


def test_mistakes_are_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for words, message in (
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
        (("run", "nothing.toml"), "No such file or directory"),
        (("run",), "file must be given"),
        (("reproduce", "levin2017"), "unknown paper 'levin2017'; did you mean 'levine2017'?"),
        (("reproduce", "--runs", "1"), "runs must be an integer >= 2, got 1"),
    ):
        done = rotting(*words, cwd=tmp_path)
        assert done.returncode == 2, words
        assert message in done.stderr, words
        assert "Traceback" not in done.stderr
        assert done.stderr.count("\n") == 1
        assert done.stdout == ""
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "out"]
    assert list((tmp_path / "out").iterdir()) == []


def test_help_and_version() -> None:
    shown = rotting("--help").stdout
    for command in ("reproduce", "compare", "simulate", "tune", "run", "policies", "scenarios"):
        assert command in shown
        assert f"Example: rotting {command}" in " ".join(rotting(command, "--help").stdout.split())
    assert rotting("--version").stdout.startswith("rotting 0.")
    assert rotting("dmo").returncode != 0


def test_ctrl_c_leaves_nothing(tmp_path: Path) -> None:
    rotting("simulate", "ucb1", "-r", "2")  # compiled and cached: what is stopped is the play
    command = [sys.executable, "-m", "rotting", "compare", "ucb1", "-r", "1000000", "--out", "a/b"]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            while not list(tmp_path.glob("a/b/.partial-*")) and process.poll() is None:
                time.sleep(0.1)
            time.sleep(5.0)
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=120)
        finally:
            process.kill()
    assert process.returncode == 130
    assert errors == "rotting: stopped\n"
    assert list(tmp_path.iterdir()) == []


def test_an_output_folder_is_put_in_place_whole(tmp_path: Path) -> None:
    with output_folder(tmp_path / "a" / "b") as work:
        (work / "x").write_text("1")
        (work / "sub").mkdir()
        (work / "sub" / "y").write_text("2")
        assert not (tmp_path / "a" / "b" / "x").exists()
    assert (tmp_path / "a" / "b" / "sub" / "y").read_text() == "2"
    assert sorted(path.name for path in (tmp_path / "a" / "b").iterdir()) == ["sub", "x"]
    for target, force in ((tmp_path / "c", False), (tmp_path / "a" / "b", True)):
        with contextlib.suppress(RuntimeError), output_folder(target, force) as work:
            (work / "x").write_text("3")
            raise RuntimeError
    assert not (tmp_path / "c").exists()
    assert (tmp_path / "a" / "b" / "x").read_text() == "1"


@pytest.mark.parametrize("columns", [30, 60, 80])
def test_no_number_loses_its_end(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table that is too wide for its terminal is printed whole."""
    written = io.StringIO()
    monkeypatch.setattr(console, "out", Console(file=written, width=columns))
    numbers = [f"{n}.12345678" for n in range(9)]
    console.table(["policy", *(f"mean of {n}" for n in range(9))], [["UCB1", *numbers]])
    assert all(number in written.getvalue() for number in ("UCB1", *numbers))
