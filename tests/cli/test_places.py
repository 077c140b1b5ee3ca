"""Unwritable places, signals, left-over files, and names with control characters."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner

from rotting import _progress
from rotting._cli import app, console, show
from rotting._experiments.comparison import Comparison
from rotting._signals import STOPS
from rotting._table import Table

ESCAPE = "\x1b[31m"
NASTY = f"{ESCAPE}red\x9b2J\x7f\u202edetrevni[bold]:smile:"
LONG = "x" * 300  # more than a file system allows
SAFE = r"\x1b[31mred\x9b2J\x7f\u202edetrevni[bold]:smile:"


def run(*words: str) -> Any:
    return CliRunner().invoke(app, list(words))


def no_work(*args: Any, **kwargs: Any) -> Comparison:
    raise AssertionError("it went to work")


@pytest.mark.parametrize(
    "words",
    [
        ("demo", "--out", "file/x.png"),
        ("simulate", "ucb1", "--out", "file/x.npz"),
        ("compare", "ucb1", "--out", "file/x"),
        ("theory", "-s", "av", "--out", "file/x.png"),
        ("league", "--out", "file/x"),
        ("reproduce", "--out", "file/x"),
        ("demo", "--out", "/proc/x.png"),
        ("simulate", "ucb1", "--out", "/proc/x.npz"),
        ("theory", "-s", "av", "--out", "/proc/a/x.png"),
        ("demo", "--out", f"{LONG}.png"),
        ("simulate", "ucb1", "--out", f"{LONG}.npz"),
        ("compare", "ucb1", "--out", LONG),
        ("compare", "ucb1", "--out", f"new/{LONG}"),
    ],
    ids=lambda words: " ".join(words).replace(LONG, "long"),
)
def test_an_unwritable_place_is_found_before_the_work(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "/proc" in words[-1] and not Path("/proc/self").exists():
        pytest.skip("no /proc here")
    monkeypatch.setattr(show, "compare", no_work)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("x")
    done = run(*words)
    assert done.exit_code == 2, done.exception
    assert "out must be a folder that can be written to" in done.stderr
    assert done.stderr.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129)])
def test_signals_stop_cleanly(
    name: str, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {number: signal.getsignal(number) for number in STOPS}

    def sent(*args: Any, **kwargs: Any) -> Comparison:
        os.kill(os.getpid(), getattr(signal, name))
        time.sleep(5.0)
        raise AssertionError("it went on")

    monkeypatch.setattr(show, "compare", sent)
    try:
        done = run("compare", "ucb1", "--out", str(tmp_path / "a" / "b"))
    finally:
        console.interrupted.clear()
    assert (done.exit_code, done.stderr) == (code, "rotting: stopped\n")
    assert list(tmp_path.iterdir()) == []
    assert {number: signal.getsignal(number) for number in STOPS} == before


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_what_is_ignored_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with console.noting_interrupts():
            os.kill(os.getpid(), signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)
    assert not console.interrupted.is_set()


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_a_process_that_is_terminated(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "rotting", "compare", "ucb1", "-r", "1000000", "--out", "a/b"]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
        try:
            while not list(tmp_path.glob("a/.partial-*")) and process.poll() is None:
                time.sleep(0.1)
            process.terminate()
            _, errors = process.communicate(timeout=120)
        finally:
            process.kill()
    assert process.returncode == 143
    assert errors == "rotting: stopped\n"
    assert list(tmp_path.iterdir()) == []


EXPERIMENT = """
runs = 2
[scenario]
name = "av"
horizon = 50
[outputs]
folder = "found"
"""


def test_fewer_policies_leave_no_result_of_the_old_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = tmp_path / "found"
    policies = [f'[[policies]]\npolicy = "ucb1"\nname = "{n}"\nc = 0.{n}\n' for n in (1, 2, 3)]
    (tmp_path / "x.toml").write_text(EXPERIMENT + "".join(policies))
    assert run("run", "x.toml").exit_code == 0
    many = {path.name for path in found.glob("*.npz")}
    (found / "mine.npz").write_text("precious")
    (tmp_path / "x.toml").write_text(EXPERIMENT + policies[0])
    assert run("run", "x.toml", "--force").exit_code == 0
    few = {path.name for path in found.glob("*.npz")}
    assert len(many) == 3
    assert len(few) == 2
    assert (found / "mine.npz").read_text() == "precious"


@pytest.mark.parametrize(
    "words",
    [
        ("compare", f"{ESCAPE}red"),
        ("compare", "ucb1", "-s", f"{ESCAPE}red"),
        (f"{ESCAPE}dmo",),
        ("demo", f"--{ESCAPE}x"),
        ("demo", f"{ESCAPE}extra"),
        ("run", f"{ESCAPE}.toml"),
        ("simulate", "ucb1", "--out", f"{ESCAPE}.txt"),
    ],
    ids=lambda words: words[0].replace("\x1b", "esc"),
)
def test_refusals_quote_no_control_characters(words: tuple[str, ...]) -> None:
    done = run(*words)
    assert done.exit_code == 2
    assert "\x1b" not in done.output
    assert r"\x1b" in done.output


def test_a_refusal_that_names_a_folder(tmp_path: Path) -> None:
    folder = tmp_path / f"{ESCAPE}red"
    folder.mkdir()
    (folder / "x").write_text("")
    done = run("compare", "ucb1", "--out", str(folder))
    assert r"\x1b[31mred holds files" in done.stderr
    assert "\x1b" not in done.stderr


def test_names_are_printed_without_control_characters(monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.StringIO()
    monkeypatch.setattr(console, "out", Console(file=written, width=400, emoji=False))
    console.say(NASTY)
    console.table(Table([f"policy {NASTY}", "b"], [[NASTY, "1"]], title=NASTY))
    assert written.getvalue().count(SAFE) == 4
    assert not any(sign in written.getvalue() for sign in "\x1b\x9b\x7f\u202e")


def test_a_bar_shows_names_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """No markup: a name like [/x] would be an error."""
    written = io.StringIO()
    screen = Console(file=written, width=200, force_terminal=True, color_system=None)
    monkeypatch.setattr("rich.console.Console", lambda **options: screen)
    with _progress.bar(2) as report:
        report(f"{NASTY}[/x]", 1)
    assert f"{SAFE[:-7]}" in written.getvalue()
    assert "[/x]" in written.getvalue()
    assert "\x1b[31m" not in written.getvalue()
