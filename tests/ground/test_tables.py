"""One table in every form: the same cells, none lost, texts escaped."""

from __future__ import annotations

import csv
import io
import math
from typing import Any

import pytest

from rotting._table import KINDS, Cell, Column, Table

VALUES: dict[str, list[Any]] = {
    "text": ["a", "b c", None],
    "prose": ["a sentence of some words", "b", "c"],
    "number": ["1 of 3", 2, "-"],
    "figure": [0.123456, 12.5, math.nan],
    "count": [1234567, 3, None],
    "percent": [0.25, 1.0, 0.99999],
    "signed": [0.5, -0.25, math.nan],
    "p": [3e-9, 0.048, 0.8123],
    "interval": [(0.25, 0.75), (1.0, 2.0), (math.nan, math.nan)],
}
WRITTEN = {
    "text": ["a", "b c", "-"],
    "prose": ["a sentence of some words", "b", "c"],
    "number": ["1 of 3", "2", "-"],
    "figure": ["0.12", "12.50", "-"],
    "count": ["1,234,567", "3", "-"],
    "percent": ["25.0 %", "100 %", "99.9 %"],
    "signed": ["+0.5", "-0.25", "-"],
    "p": ["<1e-5", "0.048", "0.81"],
    "interval": ["0.2500 to 0.7500", "1.000 to 2.000", "-"],
}


def whole() -> Table:
    """A column of every kind."""
    columns = [Column(f"the {kind}", kind, kind) for kind in VALUES]
    return Table(columns, list(zip(*VALUES.values(), strict=True)), title="All kinds")


def test_every_kind_is_written_in_one_way() -> None:
    assert set(VALUES) == set(KINDS)
    cells = [list(column) for column in zip(*whole().cells(), strict=True)]
    assert dict(zip(VALUES, cells, strict=True)) == WRITTEN


@pytest.mark.parametrize("width", [30, 59, 60, 80, 120, 400])
def test_a_terminal_shows_every_cell_within_its_width(width: int) -> None:
    shown = whole().text(width)
    lines = shown.splitlines()
    assert max(map(len, lines)) <= width
    words = shown.split()
    for row in whole().cells():
        assert all(part in words for cell in row for part in cell.split())
    assert lines[0] == "All kinds"
    assert "  the figure: 12.50" in lines or width >= 60


@pytest.mark.parametrize("width", [60, 80])
def test_what_is_too_wide_stays_a_table(width: int) -> None:
    """Further columns follow in a second table, after the first column again."""
    shown = whole().text(width)
    assert shown.count("b c") >= 2
    assert ": " not in shown


def test_a_wide_terminal_has_one_table() -> None:
    assert whole().text(400).count("b c") == 1


def test_values_are_kept_for_machines() -> None:
    rows = list(csv.reader(io.StringIO(whole().csv())))
    assert rows[0] == list(VALUES)
    assert rows[1][3:6] == ["0.123456", "1234567", "0.25"]
    assert rows[3][3] == ""  # NaN
    frame = pytest.importorskip("pandas") and whole().to_frame()
    assert list(frame.columns) == list(VALUES)
    assert frame["figure"].dtype == float


def test_markdown_and_latex_have_the_same_cells() -> None:
    lines = whole().markdown().splitlines()
    assert lines[1].split(" | ")[:3] == ["| :---", ":---", "---:"]
    assert [cell.strip() for cell in lines[2].strip("|").split("|")] == whole().cells()[0]
    tex = whole().tex(["made by hand"])
    assert tex.startswith("% made by hand\n\\begin{tabular}{llrrrrrrr}\n")
    assert r"a & a sentence of some words & $1$ of $3$ & $0.12$ & $1,234,567$" in tex
    assert r"$25.0$ \% & $+0.5$ & $<10^{-5}$ & $0.2500$ to $0.7500$ \\" in tex
    assert " & -- & " in tex


def test_rules_of_latex() -> None:
    tex = Table(["a"], [["x"], ["y"], ["z"]], rules=[0]).tex()
    assert tex.count(r"\hline") == 4  # above and below the heading, after x, at the end


def test_a_second_value_beside_and_a_mark() -> None:
    table = Table(["a", "b"], [["x", Cell("5", "6", "yes")], ["y", Cell("", mark="same")]])
    assert table.cells() == [["x", "5 (6)"], ["y", ""]]
    right = 'style="text-align: right; white-space: nowrap"'
    assert f'<td class="yes" {right}>5 <small>(6)</small></td>' in table.html()
    assert table.csv() == "a,b\nx,5\ny,\n"


def test_html_of_rows_with_a_style_and_of_long_texts() -> None:
    drawn = Table(["<a>"], [["<b>" * 30], ["x"]], styles={1: "bold"}).html(letters=10)
    assert "&lt;a&gt;" in drawn
    assert "<b>" not in drawn
    assert ">&lt;b&gt;&lt;b&gt;&lt;...</td>" in drawn
    assert '<tr style="font-weight: bold">' in drawn


def test_empty_columns_go() -> None:
    table = Table(["a", "b", Column("c", "figure")], [["x", "-", 1.0], ["y", "", math.nan]])
    assert table.dense().headings == ["a", "c"]


def test_rows_have_a_cell_for_each_column() -> None:
    with pytest.raises(ValueError, match="rows must have 2 cells"):
        Table(["a", "b"], [["x"]])


def test_records() -> None:
    table = Table.of([{"name": "x", "value": 0.5}, {"name": "y", "value": None}])
    assert [column.kind for column in table.columns] == ["text", "figure"]
    assert table.cells() == [["x", "0.5000"], ["y", "-"]]
    assert Table.of([]).cells() == []
