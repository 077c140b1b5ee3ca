"""`rotting demo`: something to look at before the policies are compiled."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def demo(folder: Path, *words: str) -> str:
    line = [sys.executable, "-m", "rotting", "demo", "--runs", "2", *words]
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "cache"), "COLUMNS": "100"}
    done = subprocess.run(
        line, cwd=folder, env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout


def test_the_first_table_does_not_wait_for_the_compiler(tmp_path: Path) -> None:
    """With an empty cache one run of each policy is shown first, in the same figures as later."""
    shown = demo(tmp_path)
    first, last = shown.split("Compiling, once; then 2 runs ...")
    assert "1 run, seed 0: a first look, not compiled" in first
    assert "Paired by run" not in first
    assert "2 runs, seed 0" in last
    assert "Paired by run" in last
    assert (tmp_path / "out" / "demo.png").stat().st_size > 1000
    again = demo(tmp_path)
    assert "first look" not in again
    assert again.split() == last.split()
    alone = demo(tmp_path, "--runs", "1")
    found = {line.split()[0]: line.split()[1] for line in first.splitlines() if "wSWA" in line}
    assert any(line.split()[:2] == ["wSWA", found["wSWA"]] for line in alone.splitlines() if line)
