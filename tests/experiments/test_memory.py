"""A million runs fit: memory grows with what is kept, not with what is played."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="only Linux tells it there")
@pytest.mark.long
def test_a_million_short_runs_fit_in_two_gibibytes() -> None:
    script = (
        "import dataclasses, pathlib, rotting\n"
        "from rotting.papers import levine2017\n"
        "s = dataclasses.replace(levine2017.anv(), horizon=100)\n"
        "r = rotting.simulate(rotting.policies.UCB1(), s, runs=1_000_000)\n"
        "assert r.regret.shape == (1_000_000, 100)\n"
        # its own: what `resource` tells may be the memory of the process that started it
        "lines = pathlib.Path('/proc/self/status').read_text().splitlines()\n"
        "print(next(line.split()[1] for line in lines if line.startswith('VmHWM')))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 2 * 1024 * 1024  # kibibytes
