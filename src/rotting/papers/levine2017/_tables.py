"""Table 1 as data, text, CSV and LaTeX, next to the paper's own."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rotting import _table, stats
from rotting._experiments.comparison import Comparison
from rotting._experiments.results import Result
from rotting._numbers import p_value as show_p
from rotting._table import Column, Table
from rotting.papers._paper import Shown
from rotting.papers.levine2017 import _measured, _published
from rotting.papers.levine2017._measured import ERRORS, Share
from rotting.papers.levine2017._reproduction import Reproduction

_HUNDREDS = 100  # of trajectories that p-values are worked out for, at most


def by_hundreds(first: Result, second: Result) -> tuple[float, ...]:
    """The p-values of each hundred trajectories, as the paper's are of 100; of fewer, of all."""
    a, b, off = first.final_regret, second.final_regret, first.rounding + second.rounding
    each = min(_published.RUNS, a.size)
    starts = range(0, min(a.size, _HUNDREDS * each) - each + 1, each)
    return tuple(
        stats.paired_p_value(a[k : k + each], b[k : k + each], off[k : k + each]) for k in starts
    )


def same_p(p_value: float, paper: float | None) -> bool:
    """Whether both p-values agree: below 1e-5, or not significant at 0.05."""
    return p_value < _published.SMALL if paper is None else p_value > 0.05


@dataclass(frozen=True)
class Cell:
    """A pair of policies: how often the row won against the column, and the p-values."""

    setup: str
    row: str
    column: str
    wins: int
    p_values: tuple[float, ...]  # of each hundred trajectories
    paper_wins: int
    paper_p_value: float | None  # None for "<1e-5"
    runs: int
    share: Share | None = None  # of wins in the long run, where it is known

    @property
    def wins_agree(self) -> bool:
        """Whether chance explains the difference of the two win counts.

        The difference of the two shares lies within 2.58 standard errors (99 %), that of a share
        taken to be at least one half of a run away from 0 and 1. Where the share in the long run
        is known, the paper's must be as near to that one too.
        """
        if self.share is not None and self.share.errors_off(self.paper_wins) > ERRORS:
            return False
        pooled = (self.wins + self.paper_wins) / (self.runs + _published.RUNS)
        edge = 0.5 / _published.RUNS
        share = min(max(pooled, edge), 1 - edge)
        error = math.sqrt(share * (1 - share) * (1 / self.runs + 1 / _published.RUNS))
        return abs(self.wins / self.runs - self.paper_wins / _published.RUNS) <= ERRORS * error

    @property
    def p_value(self) -> float:
        """The median of the p-values."""
        return float(np.median(self.p_values))

    @property
    def hundreds_that_agree(self) -> int:
        """The number of hundreds of trajectories whose p-value agrees with the paper's."""
        return sum(same_p(p, self.paper_p_value) for p in self.p_values)

    @property
    def p_agrees(self) -> bool | None:
        """Whether more than half of the hundreds agree; None for fewer than 100 trajectories."""
        if self.runs < _published.RUNS:
            return None
        return 2 * self.hundreds_that_agree > len(self.p_values)

    @property
    def differing(self) -> list[str]:
        """Which of the two figures differ: "wins", "p", both or none."""
        found = [] if self.wins_agree else ["wins"]
        return [*found, "p"] if self.p_agrees is False else found

    def name(self, figure: str) -> str:
        """What one of its figures is called, as "AV SWUCB/UCB1 wins"."""
        return f"{_published.SETUPS[self.setup]} {self.row}/{self.column} {figure}"


def cells(
    setup: str, comparison: Comparison, known: Mapping[_measured.Pair, Share] | None = None
) -> list[Cell]:
    """The pairs of Table 1 in its order, row below column; `known` are shares in the long run."""
    return [
        Cell(
            setup,
            row,
            column,
            comparison.wins[row][column],
            by_hundreds(comparison[row], comparison[column]),
            paper_wins,
            _published.p_value(setup, row, column),
            comparison[row].runs,
            (known or {}).get((setup, row, column)),
        )
        for row, columns in _published.WINS[setup].items()
        for column, paper_wins in columns.items()
    ]


def all_cells(reproduction: Reproduction) -> list[Cell]:
    """All pairs, with the parameters the paper reports."""
    known = _measured.shares(reproduction.swucb_b)
    return [
        cell
        for setup, comparison in reproduction.reported.items()
        for cell in cells(setup, comparison, known)
    ]


def both_constants(reproduction: Reproduction) -> list[tuple[Cell, Cell]]:
    """The pairs of SWUCB: with its B, and with the other one."""
    known = _measured.shares(reproduction.other_b)
    others = [
        cell
        for setup, comparison in reproduction.beside.items()
        for cell in cells(setup, comparison, known)
    ]
    pairs = zip(all_cells(reproduction), others, strict=True)
    return [pair for pair in pairs if "SWUCB" in (pair[0].row, pair[0].column)]


def as_data(reproduction: Reproduction, command: str = "") -> dict[str, Any]:
    """Everything in table1.json but its provenance: per setup, the grids, and as tuned.

    The command is part of the provenance, which `_files.write` adds.
    """
    data: dict[str, Any] = {
        setup: comparison.summary() for setup, comparison in reproduction.reported.items()
    }
    data["grid"] = {
        setup: {
            name: {
                "parameter": _published.GRIDS[name][0],
                "chosen": tuning.chosen[_published.GRIDS[name][0]],
                "rows": tuning.rows(),
            }
            for name, tuning in grids.items()
        }
        for setup, grids in reproduction.grids.items()
    }
    data["tuned"] = {setup: found.summary() for setup, found in reproduction.tuned.items()}
    data["swucb_b"], data["other_b"] = reproduction.swucb_b, reproduction.other_b
    data["beside"] = {
        setup: found["SWUCB"].summary() | {"wins": found.wins["SWUCB"]}
        for setup, found in reproduction.beside.items()
    }
    differ = [cell.name(figure) for cell in all_cells(reproduction) for figure in cell.differing]
    data["differ"] = differ
    data["paper"] = {
        setup: [
            {
                "row": row,
                "column": column,
                "wins": wins,
                "p_value": paper_p(_published.p_value(setup, row, column)),
            }
            for row, columns in _published.WINS[setup].items()
            for column, wins in columns.items()
        ]
        for setup in _published.SETUPS
    }
    return data


def as_csv(reproduction: Reproduction) -> str:
    """table1.csv: a row a pair of policies: as reported, with SWUCB's other B, and as tuned.

    p-values are of 100 trajectories, as the paper's: the median, if there are several hundreds.
    """
    columns = ["version", "setup", "row", "column", "wins", "runs", "p_value", "p_value_agrees_in"]
    columns += ["hundreds", "paper_wins", "paper_p_value"]
    versions = {
        "reported": all_cells(reproduction),
        f"SWUCB(B={reproduction.other_b:g})": [pair[1] for pair in both_constants(reproduction)],
        "tuned": [cell for setup, c in reproduction.tuned.items() for cell in cells(setup, c)],
    }
    rows = []
    for version, found in versions.items():
        for cell in found:
            row = [version, cell.setup, cell.row, cell.column, cell.wins, cell.runs]
            row += [repr(cell.p_value), cell.hundreds_that_agree, len(cell.p_values)]
            rows.append([*row, cell.paper_wins, paper_p(cell.paper_p_value)])
    return Table(columns, rows).csv()


_MARKS = {True: "yes", False: "no", None: ""}  # None where they are not compared


def paper_p(value: float | None) -> str:
    """A p-value of the paper, which has None for the smallest."""
    return show_p(0.0 if value is None else value)


def wins_entry(cell: Cell) -> _table.Cell:
    """How often the row won: our figure, the paper's, and whether the two agree."""
    return _table.Cell(str(cell.wins), str(cell.paper_wins), _MARKS[cell.wins_agree])


def p_entry(cell: Cell) -> _table.Cell:
    """The p-value; of several hundreds of trajectories the median, and how many agree."""
    ours = show_p(cell.p_value)
    if len(cell.p_values) > 1:
        ours += f", {cell.hundreds_that_agree} of {len(cell.p_values)}"
    return _table.Cell(ours, paper_p(cell.paper_p_value), _MARKS[cell.p_agrees])


def matrix(found: Sequence[Cell], title: str = "") -> Table:
    """Table 1 of one setup as it is read: wins under the diagonal, p-values above."""
    by_pair = {(cell.row, cell.column): cell for cell in found}
    names = list(dict.fromkeys(name for cell in found for name in (cell.column, cell.row)))

    def entry(row: str, column: str) -> _table.Cell:
        if (row, column) in by_pair:
            return wins_entry(by_pair[row, column])
        if (column, row) in by_pair:
            return p_entry(by_pair[column, row])
        return _table.Cell("", mark="same")

    rows = [[row, *(entry(row, column) for column in names)] for row in names]
    return Table(["", *names], rows, title=title)


def by_setup(found: Sequence[Cell]) -> dict[str, list[Cell]]:
    """The cells of each setup."""
    return {setup: [c for c in found if c.setup == setup] for setup in _published.SETUPS}


def constants_table(reproduction: Reproduction) -> Table:
    """SWUCB's pairs with both constants, beside the paper's: wins, and p-values."""
    bs = [f"B = {b:g}" for b in (reproduction.swucb_b, reproduction.other_b)]
    rows = [
        [
            f"{_published.SETUPS[one.setup]} {one.row} against {one.column}",
            wins_entry(one),
            wins_entry(other),
            p_entry(one),
            p_entry(other),
        ]
        for one, other in both_constants(reproduction)
    ]
    return Table(["", *(f"wins, {b}" for b in bs), *(f"p, {b}" for b in bs)], rows)


def show(reproduction: Reproduction) -> Shown:
    """Table 1 for the terminal, one table for each setup, and SWUCB's pairs with another B."""
    found = [
        matrix(
            group,
            f"{_published.SETUPS[setup]}: wins under the diagonal, p-values above; "
            "in parentheses the paper's",
        )
        for setup, group in by_setup(all_cells(reproduction)).items()
    ]
    whole = constants_table(reproduction)
    about = "Wins of SWUCB with two constants B: the paper does not state it"
    wins = [row[:3] for row in whole.rows if "SWUCB against" in row[0]]
    found.append(Table(whole.columns[:3], wins, title=about))
    return Shown(found, [agreement(reproduction)])


def agreement(reproduction: Reproduction) -> str:
    """How many figures of Table 1 agree, in a sentence."""
    found = all_cells(reproduction)
    differ = [cell.name(figure) for cell in found for figure in cell.differing]
    few = reproduction.runs < _published.RUNS  # then p-values are not compared
    total = len(found) if few else 2 * len(found)
    said = f"{total - len(differ)} of the {total} {'counts of wins' if few else 'figures'} agree"
    return f"{said}; not: {', '.join(differ)}." if differ else f"{said}."


def as_tex(reproduction: Reproduction) -> str:
    """Table 1 in LaTeX: wins under the diagonal, p-values above, the paper's in parentheses.

    A second table has SWUCB's pairs with another constant.
    """
    names = ["UCB1", "DUCB", "SWUCB", "wSWA", "(D-)CTO"]
    about = [
        "Wins (of the row against the column) under the diagonal, p-values above;",
        "in parentheses the figures of Levine, Crammer & Mannor (2017), Table 1.",
    ]
    rows: list[list[Any]] = []
    rules = []
    for setup, group in by_setup(all_cells(reproduction)).items():
        for place, (name, *entries) in enumerate(matrix(group).rows):
            label = _published.SETUPS[setup] if place == 0 else ""
            rows.append([label, name, *(entry if entry.value else None for entry in entries)])
            rows[-1] += [""] * (len(names) - len(entries))
        rules.append(len(rows) - 1)
    whole = Table([Column("", "text"), Column("", "text"), *names], rows, rules=rules)
    beside = constants_table(reproduction).tex(["SWUCB with two constants B; xi = 1/2."])
    return f"{whole.tex(about)}\n{beside}"
