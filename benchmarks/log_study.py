"""Can a diagnosis be believed? Verdicts on made-up logs whose truth is known.

    python benchmarks/log_study.py [--logs 200] [--constant 500] [--workers 2] [--only TEXT]
        [--recorded]

Every cell is a truth, a way to leave, starts, and kind of rewards, with the right verdict said
beforehand (`RIGHT`, `WHY_NOT`). A false alarm is any wrong verdict that claims something. About an
hour on two cores. Exits with 1 if a target is missed, and says which.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table
from scipy.stats import binom

from record import record
from rotting.logs import read, synthetic
from rotting.logs._diagnosis.diagnosing import diagnose_log

RIGHT = {
    "constant": "does-not-rot",
    "rested": "rots",
    "restless": "calendar",
    "both": "rots-and-calendar",
    "recovering": "recovers",
}
UNKNOWN = "cannot-tell"
LOCKSTEP = "all begin on one day, one showing a day: the n-th showing is the n-th day"
SUCCESS = "stories end with their first success: frailty and fatigue look the same"
# (1 + what is remembered)^-0.5: two or so are remembered, and it falls about as n^-0.3 does
THETA = {"rested": 0.3, "both": 0.3, "recovering": 0.5, "constant": 0.3, "restless": 0.3}
WEAK = 0.15
LEAVING = ("nobody", "rate", "failure", "success", "both")
FALSE, SURE = 0.05, 0.01  # the rate of false alarms, and how sure an excess must be


class Cell(NamedTuple):
    truth: str
    leaving: str
    starts: str = "staggered"
    rewards: str = "binary"
    theta: float = 0.3
    right: str = ""
    why: str = ""

    @property
    def name(self) -> str:
        strength = f" n^-{self.theta:g}" if self.truth in ("rested", "both", "recovering") else ""
        return f"{self.truth}{strength}, {self.leaving}, {self.starts}, {self.rewards}"


def cells() -> list[Cell]:
    """All cells, with their right verdicts."""
    found = []
    for truth, right in RIGHT.items():
        strengths = (WEAK, THETA[truth]) if truth == "rested" else (THETA[truth],)
        for theta in strengths:
            for leaving in LEAVING:
                found.append(Cell(truth, leaving, theta=theta, right=right))
        told = truth == "constant"
        lock = (right, "") if told else (UNKNOWN, LOCKSTEP)
        found.append(Cell(truth, "nobody", "lockstep", "binary", THETA[truth], *lock))
        for leaving in ("rate", "both"):
            found.append(Cell(truth, leaving, "staggered", "gaussian", THETA[truth], right))
    for truth in ("constant", "rested"):
        theta = THETA[truth]
        found.append(Cell(truth, "first-success", "staggered", "binary", theta, UNKNOWN, SUCCESS))
    return found


def verdicts(cell: Cell, seeds: range) -> Counter[str]:
    """What the diagnosis says of logs of a cell."""
    found: Counter[str] = Counter()
    for seed in seeds:
        frame = synthetic(
            cell.truth,
            cell.leaving,
            theta=cell.theta,
            starts=cell.starts,
            rewards=cell.rewards,
            seed=seed,
        )
        log = read(frame)
        one = diagnose_log(
            log, smallest=0.1, alpha=0.05, seed=0, progress=lambda *_: None, pictures=False
        )
        found[one.overall] += 1
    return found


def row_of(cell: Cell, found: Counter[str]) -> dict[str, Any]:
    logs = found.total()
    alarms = logs - found[cell.right] - (found[UNKNOWN] if cell.right != UNKNOWN else 0)
    return {
        **cell._asdict(),
        "name": cell.name,
        "logs": logs,
        "right_share": found[cell.right] / logs,
        "unknown_share": found[UNKNOWN] / logs,
        "false_alarms": alarms,
        "false_share": alarms / logs,
        "p_above": float(binom.sf(alarms - 1, logs, FALSE)),
        "verdicts": dict(sorted(found.items())),
    }


def missed(rows: list[dict[str, Any]]) -> list[str]:
    """Which targets are missed, in words."""
    short = []
    for row in rows:
        if row["p_above"] < SURE:
            short.append(f"{row['name']}: {row['false_share']:.3f} false alarms")
        if row["theta"] == WEAK and row["leaving"] in ("nobody", "both"):
            asked = 0.9 if row["leaving"] == "nobody" else 0.45
            if row["right_share"] < asked:
                short.append(f"{row['name']}: right in {row['right_share']:.3f}, asked {asked}")
        falls = row["truth"] in ("rested", "both", "recovering") and row["theta"] > WEAK
        if falls and row["right"] != UNKNOWN and row["unknown_share"] > 0.2:
            short.append(f"{row['name']}: cannot tell in {row['unknown_share']:.3f}, at most 0.2")
    logs = sum(row["logs"] for row in rows)
    alarms = sum(row["false_alarms"] for row in rows)
    if float(binom.sf(alarms - 1, logs, FALSE)) < SURE:
        short.append(f"overall: {alarms / logs:.4f} false alarms of {logs} logs")
    return short


def show(rows: list[dict[str, Any]], console: Console) -> None:
    table = Table("cell", "right verdict", "right", "cannot tell", "false alarms", "p", box=None)
    for row in rows:
        table.add_row(
            row["name"],
            row["right"],
            f"{row['right_share']:.3f}",
            f"{row['unknown_share']:.3f}" if row["right"] != UNKNOWN else "",
            f"{row['false_share']:.3f}",
            f"{row['p_above']:.2g}",
        )
    console.print(table)


def totals(logs: int, false_share: float, short: list[str], console: Console) -> None:
    """The share of false alarms over all cells, and what was missed."""
    console.print(f"False alarms: {100 * false_share:.2f} % of {logs} logs.")
    for line in short:
        console.print(f"missed: {line}")


def recorded(console: Console) -> None:
    """Print the study on record, without playing it."""
    found = json.loads((Path(__file__).parent / "results" / "log_study.json").read_text())
    show(found["rows"], console)
    totals(found["logs"], found["false_share"], found["missed"], console)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--logs", type=int, default=200)
    parser.add_argument("--constant", type=int, default=500)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--first-seed", type=int, default=100_000)
    parser.add_argument(
        "--only", default="", help="cells whose name has this text; nothing is kept"
    )
    parser.add_argument("--recorded", action="store_true", help="print the study on record only")
    asked = parser.parse_args()
    console = Console(width=120)
    if asked.recorded:
        recorded(console)
        return 0
    rows = []
    begin = time.perf_counter()
    chosen = [cell for cell in cells() if asked.only in cell.name]
    with ProcessPoolExecutor(asked.workers, mp_context=get_context("spawn")) as pool:
        work = []
        for number, cell in enumerate(chosen):
            logs = asked.constant if cell.truth == "constant" else asked.logs
            first = asked.first_seed + 1000 * number
            parts = [
                range(first + k, min(first + k + 25, first + logs)) for k in range(0, logs, 25)
            ]
            work.append((cell, [pool.submit(verdicts, cell, part) for part in parts]))
        for cell, futures in work:
            rows.append(row_of(cell, sum((future.result() for future in futures), Counter())))
            console.print(
                f"{time.perf_counter() - begin:7.0f} s  {cell.name}: {rows[-1]['verdicts']}",
                soft_wrap=True,
            )
    show(rows, console)
    short = missed(rows)
    logs = sum(row["logs"] for row in rows)
    alarms = sum(row["false_alarms"] for row in rows)
    totals(logs, alarms / logs, short, console)
    if not asked.only:
        about = {"logs": logs, "false_share": alarms / logs, "missed": short}
        record("log_study", rows, **about, seconds=round(time.perf_counter() - begin))
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main())
