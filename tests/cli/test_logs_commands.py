"""`rotting diagnose`, `fit` and `replay`: what they print and write, and one line for a mistake."""

from __future__ import annotations

import dataclasses
import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from rotting import logs
from rotting._catalogue.experiment_file import read_experiment
from rotting._cli import app, console
from rotting._cli.log_options import command_line, named_log

HEAD = "user,creative,shown_at,clicked\n"


def rotting(*words: str) -> Any:
    return CliRunner().invoke(app, list(words))


def line(number: int, clicked: Any = None, zone: str = "") -> str:
    clicked = int(number % 3 == 0) if clicked is None else clicked
    creative = "spring" if number % 2 else "summer"
    time = f"2026-01-{1 + number // 20:02d}T00:{number % 60:02d}{zone}"
    return f"u{number % 40},{creative},{time},{clicked}"


GOOD = HEAD + "".join(f"{line(number)}\n" for number in range(400))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a log that rots, one that the calendar moves, and one that cannot tell."""
    folder = tmp_path_factory.mktemp("logs")
    logs.synthetic("rested", keys=300, exposures=6, theta=0.6, seed=1).write_csv(
        folder / "rests.csv"
    )
    logs.synthetic("restless", keys=500, seed=1).write_csv(folder / "restless.csv")
    logs.synthetic("rested", "first-success", keys=300, seed=1).write_csv(folder / "ends.csv")
    (folder / "good.csv").write_text(GOOD)
    return folder


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Path]:
    out = tmp_path_factory.mktemp("example") / "out"
    return rotting("diagnose", "--example", "--out", str(out)), out


def test_the_example_shows_everything(example: tuple[Any, Path]) -> None:
    done, out = example
    assert done.exit_code == 0, done.stderr
    assert "key: column 'user' (by its name)" in done.stderr
    assert "no column for the propensity" in done.stderr
    assert done.stdout.splitlines()[:3] == ["", "rots", done.stdout.splitlines()[2]]
    for title in ("Does the reward fall with exposure?", "Is it use, or the calendar?"):
        assert f"\n{title}\n  " in done.stdout
    assert f"Page: {out / 'diagnosis.html'}" in done.stdout
    page = (out / "diagnosis.html").read_text()
    assert page.count("<svg") == 5 + 5  # five questions; all arms together, and each of four
    assert "rotting diagnose --example --smallest 0.1 --alpha 0.05 --seed 0 --out" in page
    again = rotting("diagnose", "--example", "--out", str(out))
    assert again.exit_code == 2
    assert "use --force" in again.stderr


def test_json_is_the_diagnosis_and_nothing_else(made: Path) -> None:
    done = rotting("diagnose", str(made / "rests.csv"), "--json", "--seed", "2", "--alpha", "0.1")
    assert done.exit_code == 0, done.stderr
    found = json.loads(done.stdout)
    same = logs.diagnose(str(made / "rests.csv"), seed=2, alpha=0.1)
    assert found == json.loads(json.dumps(same.as_data()))
    assert found["overall"] == "rots"
    for name in ("exposure", "selection", "calendar", "recovery", "shape", "cost"):
        assert {"verdict", "p_value", "interval", "method", "assumption"} <= set(found[name])
    assert found["settings"]["alpha"] == 0.1
    assert found["problems"] == []


@pytest.mark.parametrize("width", [40, 80])
def test_no_line_is_wider_than_the_terminal(
    width: int, made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(console.out, "_width", width)
    done = rotting("diagnose", str(made / "good.csv"))
    assert done.exit_code == 0, done.stderr
    assert width - 12 < max(map(len, done.stdout.splitlines())) <= width
    fitted = rotting("fit", str(made / "good.csv"))
    assert fitted.exit_code == 0, fitted.stderr
    assert max(map(len, fitted.stdout.splitlines())) <= max(width, 60)  # lines of Python stay whole
    helped = rotting("replay", "--help")
    assert max(map(len, helped.stdout.splitlines())) <= width


def test_problems_are_said_with_examples(made: Path, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text(GOOD + line(399) + "\n")
    done = rotting("diagnose", str(tmp_path / "x.csv"), "--json")
    assert done.exit_code == 0, done.stderr
    (said,) = [each for each in done.stderr.splitlines() if each.startswith("Note: ")]
    assert "1 row is the same as another" in said
    assert "(row 401" in said or "(row 400" in said


def test_the_verdict_comes_before_what_is_odd_and_arguments_may_be_swapped(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text(GOOD + line(399) + "\n")
    swapped = rotting("replay", "ucb1", str(tmp_path / "x.csv"))
    assert swapped.exit_code == 2
    assert "log must come first, got 'ucb1' before" in " ".join(swapped.stderr.split())
    done = rotting("diagnose", str(tmp_path / "x.csv"))
    assert done.exit_code == 0
    assert "Note: 1 row is the same as another" in done.stderr
    assert done.output.index("What is in the log") < done.output.index("Note: 1 row")


def test_options_reach_the_reader(made: Path) -> None:
    options = ["--key", "none", "--time", "none", "--no-history-complete", "--reward", "clicked"]
    done = rotting("diagnose", str(made / "good.csv"), "--json", *options)
    assert done.exit_code == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["contents"]["evidence"]["keys"] is None
    assert found["calendar"]["code"] == "no-times"
    windowed = rotting("diagnose", str(made / "good.csv"), "--json", "--window", "2d")
    assert "younger than the attribution window" in windowed.stderr


def test_fit_writes_a_file_for_run(made: Path, tmp_path: Path) -> None:
    out, picture = tmp_path / "family.toml", tmp_path / "curves.svg"
    words = ["fit", str(made / "rests.csv"), "--out", str(out), "--picture", str(picture)]
    done = rotting(*words)
    assert done.exit_code == 0, done.stderr
    assert "policy = policies.Posterior(family, sigma=" in done.stdout
    assert f"rotting run {out}" in done.stdout
    assert "player = policy.audience(log.arms)" in done.stdout
    assert read_experiment(out).scenario.arm_count == 3
    assert "<svg" in picture.read_text()
    before = out.read_bytes()
    again = rotting(*words)
    assert again.exit_code == 2
    assert "use --force" in again.stderr
    assert rotting(*words, "--force").exit_code == 0
    assert out.read_bytes() == before  # the same seed
    assert sorted(each.name for each in tmp_path.iterdir()) == ["curves.svg", "family.toml"]


def test_amounts_that_no_model_describes(made: Path, tmp_path: Path) -> None:
    """Nothing is claimed of sales that are mostly zero, by any of the commands."""
    import polars as pl

    rows = pl.read_csv(made / "rests.csv")
    amount = np.exp(np.random.default_rng(1).normal(3.0, 0.6, rows.height))
    sales = rows.with_columns(reward=pl.col("reward") * pl.Series(amount))
    sales.write_csv(tmp_path / "sales.csv")
    said = rotting("diagnose", str(tmp_path / "sales.csv"))
    assert "cannot-tell" in said.stdout
    assert "are zero" in said.stdout
    fitted = rotting("fit", str(tmp_path / "sales.csv"))
    assert "Do not play by these curves" in " ".join(fitted.stdout.split())
    assert "policy = policies.Fatigue('gaussian', sigma=None)" in fitted.stdout


def test_fit_as_json() -> None:
    done = rotting("fit", "--example", "--json")
    assert done.exit_code == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["source"] == "example.csv"
    assert len(found["arms"]) == 4
    assert found["recommended"][-1] == "policy = policies.Fatigue()"


def test_replay_prints_and_writes(made: Path, tmp_path: Path) -> None:
    few = ["--runs", "2", "--resamples", "5", "--out", str(tmp_path / "x")]
    done = rotting("replay", str(made / "rests.csv"), "wswa", *few)
    assert done.exit_code == 0, done.stderr
    assert "Diagnosis: rots." in done.stderr
    assert "alpha = 0.2 filled in" in done.stderr
    assert "wSWA(alpha=0.2)" in done.stdout
    assert "the log's own play" in done.stdout
    page = (tmp_path / "x" / "replay.html").read_text()
    assert "rests.csv wswa --runs 2 --resamples 5 --seed 0" in page
    data = json.loads((tmp_path / "x" / "replay.json").read_text())
    assert [each["name"] for each in data["policies"]] == ["wSWA(alpha=0.2)"]


def test_replay_knows_the_calendar(made: Path, tmp_path: Path) -> None:
    words = ["replay", str(made / "restless.csv"), "uniform", "--runs", "2"]
    done = rotting(*words, "--out", str(tmp_path / "x"))
    assert done.exit_code == 2
    assert "the calendar moves its rewards" in done.stderr.splitlines()[-1]
    assert "--by-time goes by time" in done.stderr.splitlines()[-1]
    assert not (tmp_path / "x").exists()
    timed = rotting(*words, "--by-time", "--json")
    assert timed.exit_code == 0, timed.stderr
    found = json.loads(timed.stdout)
    assert found["kind"] == "by-time"
    assert found["diagnosis"] == "calendar"
    assert "By time: only rows count" in timed.stderr


def test_replay_after_cannot_tell_shows_bounds_and_compares_with_nothing(
    made: Path, tmp_path: Path
) -> None:
    words = ["replay", str(made / "ends.csv"), "uniform", "ucb1", "--runs", "2"]
    words += ["--resamples", "5"]
    done = rotting(*words, "--out", str(tmp_path / "x"))
    assert done.exit_code == 0, done.stderr
    assert "Diagnosis: cannot-tell" in done.stderr
    assert "So bounds are shown, and no estimates; nothing is compared." in done.stderr
    page = (tmp_path / "x" / "replay.html").read_text()
    for said in (" ".join(done.stdout.split()), page):
        assert "clearly" not in said
        assert "highest estimate" not in said
        assert "Arms are taken to wear out by use alone" in said
        assert "keys to be exchangeable" not in said
    data = json.loads((tmp_path / "x" / "replay.json").read_text())
    assert data["kind"] == "bounds"
    assert data["differences"] == []
    for each in data["policies"]:
        assert each["reward"]["mean"] is None
        assert 0.0 <= each["bounds"][0] < each["bounds"][1] <= 1.0
    timed = rotting(*words, "--by-time")
    assert timed.exit_code == 2
    assert "without it bounds are shown" in timed.stderr.splitlines()[-1]


def cut(text: str, letters: int) -> bytes:
    return text[:-letters].encode()


FILES = {
    "empty.csv": b"",
    "header.csv": HEAD.encode(),
    "huge.csv": (HEAD + "".join(f"{line(n, 0)}\n" for n in range(99)) + line(99, 10**9)).encode(),
    "zones.csv": (
        HEAD + "".join(f"{line(n, 0, '+02:00' * (n % 2))}\n" for n in range(99))
    ).encode(),
    "types.csv": (GOOD + line(400, "often")).encode(),
    "cut.csv": cut(GOOD, 10),
    "cut.csv.gz": gzip.compress(GOOD.encode(), mtime=0)[:500],
    "cut.parquet": b"PAR1" + bytes(300),
    "good.csv": GOOD.encode(),
}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["empty.csv"], "empty.csv is empty"),
        (["header.csv"], "header.csv has no rows"),
        (["huge.csv"], "reward 1e+09 in row 100"),
        (["zones.csv"], "has mixed time zones"),
        (["types.csv"], "first in row 401: 'often'"),
        (["cut.csv"], "cut.csv is truncated"),
        (["cut.csv.gz"], "cut.csv.gz is truncated"),
        (["cut.parquet"], "cut.parquet cannot be read"),
        (["nowhere.csv"], "there is no file 'nowhere.csv'"),
        (["good.csv", "--reward", "clickd"], "unknown column 'clickd'; did you mean 'clicked'?"),
        (["good.csv", "--key", "user", "--arm", "user"], "key and arm must be different columns"),
        (["good.csv", "--window", "7x"], "window must be a time such as 7d, 12h, 30m or 2w"),
        (["good.csv", "--rows", "some"], "rows must be one of 'all', 'last', got 'some'"),
        (["good.csv", "--example"], "log must not be given together with --example"),
        ([], "log must be given, as clicks.csv, or --example"),
        (
            ["good.csv", "--history-complete", "--no-history-complete"],
            "history-complete must be given once, got --history-complete and --no-history-complete",
        ),
    ],
)
@pytest.mark.parametrize("command", ["diagnose", "fit", "replay"])
def test_what_no_log_can_be_is_one_line_and_nothing_is_written(
    command: str,
    words: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    if words and words[0] in FILES:
        Path(words[0]).write_bytes(FILES[words[0]])
    before = sorted(tmp_path.iterdir())
    if command == "replay" and "--example" in words:
        message = "unknown policy 'good.csv'"  # without a file all words are policies
    done = rotting(command, *words, "--out", "new.toml" if command == "fit" else "new/folder")
    assert done.exit_code == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("rotting: ")
    assert done.stdout == ""
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["diagnose", "--alpha", "2"], "alpha must be a number > 0 and < 0.5, got 2.0"),
        (["diagnose", "--smallest", "0"], "smallest must be a number > 0 and < 1, got 0.0"),
        (["diagnose", "--seed", "-1"], "seed must be an integer >= 0, got -1"),
        (["diagnose", "--out", "."], "out must be an empty or new folder"),
        (["fit", "--level", "1"], "level must be a number > 0 and < 1, got 1.0"),
        (["fit", "--out", "x.csv"], "out must end in .toml, got 'x.csv'"),
        (["fit", "--out", "none/x.toml"], "out must be in a folder that exists"),
        (["fit", "--picture", "x.gif"], "picture must end in .png, .svg or .pdf, got 'x.gif'"),
        (["replay", "recomended"], "unknown policy 'recomended'; did you mean 'recommended'?"),
        (["replay", "ducb"], "gamma of ducb must be given"),
        (["replay", "ucb1", "ucb1"], "policies must differ, got ucb1 twice"),
        (["replay", "--runs", "0"], "runs must be an integer >= 1, got 0"),
        (["replay", "--resamples", "-1"], "resamples must be an integer >= 0, got -1"),
    ],
)
def test_settings_are_refused_before_a_log_is_read(
    words: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.txt").write_text("precious")
    command, *options = words
    done = rotting(command, "--example", *options)
    assert done.exit_code == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1  # not even what was taken for what
    assert [each.name for each in tmp_path.iterdir()] == ["mine.txt"]


@pytest.mark.parametrize("command", ["diagnose", "fit", "replay"])
def test_every_column_option_is_an_option_of_the_command(command: str) -> None:
    shown = " ".join(rotting(command, "--help").stdout.replace("│", " ").split())
    for each in dataclasses.fields(logs.Columns):
        truth = isinstance(each.default, bool)
        option = each.name.replace("_", "-")
        assert f"--no-{option} " in shown if truth else f"--{option} " in shown
        assert each.metadata["flag" if truth else "about"] in shown


def test_column_options_as_words_and_as_python() -> None:
    options = {"key": "the user", "window": "7d", "rows": "last", "exposure": "n"}
    given = dict.fromkeys([each.name for each in dataclasses.fields(logs.Columns)]) | options
    flags = {"no_history_complete": True, "history_complete": False}
    log = named_log(Path("a.csv"), False, given | flags)
    assert log.columns == logs.Columns(**options, history_complete=False)
    words = "a.csv --key|the user|--exposure|n|--rows|last|--window|7d|--no-history-complete"
    assert log.words() == words.replace("csv ", "csv|").split("|")
    assert log.arguments() == (
        "'a.csv', key='the user', exposure='n', rows='last', window='7d', history_complete=False"
    )


def test_the_command_can_be_given_again() -> None:
    words = ["my log.csv", "--key", "the user"]
    assert (
        command_line("diagnose", words, {"seed": 0, "out": None, "alpha": 0.1})
        == "rotting diagnose 'my log.csv' --key 'the user' --seed 0 --alpha 0.1"
    )


def test_help_imports_nothing_heavy() -> None:
    program = (
        "import sys; sys.argv = ['rotting', 'diagnose', '--help']\n"
        "from rotting._cli import main\n"
        "try:\n    main()\n"
        "finally:\n"
        "    heavy = {'polars', 'matplotlib', 'numba', 'scipy', 'pandas'} & set(sys.modules)\n"
        "    assert not heavy, heavy\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "Example: rotting diagnose log.csv" in " ".join(done.stdout.split())
