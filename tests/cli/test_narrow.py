"""Terminals of any width: help is never cut, tables keep all their numbers."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console
from typer.testing import CliRunner

from rotting._cli import app, console, narrow
from rotting._table import Column, Table

COMMANDS = ["", *(str(command.name) for command in app.registered_commands)]


@pytest.mark.parametrize("columns", [40, narrow.LEAST - 1, narrow.LEAST, 80, 120])
def test_help_is_whole_and_within_the_width(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setattr(console, "out", Console(width=columns))
    for command in COMMANDS:
        words = [command] if command else []
        shown = CliRunner().invoke(app, [*words, "--help"], prog_name="rotting").output
        assert max(map(len, shown.splitlines())) <= columns, command
        assert "…" not in shown, command
        options = re.findall(r"--[a-z-]+", wide(words, monkeypatch))
        assert len(options) > 1
        assert all(option in shown for option in options), command
        monkeypatch.setenv("COLUMNS", str(columns))
        monkeypatch.setattr(console, "out", Console(width=columns))


def wide(words: list[str], monkeypatch: pytest.MonkeyPatch) -> str:
    """The options of a command, where there is room for all."""
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(console, "out", Console(width=200))
    shown = CliRunner().invoke(app, [*words, "--help"], prog_name="rotting").output
    return "\n".join(line for line in shown.splitlines() if line.startswith("│ --"))


def test_narrow_help_says_what_wide_help_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every word of it, but for the frames: no text is taken for markup, none is left out."""
    for command in COMMANDS:
        texts = []
        for columns in (narrow.LEAST - 1, 400):
            monkeypatch.setenv("COLUMNS", str(columns))
            monkeypatch.setattr(console, "out", Console(width=columns))
            words = [command] if command else []
            shown = CliRunner().invoke(app, [*words, "--help"], prog_name="rotting").output
            texts.append(set(re.findall(r"[A-Za-z0-9_.=-]{3,}", shown.lower())))
        frames = {"arguments", "options", "commands", "bool"}
        frames |= {"default", "none"}  # as older versions of typer write
        assert texts[0] ^ texts[1] <= frames, command


@pytest.mark.parametrize("columns", [24, 40, 60, 80, 120])
def test_a_narrow_table_has_every_number_of_the_wide_one(
    columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    header = ["policy", "mean regret", "95 % interval", "a long heading of it", "about", ""]
    about = "detect every arm's model by the sum of its rewards, then balance [0, 0.5]"
    rows = [
        ["wSWA(alpha=0.2)", "22.80", "18.16 to 27.44", "3,366,844", about, "<- least"],
        ["UCB1", "1234567.89", "-", "<1e-300", about, ""],
    ]
    written = io.StringIO()
    monkeypatch.setattr(console, "out", Console(file=written, width=columns, highlight=False))
    kinds = ["text", "number", "number", "number", "text", "text"]
    made = [Column(name, kind) for name, kind in zip(header, kinds, strict=True)]
    console.table(Table(made, rows, title="Title [of it]"))
    shown = written.getvalue()
    assert max(map(len, shown.splitlines())) <= columns
    words = shown.split()
    for cell in (cell for row in rows for cell in row[:4]):
        assert all(part in words for part in cell.split()), cell
    assert words.count("rewards,") == 2
    assert "Title [of it]" in shown
    if columns <= 40:
        assert "  mean regret: 22.80\n" in shown
        assert not any(line.endswith(" ") for line in shown.splitlines())


def test_a_number_wider_than_the_terminal_is_not_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    number = "1." + "2" * 60
    written = io.StringIO()
    monkeypatch.setattr(console, "out", Console(file=written, width=30))
    console.table(Table(["policy", "mean"], [["UCB1", number]]))
    assert number in written.getvalue()
