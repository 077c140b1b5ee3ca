"""The paper, reproduced: Table 1 over ten seeds, the grids, and the files that are left."""

from __future__ import annotations

import csv
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import table1_seeds
from rotting.papers import levine2017
from rotting.papers.levine2017 import published, reproduction, tables, writing
from rotting.papers.levine2017.reproduction import Reproduction
from rotting.reports.folders import output_folder


@pytest.fixture(scope="module")
def ten_seeds() -> dict[tuple[str, str, str], dict[str, Any]]:
    return {(row["setup"], row["row"], row["column"]): row for row in table1_seeds.pairs()}


# Mean wins over the seeds, for the pairs of the published table. A published 100 is met by what
# rounds to it: of 1,000 trajectories on NP, SWUCB loses one to DUCB.
RANGES = {
    **{
        ("non_parametric", row, column): (99.5, 100)
        for row, columns in published.WINS["non_parametric"].items()
        for column in columns
    },
    **{("av", "CTO", column): (99, 100) for column in ("UCB1", "DUCB", "SWUCB", "wSWA")},
    **{
        (setup, "wSWA", column): (95, 100)
        for setup in ("av", "anv")
        for column in ("UCB1", "DUCB", "SWUCB")
    },
    **{("anv", "D-CTO", column): (99.5, 100) for column in ("UCB1", "DUCB", "SWUCB")},
    ("anv", "D-CTO", "wSWA"): (55, 80),
    ("av", "DUCB", "UCB1"): (35, 65),
    ("anv", "DUCB", "UCB1"): (35, 65),
}


def test_wins_over_ten_seeds(ten_seeds: dict[tuple[str, str, str], dict[str, Any]]) -> None:
    for key, (low, high) in RANGES.items():
        assert low <= ten_seeds[key]["mean_wins"] <= high, key


def test_p_values_over_ten_seeds(ten_seeds: dict[tuple[str, str, str], dict[str, Any]]) -> None:
    """Every "<1e-5" of the paper, and UCB1 against DUCB seldom significant.

    SWUCB against UCB1 and DUCB in ANV is the exception that the notes on the paper describe.
    """
    significant = 0
    for (setup, row, column), found in ten_seeds.items():
        if (row, column) == ("DUCB", "UCB1") and setup != "non_parametric":
            significant += sum(p < 0.05 for p in found["p_values"])
        elif published.p_value(setup, row, column) is None:
            assert found["pooled_p_value"] < 1e-5, (setup, row, column)
    assert significant <= 3


@pytest.fixture(scope="module")
def full() -> Reproduction:
    """The whole section as `rotting reproduce levine2017` runs it."""
    return reproduction.reproduce(runs=100, seed=0)


def test_the_grids_choose_as_in_the_paper(full: Reproduction) -> None:
    chosen = {
        setup: {name: tuning.chosen[published.GRIDS[name][0]] for name, tuning in grids.items()}
        for setup, grids in full.grids.items()
    }
    assert chosen["non_parametric"]["DUCB"] == 0.999
    assert chosen["av"]["DUCB"] == chosen["anv"]["DUCB"] == 0.999999
    assert chosen["non_parametric"]["wSWA"] == chosen["anv"]["wSWA"] == 0.2


def test_tuned_policies_are_those_the_grid_chose(full: Reproduction) -> None:
    for setup, grids in full.grids.items():
        for name, tuning in grids.items():
            assert full.tuned[setup][name].provenance["parameters"] == repr(tuning.best)
        reported = levine2017.reported_policies(setup)
        for name, result in full.reported[setup].results.items():
            assert result.provenance["parameters"] == repr(reported[name])


class Checker(HTMLParser):
    """Counts what opens and closes, and collects what would be fetched."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.fetched: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("src", "href", "xlink:href") and not (value or "").startswith(
                ("#", "data:")
            ):
                self.fetched.append(str(value))
        if tag not in ("meta", "link", "br", "img"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_of_very_many_runs_the_final_regrets_are_kept(
    full: Reproduction, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "MANY", full.runs - 1)
    with output_folder(tmp_path / "found") as work:
        writing.write(full, work, "rotting reproduce levine2017")
    (path,) = (tmp_path / "found" / "results").iterdir()
    with np.load(path) as kept:
        assert len(kept.files) == 2 * 14
        expected = full.tuned["anv"]["D-CTO"].final_regret
        np.testing.assert_array_equal(kept["anv-D-CTO-tuned"], expected)


def test_files(full: Reproduction, tmp_path: Path) -> None:
    with output_folder(tmp_path / "found") as work:
        writing.write(full, work, "rotting reproduce levine2017")
    folder = tmp_path / "found"
    names = {path.name for path in folder.glob("[!.]*")}
    assert names == {
        "report.html",
        "figure1.png",
        "figure1.svg",
        "figure1.pdf",
        "table1.csv",
        "table1.json",
        "table1.tex",
        "results",
    }
    data = json.loads((folder / "table1.json").read_text())
    for setup in published.SETUPS:
        for found in (data[setup], data["tuned"][setup]):
            assert {
                "policies",
                "parameters",
                "mean_regret",
                "standard_error",
                "wins",
                "p_values",
            } <= set(found)
            first, second = found["policies"][:2]
            assert found["wins"][first][second] + found["wins"][second][first] <= 100
            assert found["p_values"][first][second] == found["p_values"][second][first]
        assert set(data["grid"][setup]) == {"DUCB", "SWUCB", "wSWA"}
    rows = list(csv.DictReader((folder / "table1.csv").read_text().splitlines()))
    assert len(rows) == 2 * 26
    assert (folder / "figure1.png").read_bytes().startswith(b"\x89PNG")
    assert (folder / "figure1.pdf").read_bytes().startswith(b"%PDF")
    assert len(list((folder / "results").iterdir())) == 2 * 14
    page = (folder / "report.html").read_text()
    checker = Checker()
    checker.feed(page)
    assert checker.open == []
    assert checker.fetched == []
    assert "<script" not in page
    for text in ("Figure 1", "Table 1", "Grid searches", "What differs", "How it was run"):
        assert text in page


def test_cells_know_when_they_agree() -> None:
    def cell(wins: int, paper: int, p: float, paper_p: float | None) -> tables.Cell:
        return tables.Cell("a", "b", wins, p, paper, paper_p, runs=100)

    assert cell(100, 100, 1e-9, None).wins_agree
    assert cell(98, 100, 1e-9, None).wins_agree
    assert not cell(60, 100, 1e-9, None).wins_agree
    assert cell(45, 55, 0.3, 0.8).wins_agree
    assert not cell(20, 55, 0.3, 0.8).wins_agree
    assert cell(45, 55, 0.3, 0.8).p_agrees
    assert not cell(45, 55, 0.01, 0.8).p_agrees
    assert not cell(45, 55, 1e-3, None).p_agrees


def test_what_the_notes_call_different_is_not_ticked() -> None:
    """6 of 100 against the paper's 15 is within the scatter of 200 runs; the share is 6.2 %."""
    assert tables.Cell("SWUCB", "UCB1", 6, 1e-9, 15, None, runs=100).wins_agree
    for (setup, row, column), share in tables.LONG_RUN.items():
        paper = published.WINS[setup][row][column]
        for runs in (100, 10_000):
            ours = round(share * runs)
            found = tables.Cell(row, column, ours, 1e-9, paper, None, runs, share)
            assert found.wins_agree == (setup == "anv")
    record = Path(__file__).parents[2] / "benchmarks" / "results" / "table1_million.csv"
    for line in csv.DictReader(record.read_text().splitlines()):
        pair = line["setup"], line["row"], line["column"]
        if line["version"] == "reported" and pair in tables.LONG_RUN:
            assert int(line["wins"]) / int(line["runs"]) == tables.LONG_RUN[pair]


def test_report_and_pages_say_what_the_ticks_say() -> None:
    """In AV the paper's wins of SWUCB are beyond chance, in ANV they are not."""
    from rotting.papers.levine2017.report import _long_run

    assert _long_run("av").endswith("the paper's counts are 3.6 and 6.4 standard errors away")
    assert _long_run("anv").startswith("40.1 and 41.3 % over a million")
    assert "2.0 and 1.8 standard errors" in _long_run("anv")
    pages = Path(__file__).parents[2] / "docs" / "paper"
    lines = (pages / "index.md").read_text().splitlines()
    of_swucb = {line[2:5].strip(" :"): line for line in lines if "SWUCB wins" in line}
    assert "does not reproduce" in of_swucb["AV"]
    assert "chance may explain" in of_swucb["ANV"]
    assert "does not reproduce" not in of_swucb["ANV"]
    errata = (pages / "errata.md").read_text()
    assert "3.6 and 6.4 standard errors away" in errata
    assert "2.0 and 1.8 away, which chance may explain" in errata


def test_the_published_table_is_complete() -> None:
    for setup, columns in published.WINS.items():
        names = list(levine2017.reported_policies(setup))
        pairs = {(row, column) for row, found in columns.items() for column in found}
        assert pairs == {(b, a) for k, a in enumerate(names) for b in names[k + 1 :]}
    assert sum(len(f) for columns in published.WINS.values() for f in columns.values()) == 26


def test_latex_is_balanced(full: Reproduction) -> None:
    text = tables.as_tex(full)
    assert text.count(r"\begin{tabular}") == text.count(r"\end{tabular}") == 1
    body = [line for line in text.splitlines() if line.endswith(r"\\")]
    assert len(body) == 4 + 5 + 5
    assert all(len(re.findall("&", line)) == 6 for line in body)
