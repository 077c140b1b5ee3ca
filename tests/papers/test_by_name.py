"""docs/paper/by-name.md has every statement of the paper, and all that it names is there."""

from __future__ import annotations

import csv
import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import rotting

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "paper" / "by-name.md").read_text(encoding="utf-8")
# numbers and labels of the paper's LaTeX, in the order of the kinds
STATEMENTS = Path(__file__).with_name("levine2017_statements.csv")


class Row(NamedTuple):
    """A line of the page's tables."""

    statement: str
    label: str
    here: str
    test: str
    reading: str


def rows() -> list[Row]:
    lines = re.findall(r"^\| ((?:Eq\.|[A-Z][a-z]+) [\d.]+ \|.*) \|$", PAGE, re.MULTILINE)
    return [Row(*(cell.strip() for cell in line.split(" | "))) for line in lines]


def test_every_statement_is_there_once_with_its_label() -> None:
    with STATEMENTS.open(newline="") as file:
        known = {row["statement"]: row["label"] for row in csv.DictReader(file)}
    found = rows()
    assert sorted(row.statement for row in found) == sorted(known)
    for row in found:
        assert row.label.strip("`") == known[row.statement], row
    assert sum(name.startswith("Eq. ") for name in known) == 63


def named(text: str) -> Iterator[str]:
    return (name for name in re.findall(r"`([^`]+)`", text))


def resolved(name: str) -> object:
    """What a dotted name below `rotting` stands for; a module is imported."""
    thing: object = rotting
    place = "rotting"
    for part in name.removeprefix("rotting.").split("."):
        place += f".{part}"
        thing = getattr(thing, part) if hasattr(thing, part) else importlib.import_module(place)
    return thing


def test_functions_are_there() -> None:
    for row in rows():
        names = [name for name in named(row.here) if not name.startswith("rotting reproduce")]
        assert names or row.here == "a step of a proof"
        for name in names:
            # fields of a result without a default are not attributes of its class
            owner, _, last = name.rpartition(".")
            known = getattr(resolved(owner), "__dataclass_fields__", {})
            assert last in known or resolved(name) is not None, name


def test_each_has_a_test_and_steps_of_proofs_are_named_in_theirs() -> None:
    proofs = (ROOT / "tests" / "theory" / "test_proofs.py").read_text()
    tested = {
        str(number)
        for first, second in re.findall(r"def test_equations?_(\d+)(?:_(?:and|to)_(\d+))?", proofs)
        for number in range(int(first), int(second or first) + 1)
    }
    for row in rows():
        files = list(named(row.test))
        assert files, row
        for file in files:
            assert (ROOT / file).is_file(), file
        if row.here == "a step of a proof":
            assert row.statement.removeprefix("Eq. ") in tested, row
