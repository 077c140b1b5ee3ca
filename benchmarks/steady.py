"""SteadyUCB against RAW-UCB on the 38 scenarios of the league and of those held out.

    python benchmarks/steady.py [--runs 1000]

Both see the same rewards (common noise, seed 0) and know what the league's contestants know. The
ratio of the mean regrets has the standard error of a ratio of paired means; it is above 1.10 where
it is so by more than two of them. Wanted: a geometric mean of at most 0.80, no mean above 1.10, no
95th percentile above 1.3 times RAW-UCB's; the exit code says so.
"""

from __future__ import annotations

import argparse
import math
import sys
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from record import record
from rotting import simulate
from rotting.league import HELD_OUT, SCENARIOS
from rotting.league._contestants import NON_PARAMETRIC
from rotting.league._entry import Entry

MEAN, LIMIT, TAIL = 0.80, 1.10, 1.3


def row(group: str, name: str, entry: Entry, runs: int) -> dict[str, Any]:
    """Both policies on one scenario."""
    regrets = []
    for who in ("SteadyUCB", "RAWUCB"):
        policy = NON_PARAMETRIC[who](entry)
        result = simulate(policy, entry.scenario, runs=runs, noise="common", checkpoints=1)
        regrets.append(result.regret[:, -1])
    ours, theirs = regrets
    ratio = float(ours.mean() / theirs.mean())
    # of a ratio of paired means: the scatter of what is left when the ratio is taken out
    error = float(np.std(ours - ratio * theirs, ddof=1) / math.sqrt(runs) / theirs.mean())
    tail = float(np.percentile(ours, 95) / np.percentile(theirs, 95))
    return {
        "group": group,
        "scenario": name,
        "steady_ucb": round(float(ours.mean()), 3),
        "raw_ucb": round(float(theirs.mean()), 3),
        "ratio": round(ratio, 4),
        "standard_error": round(error, 4),
        "ratio_of_95th_percentiles": round(tail, 4),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1000)
    args = parser.parse_args()
    rows = []
    table = Table("group", "scenario", "SteadyUCB", "RAW-UCB", "ratio", "+-", "95th pc.")
    for group, entries in (("league", SCENARIOS), ("held out", HELD_OUT)):
        for name, entry in entries.items():
            found = row(group, name, entry, args.runs)
            rows.append(found)
            table.add_row(*(f"{x:.3g}" if isinstance(x, float) else x for x in found.values()))
            print(name, found["ratio"], flush=True)
    Console(width=120).print(table)
    means = {
        group: math.exp(np.mean([math.log(r["ratio"]) for r in rows if r["group"] in groups]))
        for group, groups in (
            ("league", ("league",)),
            ("held out", ("held out",)),
            ("all", ("league", "held out")),
        )
    }
    above = [r["scenario"] for r in rows if r["ratio"] - 2 * r["standard_error"] > LIMIT]
    worst = max(rows, key=lambda r: r["ratio"])
    tail = max(r["ratio_of_95th_percentiles"] for r in rows)
    shown = {group: round(mean, 3) for group, mean in means.items()}
    print(f"geometric means {shown}; worst 95th percentile {tail}")
    print(f"worst mean {worst['ratio']} +- {worst['standard_error']} ({worst['scenario']})")
    print(f"significantly above {LIMIT}: {above or 'none'}")
    record(
        "steady",
        rows,
        runs=args.runs,
        geometric_means={group: round(mean, 4) for group, mean in means.items()},
        significantly_above=above,
        worst_95th_percentile=tail,
    )
    return int(means["all"] > MEAN or bool(above) or tail > TAIL)


if __name__ == "__main__":
    sys.exit(main())
