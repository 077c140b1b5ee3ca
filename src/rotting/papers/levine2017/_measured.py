"""Results of more trajectories than one reproduction plays, from the file `measured.json`.

`python benchmarks/table1_seeds.py` and `python benchmarks/swucb_constant.py` write it: the cells of
Table 1 that agree at each of ten seeds, and SWUCB's wins for many values of its constant B.
"""

from __future__ import annotations

import functools
import json
import math
from importlib import resources
from typing import Any, NamedTuple

from rotting.papers.levine2017 import _published

FILE = "measured.json"
ERRORS = 2.58  # standard errors: a 99 % interval
_MANY = 20

# SWUCB's wins with the paper's parameters and B = 2, as shares of a million trajectories
# (benchmarks/results/table1_million.csv). A hundred are too few to contradict the paper's 15 and 22
# on AV; a million are enough.
_MILLION = {
    ("av", "SWUCB", "UCB1"): 0.062216,
    ("av", "SWUCB", "DUCB"): 0.063409,
    ("anv", "SWUCB", "UCB1"): 0.400910,
    ("anv", "SWUCB", "DUCB"): 0.412647,
}

Pair = tuple[str, str, str]  # setup, row and column of Table 1


class Share(NamedTuple):
    """A share of wins, and the number of trajectories."""

    wins: float
    runs: int

    def errors_off(self, wins: int) -> float:
        """The distance of the paper's wins of 100 from it, in standard errors of the difference.

        >>> round(Share(0.40, 1_000_000).errors_off(50), 1)
        2.0
        """
        edge = 0.5 / self.runs
        share = min(max(self.wins, edge), 1.0 - edge)
        error = math.sqrt(share * (1.0 - share) * (1.0 / _published.RUNS + 1.0 / self.runs))
        return abs(self.wins - wins / _published.RUNS) / error


@functools.cache
def found() -> dict[str, Any]:
    """The contents of the file."""
    text = resources.files("rotting.papers.levine2017").joinpath(FILE).read_text(encoding="utf-8")
    data: dict[str, Any] = json.loads(text)
    return data


def seeds(b: float) -> list[dict[str, Any]]:
    """For each of ten seeds the number of cells that agree, and those that differ; by SWUCB's B.

    Empty for a B that was not measured.
    """
    measured: list[dict[str, Any]] = found()["seeds"].get(f"{b:g}", [])
    return measured


def agreeing_seeds(b: float, cell: str) -> tuple[int, int] | None:
    """The number of seeds at which a cell (`_tables.Cell.name`) agrees, and of all seeds."""
    rows = seeds(b)
    return (sum(cell not in row["differ"] for row in rows), len(rows)) if rows else None


def shares(b: float) -> dict[Pair, Share]:
    """SWUCB's shares of wins over UCB1 and DUCB on AV and ANV in many trajectories, by its B."""
    if b == 2.0:
        return {pair: Share(wins, 1_000_000) for pair, wins in _MILLION.items()}
    for row in scan():
        if row["B"] == b:
            return {pair: Share(row["wins"][name_of(pair)], row["runs"]) for pair in _MILLION}
    return {}


def scan() -> list[dict[str, Any]]:
    """The scan over B with xi = 1/2: `wins` by pair ("av SWUCB UCB1"), and `p_agree`, the share of
    hundreds of trajectories in which the p-value agrees with the paper's."""
    rows: list[dict[str, Any]] = found()["swucb"]
    return rows


def name_of(pair: Pair) -> str:
    """The name of a pair in the scan.

    >>> name_of(("av", "SWUCB", "UCB1"))
    'av SWUCB UCB1'
    """
    return " ".join(pair)


def paper_wins(pair: str) -> int:
    """The paper's wins of a pair, by its name in the scan."""
    setup, row, column = pair.split(" ")
    return _published.WINS[setup][row][column]


def windows() -> dict[str, dict[str, list[int]]]:
    """The tau that SWUCB's grid chooses at each of ten seeds, by B (as text) and setup."""
    chosen: dict[str, dict[str, list[int]]] = found()["windows"]
    return chosen


def show_errors(errors: float) -> str:
    """A number of standard errors as text; large ones mean little for shares near 0 or 1.

    >>> show_errors(2.04), show_errors(751.0)
    ('2.0', 'more than 20')
    """
    return f"{errors:.1f}" if errors <= _MANY else f"more than {_MANY}"


def worst_off(row: dict[str, Any]) -> float:
    """The largest distance of the paper's wins from a row of the scan, in standard errors."""
    return max(
        Share(wins, row["runs"]).errors_off(paper_wins(pair)) for pair, wins in row["wins"].items()
    )


def band() -> tuple[float, float]:
    """The smallest and largest B of the scan at which chance explains all the paper's wins."""
    inside = [row["B"] for row in scan() if worst_off(row) <= ERRORS]
    return min(inside), max(inside)
