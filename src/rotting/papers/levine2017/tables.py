"""Table 1 as data, text, CSV and LaTeX, next to the paper's own."""

from __future__ import annotations

import csv
import io
import math
from dataclasses import dataclass
from typing import Any, NamedTuple

from rotting.experiments.comparison import Comparison
from rotting.papers.levine2017 import published
from rotting.papers.levine2017.reproduction import Reproduction
from rotting.papers.paper import Shown, Table
from rotting.reports.tex import tabular

# Wins of SWUCB with the paper's parameters, as shares of a million trajectories (see the notes,
# docs/paper/readings.md). A hundred are too few to contradict the paper's 15 and 22 on AV; these
# are not. The paper's 50 and 50 on ANV are 2.0 and 1.8 standard errors off: that may be chance.
LONG_RUN = {
    ("av", "SWUCB", "UCB1"): 0.062216,
    ("av", "SWUCB", "DUCB"): 0.063409,
    ("anv", "SWUCB", "UCB1"): 0.400910,
    ("anv", "SWUCB", "DUCB"): 0.412647,
}
ERRORS = 2.58  # standard errors: 99 %


def errors_off(share: float, wins: int) -> float:
    """How far the paper's wins are from a share in the long run, in standard errors of its runs.

    >>> round(errors_off(0.40, 50), 1)
    2.0
    """
    error = math.sqrt(share * (1 - share) / published.RUNS)
    return abs(share - wins / published.RUNS) / error


@dataclass(frozen=True)
class Cell:
    """A pair of policies: how often the row won against the column, and the p-value."""

    row: str
    column: str
    wins: int
    p_value: float
    paper_wins: int
    paper_p_value: float | None  # None for "<1e-5"
    runs: int
    share: float | None = None  # of wins in the long run, where it is known

    @property
    def wins_agree(self) -> bool:
        """Whether both win counts may come from the same probability.

        The difference of the two shares lies within 2.58 standard errors (99 %), that of a share
        taken to be at least one half of a run away from 0 and 1. Where the share in the long run
        is known, the paper's must be as near to that one too.
        """
        if self.share is not None and errors_off(self.share, self.paper_wins) > ERRORS:
            return False
        pooled = (self.wins + self.paper_wins) / (self.runs + published.RUNS)
        edge = 0.5 / published.RUNS
        share = min(max(pooled, edge), 1 - edge)
        error = math.sqrt(share * (1 - share) * (1 / self.runs + 1 / published.RUNS))
        return abs(self.wins / self.runs - self.paper_wins / published.RUNS) <= ERRORS * error

    @property
    def p_agrees(self) -> bool:
        """Whether both p-values say the same: below 1e-5, or not significant at 0.05."""
        if self.paper_p_value is None:
            return self.p_value < published.SMALL
        return self.p_value > 0.05


def cells(setup: str, comparison: Comparison) -> list[Cell]:
    """The pairs of Table 1 in its order, row below column."""
    return [
        Cell(
            row,
            column,
            comparison.wins[row][column],
            comparison.p_values[row][column],
            paper_wins,
            published.p_value(setup, row, column),
            comparison[row].runs,
            LONG_RUN.get((setup, row, column)),
        )
        for row, columns in published.WINS[setup].items()
        for column, paper_wins in columns.items()
    ]


def show_p(value: float | None) -> str:
    """A p-value as Table 1 writes it.

    >>> show_p(3e-9), show_p(0.048), show_p(0.8123)
    ('<1e-5', '0.048', '0.81')
    """
    if value is None or value < published.SMALL:
        return "<1e-5"
    return f"{value:.2f}" if value >= 0.1 else f"{value:.2g}"


def as_data(reproduction: Reproduction, command: str = "") -> dict[str, Any]:
    """Everything in table1.json but its provenance: per setup, the grids, and as tuned.

    The command is part of the provenance, which `writing` adds.
    """
    data: dict[str, Any] = {
        setup: comparison.summary() for setup, comparison in reproduction.reported.items()
    }
    data["grid"] = {
        setup: {
            name: {
                "parameter": published.GRIDS[name][0],
                "chosen": tuning.chosen[published.GRIDS[name][0]],
                "rows": tuning.rows(),
            }
            for name, tuning in grids.items()
        }
        for setup, grids in reproduction.grids.items()
    }
    data["tuned"] = {setup: found.summary() for setup, found in reproduction.tuned.items()}
    data["paper"] = {
        setup: [
            {
                "row": row,
                "column": column,
                "wins": wins,
                "p_value": show_p(published.p_value(setup, row, column)),
            }
            for row, columns in published.WINS[setup].items()
            for column, wins in columns.items()
        ]
        for setup in published.SETUPS
    }
    return data


def as_csv(reproduction: Reproduction) -> str:
    """table1.csv: one row for each pair of policies, with reported and with tuned parameters."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    ours = ["version", "setup", "row", "column", "wins", "runs", "p_value"]
    writer.writerow([*ours, "paper_wins", "paper_p_value"])
    for version, found in (("reported", reproduction.reported), ("tuned", reproduction.tuned)):
        for setup, comparison in found.items():
            for cell in cells(setup, comparison):
                writer.writerow(
                    [
                        version,
                        setup,
                        cell.row,
                        cell.column,
                        cell.wins,
                        cell.runs,
                        repr(cell.p_value),
                        cell.paper_wins,
                        show_p(cell.paper_p_value),
                    ]
                )
    return out.getvalue()


class Entry(NamedTuple):
    """A place in Table 1: our figure, the paper's, and whether the two agree."""

    ours: str
    paper: str
    agrees: bool

    def __str__(self) -> str:
        return f"{self.ours} ({self.paper})"


def matrix(setup: str, comparison: Comparison) -> dict[str, list[Entry | None]]:
    """Table 1 as it is read, by row: wins under the diagonal, p-values above, None on it."""
    by_pair = {(cell.row, cell.column): cell for cell in cells(setup, comparison)}

    def entry(row: str, column: str) -> Entry | None:
        if (row, column) in by_pair:
            cell = by_pair[row, column]
            return Entry(str(cell.wins), str(cell.paper_wins), cell.wins_agree)
        if (column, row) in by_pair:
            cell = by_pair[column, row]
            return Entry(show_p(cell.p_value), show_p(cell.paper_p_value), cell.p_agrees)
        return None

    names = list(comparison.results)
    return {row: [entry(row, column) for column in names] for row in names}


def show(reproduction: Reproduction) -> Shown:
    """Table 1 for the terminal, one table for each setup."""
    tables = []
    for setup, comparison in reproduction.reported.items():
        title = (
            f"{published.SETUPS[setup]}: wins under the diagonal, p-values above; "
            "in parentheses the paper's"
        )
        rows = [
            [name, *(str(entry or "") for entry in entries)]
            for name, entries in matrix(setup, comparison).items()
        ]
        tables.append(Table(title, ["", *comparison.results], rows))
    return Shown(tables)


def as_tex(reproduction: Reproduction) -> str:
    """Table 1 in LaTeX: wins under the diagonal, p-values above, the paper's in parentheses."""
    names = ["UCB1", "DUCB", "SWUCB", "wSWA", "(D-)CTO"]
    about = [
        "Wins (of the row against the column) under the diagonal, p-values above;",
        "in parentheses the figures of Levine, Crammer & Mannor (2017), Table 1.",
    ]
    groups = []
    for setup, comparison in reproduction.reported.items():
        rows = []
        for place, (name, entries) in enumerate(matrix(setup, comparison).items()):
            shown = [str(entry or "--").replace("<1e-5", "$<10^{-5}$") for entry in entries]
            shown += [""] * (len(names) - len(shown))
            label = published.SETUPS[setup] if place == 0 else ""
            rows.append([label, name, *shown])
        groups.append(rows)
    return tabular("ll" + "c" * len(names), ["", "", *names], groups, about)
