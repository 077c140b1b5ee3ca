"""Two revisions of the service side by side, in one run: is the new one slower?

    python benchmarks/serve_revisions.py OLD [--rounds 7] [--seconds 3]

OLD is a revision of git, or a folder with a checkout; the new one is this tree. Both serve at the
same time, one after the other is asked: decisions and rewards in turn, an audience, and batches of
100, each round in new experiments. Ratios are medians of the new over the old, rounds apart.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from record import record
from serving import Server, Traffic, create, free_port, rate

ROOT = Path(__file__).parents[1]
COMPILING = 30.0  # seconds


def started(source: Path, data: Path) -> Server:
    port = free_port()
    os.environ["PYTHONPATH"] = str(source / "src")
    command = "from rotting._cli import main; main()"
    return Server("-c", command, "serve", "--data", str(data), "--port", str(port), port=port)


def measured(old: Path, folder: Path, rounds: int, seconds: float) -> list[dict[str, Any]]:
    """A row for each kind of traffic."""
    servers = {"old": started(old, folder / "old.db"), "new": started(ROOT, folder / "new.db")}
    kinds: dict[str, int] = {"pairs": 0, "audience": 1000, "batches": 0}
    found: dict[str, dict[str, list[float]]] = {kind: {"old": [], "new": []} for kind in kinds}
    try:
        for number in range(rounds + 1):  # the first warms up: policies are compiled
            for kind, keys in kinds.items():
                for which in ("old", "new") if number % 2 else ("new", "old"):
                    port, name = servers[which].port, f"{kind}-{number}"
                    create(port, name, **({"audience": True} if keys else {}))
                    traffic = Traffic(port, name, keys)
                    made = traffic.batches(100) if kind == "batches" else traffic.pairs()
                    speed = rate(port, made, seconds)
                    if number:
                        found[kind][which].append(speed)
            if not number:
                time.sleep(COMPILING)
        rows = []
        for kind, both in found.items():
            ratios = [new / old for new, old in zip(both["new"], both["old"], strict=True)]
            rows.append({"traffic": kind, "ratio": statistics.median(ratios), "ratios": ratios})
        return rows
    finally:
        for server in servers.values():
            server.stop()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("old")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=3.0)
    settings = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder, old = Path(name), Path(settings.old)
        if not old.is_dir():
            old = folder / "old"
            words = ["git", "-C", str(ROOT), "worktree", "add", "--detach", str(old), settings.old]
            subprocess.run(words, check=True, capture_output=True)
        try:
            rows = measured(old, folder, settings.rounds, settings.seconds)
        finally:
            if old.parent == folder:
                words = ["git", "-C", str(ROOT), "worktree", "remove", "--force", str(old)]
                subprocess.run(words, check=True)
    table = Table("traffic", "new over old", "rounds")
    for row in rows:
        rounds = ", ".join(f"{ratio:.2f}" for ratio in sorted(row["ratios"]))
        table.add_row(row["traffic"], f"{row['ratio']:.3f}", rounds)
    Console(width=100).print(table)
    record("serve_revisions", rows)


if __name__ == "__main__":
    main()
