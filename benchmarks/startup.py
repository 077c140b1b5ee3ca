"""How soon things start: the import, and a cached simulation of 100 runs after it.

    python benchmarks/startup.py          (make bench)

Each in a new process, the least of three, after one that fills the caches of disk and compiler.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from rich.console import Console
from rich.table import Table

from record import record

SCRIPT = """
import json, time
begin = time.perf_counter()
import rotting
imported = time.perf_counter()
from rotting.papers import levine2017
import dataclasses
scenario = dataclasses.replace(levine2017.{setup}(), horizon=1000)
policy = {policy}
rotting.simulate(policy, scenario, runs=100)
print(json.dumps([imported - begin, time.perf_counter() - imported]))
"""
SIGMA = "levine2017.SIGMA"
FAMILY = "levine2017.FAMILY"
CASES = {
    "Oracle": "rotting.policies.Oracle()",
    "Uniform": "rotting.policies.Uniform()",
    "RoundRobin": "rotting.policies.RoundRobin()",
    "Greedy": "rotting.policies.GreedyLast()",
    "UCB1": "rotting.policies.UCB1()",
    "DUCB": "rotting.policies.DUCB(gamma=0.999)",
    "SWUCB": "rotting.policies.SWUCB(tau=400)",
    "SWA": f"rotting.policies.SWA(0.2, {SIGMA})",
    "wSWA": f"rotting.policies.WSWA(0.2, {SIGMA})",
    "CTO": f"rotting.policies.CTO({FAMILY})",
    "D-CTO": f"rotting.policies.DCTO({FAMILY}, {SIGMA})",
    "D-CTO_UCB": f"rotting.policies.DCTO_UCB({FAMILY}, {SIGMA}, 0.1, exploration=50)",
}


def measure(policy: str) -> tuple[float, float]:
    script = SCRIPT.format(setup="anv", policy=policy)
    times = []
    for _ in range(4):
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
        times.append(json.loads(done.stdout))
    imports, starts = zip(*times[1:], strict=True)
    return min(imports), min(starts)


def main() -> int:
    rows: list[dict[str, Any]] = []
    for name, policy in CASES.items():
        imported, started = measure(policy)
        rows.append({"policy": name, "import": round(imported, 3), "simulate": round(started, 3)})
    table = Table("policy", "import rotting, s (< 0.5)", "100 runs of T = 1,000, s (< 2)")
    for row in rows:
        table.add_row(*(str(value) for value in row.values()))
    Console(width=100).print(table)
    record("startup", rows)
    return int(any(r["import"] > 0.5 or r["simulate"] > 2.0 for r in rows))


if __name__ == "__main__":
    sys.exit(main())
