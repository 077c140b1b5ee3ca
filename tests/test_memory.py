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


def test_m_star_of_the_papers_family_in_a_gigabyte() -> None:
    """m*_diff looks at millions of pulls of seven models, in blocks."""
    script = (
        "import resource; from rotting import theory; from rotting.papers import levine2017 as p\n"
        "assert theory.m_star(p.FAMILY, 0.01, p.SIGMA, 'difference').max() > 3e6\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    found = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert int(found.stdout) < 1 << 20  # kilobytes
