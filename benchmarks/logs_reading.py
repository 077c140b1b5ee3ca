"""Reading a large log: seconds and memory, against polars alone.

    python benchmarks/logs_reading.py [--rows 10000000] [--out FILE]

A CSV file of 10 million showings of 40 arms to a million users, its rows in no order, is made in a
temporary folder. `rotting.logs.read` reads, orders, numbers and checks it; polars alone reads it
and sorts it by user, arm and time. Each is done three times, in turn, in a process of its own,
whose largest memory is what the system says. Seconds are medians; the memory is the largest of the
three.
The limits are 4 times as long as polars and 4 GB; the exit code is 1 if they are not kept.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from record import record, seconds
from rotting._provenance import versions

LONGER, GIGABYTES = 4.0, 4.0
ARMS = 40
ROUNDS = 3


def make(path: Path, rows: int) -> None:
    """The file: ten showings a user, in the mean."""
    import polars as pl

    generator = np.random.default_rng(1)
    first = np.datetime64("2026-01-01T00:00:00", "us")
    shown = generator.integers(0, 60 * 86_400, rows).astype("timedelta64[s]")
    frame = pl.DataFrame(
        {
            "user_id": generator.integers(0, max(1, rows // 10), rows),
            "creative": generator.integers(0, ARMS, rows),
            "shown_at": first + shown,
            "clicked": (generator.random(rows) < 0.05).astype(np.int8),
        }
    )
    texts = {"user_id": pl.format("u{}", "user_id"), "creative": pl.format("ad {}", "creative")}
    frame.with_columns(**texts).write_csv(path, datetime_format="%Y-%m-%dT%H:%M:%S")


def read_and_sort(path: Path) -> None:
    """What polars does alone."""
    import polars as pl

    pl.read_csv(path, try_parse_dates=True).sort("user_id", "creative", "shown_at")


def read(path: Path) -> None:
    """What is measured; and that it is what was written."""
    from rotting import logs

    log = logs.read(path)
    print(f"{log.reward.size:,} rows, {log.keys:,} keys, {len(log.arms)} arms", file=sys.stderr)
    for problem in log.problems:
        print(f"{problem.code}: {problem.count:,}", file=sys.stderr)


WORK = {"polars": read_and_sort, "rotting": read}


def alone(path: Path, what: str) -> dict[str, Any]:
    """Seconds and gigabytes of some work in a process of its own."""
    command = [sys.executable, __file__, "--work", what, "--file", str(path)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def measured(what: str, path: Path, rows: int) -> None:
    """The work itself, in such a process."""
    if what == "make":
        make(path, rows)
        print(json.dumps({}))
        return
    import polars  # noqa: F401  imported before the clock runs

    import rotting.logs  # noqa: F401

    taken = seconds(lambda: WORK[what](path))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (
        1 if sys.platform == "darwin" else 1024
    )
    print(json.dumps({"seconds": taken, "gigabytes": peak / 1e9}))


def main() -> int:
    """Measure both, in turn."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--work", choices=["make", *WORK], help=argparse.SUPPRESS)
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.work:
        measured(given.work, given.file, given.rows)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.csv"
        size = ["--rows", str(given.rows)]
        subprocess.run(
            [sys.executable, __file__, "--work", "make", "--file", str(path), *size],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        found: dict[str, list[dict[str, Any]]] = {what: [] for what in WORK}
        for _ in range(ROUNDS):
            for what in WORK:
                found[what].append(alone(path, what))
    rows = [
        {
            "work": what,
            "seconds": round(statistics.median(one["seconds"] for one in ones), 2),
            "gigabytes": round(max(one["gigabytes"] for one in ones), 2),
        }
        for what, ones in found.items()
    ]
    ratio = round(rows[1]["seconds"] / rows[0]["seconds"], 2)
    kept = ratio <= LONGER and rows[1]["gigabytes"] < GIGABYTES
    table = Table("", "seconds", "gigabytes")
    for row in rows:
        table.add_row(row["work"], f"{row['seconds']:.2f}", f"{row['gigabytes']:.2f}")
    Console(width=80).print(table, f"{ratio} times as long; within the limits: {kept}")
    figures = {"log_rows": given.rows, "ratio": ratio, "within_limits": kept}
    if given.out:
        given.out.write_text(json.dumps({**figures, "rows": rows}, indent=1))
    else:
        record("logs_reading", rows, **figures, polars=versions("polars")["polars"])
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
