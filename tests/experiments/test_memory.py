"""A million runs fit: memory is what is kept, not what is played."""

from __future__ import annotations

import subprocess
import sys


def test_a_million_short_runs_fit_in_two_gibibytes() -> None:
    script = (
        "import dataclasses, resource, rotting\n"
        "from rotting.papers import levine2017\n"
        "s = dataclasses.replace(levine2017.anv(), horizon=100)\n"
        "r = rotting.simulate(rotting.policies.UCB1(), s, runs=1_000_000)\n"
        "assert r.regret.shape == (1_000_000, 100)\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 2 * 1024 * 1024  # kibibytes
