"""The command line: what it prints, and one line for a user's mistake."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def rotting(*words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "rotting", *words], capture_output=True, text=True, cwd=cwd
    )


def test_demo_draws_and_prints(tmp_path: Path) -> None:
    done = rotting("demo", "--runs", "4", "--out", "pictures/x.png", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "wSWA" in done.stdout
    assert "standard error" in done.stdout
    assert (tmp_path / "pictures" / "x.png").read_bytes().startswith(b"\x89PNG")


def test_mistakes_are_one_line(tmp_path: Path) -> None:
    for words, message in (
        (("demo", "--runs", "0"), "runs must be an integer >= 1, got 0"),
        (("demo", "--seed", "-1"), "seed must be an integer from 0"),
        (("demo", "--out", "x.txt"), "out must end in .png, .svg or .pdf"),
        (("demo", "--out", "/proc/nowhere/x.png"), "No such file or directory"),
    ):
        done = rotting(*words, cwd=tmp_path)
        assert done.returncode == 2
        assert message in done.stderr
        assert "Traceback" not in done.stderr
        assert done.stderr.count("\n") == 1
    assert list(tmp_path.rglob("*.png")) == []


def test_help_and_version() -> None:
    assert "demo" in rotting("--help").stdout
    assert "Example: rotting demo" in rotting("demo", "--help").stdout
    assert rotting("--version").stdout.startswith("rotting 0.")
    assert rotting("dmo").returncode != 0
