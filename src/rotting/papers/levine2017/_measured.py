"""What was measured once, of more trajectories than one reproduction plays: `measured.json`.

`python benchmarks/table1_seeds.py` and `python benchmarks/swucb_constant.py` write it: which cells
of Table 1 agree at each of ten seeds, and SWUCB's wins for many values of its constant.
"""

from __future__ import annotations

import functools
import json
import math
from importlib import resources
from typing import Any, NamedTuple

from rotting.papers.levine2017 import _published

FILE = "measured.json"
ERRORS = 2.58  # standard errors: 99 %
_MANY = 20

# SWUCB's wins with the paper's parameters and B = 2, as shares of a million trajectories
# (benchmarks/results/table1_million.csv). A hundred are too few to contradict the paper's 15 and 22
# on AV; these are not.
_MILLION = {
    ("av", "SWUCB", "UCB1"): 0.062216,
    ("av", "SWUCB", "DUCB"): 0.063409,
    ("anv", "SWUCB", "UCB1"): 0.400910,
    ("anv", "SWUCB", "DUCB"): 0.412647,
}

Pair = tuple[str, str, str]  # setup, row and column of Table 1


class Share(NamedTuple):
    """A share of wins, and of how many trajectories."""

    wins: float
    runs: int

    def errors_off(self, wins: int) -> float:
        """How far the paper's wins of 100 are from it, in standard errors of their difference.

        >>> round(Share(0.40, 1_000_000).errors_off(50), 1)
        2.0
        """
        edge = 0.5 / self.runs
        share = min(max(self.wins, edge), 1.0 - edge)
        error = math.sqrt(share * (1.0 - share) * (1.0 / _published.RUNS + 1.0 / self.runs))
        return abs(self.wins - wins / _published.RUNS) / error


@functools.cache
def found() -> dict[str, Any]:
    """All that is in the file."""
    text = resources.files("rotting.papers.levine2017").joinpath(FILE).read_text(encoding="utf-8")
    data: dict[str, Any] = json.loads(text)
    return data


def seeds(b: float) -> list[dict[str, Any]]:
    """With a B of SWUCB, for each of ten seeds: how many cells agree, and those that do not.

    Empty for a B that was not measured.
    """
    measured: list[dict[str, Any]] = found()["seeds"].get(f"{b:g}", [])
    return measured


def agreeing_seeds(b: float, cell: str) -> tuple[int, int] | None:
    """At how many seeds of how many a cell agrees; cells are named as `tables.Cell.name` does."""
    rows = seeds(b)
    return (sum(cell not in row["differ"] for row in rows), len(rows)) if rows else None


def shares(b: float) -> dict[Pair, Share]:
    """SWUCB's wins over UCB1 and DUCB on AV and ANV, of many trajectories, with a B of it."""
    if b == 2.0:
        return {pair: Share(wins, 1_000_000) for pair, wins in _MILLION.items()}
    for row in scan():
        if row["B"] == b:
            return {pair: Share(row["wins"][name_of(pair)], row["runs"]) for pair in _MILLION}
    return {}


def scan() -> list[dict[str, Any]]:
    """For each B with xi = 1/2: `wins` by pair ("av SWUCB UCB1"), and `p_agree`, how often the
    p-values of a hundred trajectories say what the paper's do."""
    rows: list[dict[str, Any]] = found()["swucb"]
    return rows


def name_of(pair: Pair) -> str:
    """A pair as the scan names it.

    >>> name_of(("av", "SWUCB", "UCB1"))
    'av SWUCB UCB1'
    """
    return " ".join(pair)


def paper_wins(pair: str) -> int:
    """The paper's wins of a pair that the scan names."""
    setup, row, column = pair.split(" ")
    return _published.WINS[setup][row][column]


def windows() -> dict[str, dict[str, list[int]]]:
    """The tau that SWUCB's grid chooses: by its B as text, by setup, for each of ten seeds."""
    chosen: dict[str, dict[str, list[int]]] = found()["windows"]
    return chosen


def show_errors(errors: float) -> str:
    """A number of standard errors; of many, the share near 0 or 1 makes it no measure.

    >>> show_errors(2.04), show_errors(751.0)
    ('2.0', 'more than 20')
    """
    return f"{errors:.1f}" if errors <= _MANY else f"more than {_MANY}"


def worst_off(row: dict[str, Any]) -> float:
    """By how many standard errors the paper's wins of a row of the scan are off, at most."""
    return max(
        Share(wins, row["runs"]).errors_off(paper_wins(pair)) for pair, wins in row["wins"].items()
    )


def band() -> tuple[float, float]:
    """The least and the largest B of the scan at which chance explains all of SWUCB's wins."""
    inside = [row["B"] for row in scan() if worst_off(row) <= ERRORS]
    return min(inside), max(inside)
