"""The tables of a comparison: the same figures as CSV and as LaTeX."""

from __future__ import annotations

import csv
import io

import pytest

from helpers.cases import scenarios
from rotting import compare, policies
from rotting._show.comparison import as_csv, as_tex
from rotting._table import escaped_tex

SCENARIO = scenarios()["constants"]
PLAYED = {"UCB1": policies.UCB1(), "a_b & 5 %": policies.Uniform()}


@pytest.mark.parametrize("against", [None, "UCB1"])
def test_tables(against: str | None) -> None:
    found = compare(PLAYED, SCENARIO, runs=4, engine="reference", against=against)
    rows = list(csv.DictReader(io.StringIO(as_csv(found))))
    assert [row["policy"] for row in rows] == list(PLAYED)
    for row, expected in zip(rows, found.rows(), strict=True):
        assert float(row["mean_regret"]) == expected["mean_regret"]
        assert float(row["worst_run"]) == expected["worst_run"]
    tex = as_tex(found)
    body = [line for line in tex.splitlines() if line.endswith(r"\\")]
    assert body[1].startswith(r"a\_b \& 5 \% & $")
    assert len({line.replace(r"\&", "").count("&") for line in body}) == 1
    assert f"seed 0, noise independent, engine {found.provenance['engine']}" in tex
    assert tex.endswith("\\hline\n\\end{tabular}\n")
    assert ("Differences are those to UCB1" in tex) == (against is not None)
    if against:
        assert rows[0]["difference"] == ""  # it is not compared with itself
        assert float(rows[1]["difference"]) == found.differences["a_b & 5 %"].mean


def test_a_single_run_has_no_interval() -> None:
    found = compare(PLAYED, SCENARIO, runs=1, engine="reference", against="UCB1")
    assert " & -- & " in as_tex(found)
    assert "nan" not in as_csv(found) + as_tex(found)


def test_what_latex_takes_for_signs() -> None:
    assert escaped_tex("a\\b{c}^2~<1") == (
        r"a\textbackslash{}b\{c\}\textasciicircum{}2\textasciitilde{}$<$1"
    )
