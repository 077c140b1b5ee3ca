"""Tables in terminals of any width."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from rotting._cli import console
from rotting._table import Table


@pytest.mark.parametrize("columns", [30, 60, 80])
def test_no_number_loses_its_end(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table that is too wide for its terminal is printed whole."""
    written = io.StringIO()
    monkeypatch.setattr(console, "out", Console(file=written, width=columns))
    numbers = [f"{n}.12345678" for n in range(9)]
    console.table(Table(["policy", *(f"mean of {n}" for n in range(9))], [["UCB1", *numbers]]))
    assert all(number in written.getvalue() for number in ("UCB1", *numbers))
