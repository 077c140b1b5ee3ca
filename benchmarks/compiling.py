"""How long each policy takes to compile: with empty caches, all in one process, one after another.

    python benchmarks/compiling.py          (make bench)

The first policy also pays for what all share: importing the compiler, compiling pi_max and the
random numbers. For each, the first simulation of a short run less the second one.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from typing import Any

from rich.console import Console
from rich.table import Table

from record import record

WANTED = 2.0  # seconds, for every policy after the first
SCRIPT = """
import dataclasses, json, time
from rotting import policies, simulate
from rotting.papers import levine2017

scenario = dataclasses.replace(levine2017.anv(), horizon=300)
family, sigma = levine2017.FAMILY, levine2017.SIGMA
made = [
    policies.Uniform(), policies.UCB1(), policies.DUCB(0.999), policies.SWUCB(100),
    policies.SWA(0.2, sigma), policies.WSWA(0.2, sigma), policies.CTO(family),
    policies.DCTO(family, sigma), policies.DCTO_UCB(family, sigma, 0.1, exploration=10),
    policies.LCTO(family), policies.LDCTO(family, sigma), policies.Posterior(family, sigma),
    policies.RAWUCB(sigma), policies.FEWA(sigma), policies.EFFRAWUCB(sigma),
    policies.GLRUCB(sigma), policies.EXP3S(), policies.SWTS(100, sigma),
    policies.SteadyUCB(sigma), policies.Guarded(family, sigma),
]
for policy in made:
    times = []
    for _ in range(2):
        begin = time.perf_counter()
        simulate(policy, scenario, runs=1, threads=1)
        times.append(time.perf_counter() - begin)
    print(json.dumps([policy.title, times[0] - times[1]]), flush=True)
"""


def measure() -> dict[str, float]:
    """Seconds of each policy, in a new process with an empty cache."""
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT], capture_output=True, check=True, env=environment
        )
    return dict(json.loads(line) for line in done.stdout.splitlines())


def main() -> int:
    rounds = [measure() for _ in range(2)]
    rows: list[dict[str, Any]] = [
        {"policy": name, "seconds": round(min(found[name] for found in rounds), 2)}
        for name in rounds[0]
    ]
    table = Table("policy", f"compiling, s (< {WANTED:g} after the first)")
    for row in rows:
        table.add_row(*(str(value) for value in row.values()))
    Console(width=100).print(table)
    record("compiling", rows)
    return int(any(row["seconds"] > WANTED for row in rows[1:]))


if __name__ == "__main__":
    sys.exit(main())
