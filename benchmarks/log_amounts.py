"""Rewards that are amounts of money: which verdicts does a diagnosis give, and which are wrong?

    python benchmarks/log_amounts.py [--logs 8] [--first-seed 0] [--workers 2] [--only TEXT]
        [--recorded]

Logs as those of log_study.py, but of amounts: sales (nothing is paid in most rows, else a lognormal
amount), and lognormal amounts without zeros. Beside them what is said if one asks otherwise:
whether anything was paid, or, where all pay, of amounts up to what nine in ten are below. A verdict
is false if it claims something and is wrong. Some minutes on two cores.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from rich.console import Console
from rich.table import Table

from record import record
from rotting.logs import Log, read, synthetic
from rotting.logs._diagnosis.diagnosing import diagnose_log

SHOWN = ("right", "unknown", "false")
UNKNOWN = "cannot-tell"
KEYS = 3000
MOSTLY = 0.75  # zeros, with which a rate is the chance to pay and not what is paid
LEAVING = ("nobody", "rate", "both")
RIGHT = {"constant": "does-not-rot", "rested": "rots"}


class Cell(NamedTuple):
    truth: str
    leaving: str
    zeros: float  # the share of first showings that pay nothing
    sigma: float  # of the logarithms of amounts

    @property
    def amounts(self) -> str:
        zeros = f"{100.0 * self.zeros:.0f} % zeros, else " if self.zeros else ""
        return f"{zeros}lognormal, sigma {self.sigma:g}"

    @property
    def name(self) -> str:
        return f"{self.amounts}, {self.truth}, {self.leaving}"


def cells() -> list[Cell]:
    """Sales with more and fewer zeros; amounts with more and less scatter."""
    kinds = [(0.97, 0.6), (0.8, 0.6), (0.8, 1.2), (0.4, 0.6)]
    kinds += [(0.0, 0.3), (0.0, 0.5), (0.0, 1.0), (0.0, 1.5)]
    return [Cell(t, who, *kind) for kind in kinds for t in RIGHT for who in LEAVING]


def log_of(cell: Cell, seed: int) -> Log:
    """A made-up log whose first showings pay 5 on average: the rate of a key times 20.

    Where most rows pay nothing, a key's rate is its chance to click, of which some buy; else it is
    what an amount is on average.
    """
    kind = "binary" if cell.zeros > MOSTLY else "gaussian"
    settings: dict[str, Any] = {"theta": 0.3, "keys": KEYS, "rewards": kind, "seed": seed}
    frame = synthetic(cell.truth, cell.leaving, **settings)
    generator = np.random.default_rng([seed, 1])
    amount = np.exp(generator.normal(-0.5 * cell.sigma**2, cell.sigma, len(frame)))
    chance = (1.0 - cell.zeros) * (4.0 if kind == "binary" else 1.0)  # a quarter clicks at first
    sold = generator.random(len(frame)) < chance
    mean = frame["reward"].to_numpy() if kind == "binary" else means(frame, cell.truth, seed)
    return read(frame.with_columns(reward=20.0 * mean * sold * amount / chance))


def means(frame: pl.DataFrame, truth: str, seed: int) -> Any:
    """Each row's mean: the key's rate, the arm's level, and what is left of them."""
    rates = np.random.default_rng(seed).beta(2.0, 6.0, KEYS)  # what `synthetic` draws first
    key = frame["key"].str.slice(1).cast(pl.Int64).to_numpy()
    arm = frame["arm"].str.slice(4).cast(pl.Int64).to_numpy()
    n = frame.select(pl.int_range(1, pl.len() + 1).over("key", "arm")).to_series().to_numpy()
    left = n**-0.3 if truth == "rested" else 1.0
    return rates[key] * np.linspace(1.0, 0.7, 3)[arm] * left


def remedy(reward: Any, cell: Cell) -> Any:
    """Whether anything was paid; where all pay, amounts up to what nine in ten are below."""
    if cell.zeros:
        return (reward > 0.0).astype(np.float64)
    return np.minimum(reward, np.quantile(reward, 0.9))


def verdicts(cell: Cell, seeds: range) -> tuple[Counter[str], Counter[str]]:
    """What the diagnosis says of the amounts, and if one asks otherwise."""
    found: tuple[Counter[str], Counter[str]] = Counter(), Counter()
    for seed in seeds:
        log = log_of(cell, seed)
        paid = replace(log, reward=remedy(log.reward, cell))
        for counted, each in zip(found, (log, paid), strict=True):
            settings: dict[str, Any] = {"smallest": 0.1, "alpha": 0.05, "seed": 0}
            one = diagnose_log(each, **settings, progress=lambda *_: None, pictures=False)
            counted[one.overall] += 1
    return found


def row_of(cell: Cell, found: tuple[Counter[str], Counter[str]]) -> dict[str, Any]:
    row: dict[str, Any] = {**cell._asdict(), "name": cell.name, "logs": found[0].total()}
    for name, counted in zip(("amounts", "otherwise"), found, strict=True):
        # with few zeros it is the amounts that fall, and not how often anything is paid
        still = name == "otherwise" and 0.0 < cell.zeros < MOSTLY
        right, unknown = counted[RIGHT["constant" if still else cell.truth]], counted[UNKNOWN]
        row[name] = {
            "right": right,
            "unknown": unknown,
            "false": counted.total() - right - unknown,
            "verdicts": dict(sorted(counted.items())),
        }
    return row


def lines(rows: list[dict[str, Any]]) -> list[list[str]]:
    """A line for a kind of amounts and a truth, all ways to leave together."""
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in rows:
        kind = row["name"].rsplit(", ", 2)[0]
        groups.setdefault((kind, row["truth"]), []).append(row)
    found = []
    for (kind, truth), members in groups.items():
        cells = [kind, truth, str(sum(row["logs"] for row in members))]
        for name in ("amounts", "otherwise"):
            counts = [sum(row[name][what] for row in members) for what in SHOWN]
            cells += [str(count) for count in counts]
        found.append(cells)
    return found


def show(rows: list[dict[str, Any]]) -> None:
    """Print the table: the verdicts on the amounts, and those with the remedy."""
    table = Table("amounts", "truth", "logs", *(2 * SHOWN), box=None)
    for line in lines(rows):
        table.add_row(*line)
    Console(width=120).print(table)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--logs", type=int, default=8, help="of each cell")
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--only", default="", help="cells whose name has this; nothing is kept")
    parser.add_argument("--recorded", action="store_true", help="print the table on record only")
    asked = parser.parse_args()
    if asked.recorded:
        results = Path(__file__).parent / "results" / "log_amounts.json"
        show(json.loads(results.read_text())["rows"])
        return 0
    begin = time.perf_counter()
    seeds = range(asked.first_seed, asked.first_seed + asked.logs)
    chosen = [cell for cell in cells() if asked.only in cell.name]
    with ProcessPoolExecutor(asked.workers, mp_context=get_context("spawn")) as pool:
        work = [pool.submit(verdicts, cell, seeds) for cell in chosen]
        rows = [row_of(c, one.result()) for c, one in zip(chosen, work, strict=True)]
    show(rows)
    if not asked.only:
        record("log_amounts", rows, seconds=round(time.perf_counter() - begin))
    return 0


if __name__ == "__main__":
    sys.exit(main())
