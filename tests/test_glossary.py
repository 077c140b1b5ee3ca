"""The glossary agrees with the code, and its words are in order.

That its links lead somewhere is tested with those of all pages (`test_docs`).
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import re
from pathlib import Path
from typing import Any

import pytest

from rotting.logs._diagnosis.codes import CODES
from rotting.policies import POLICIES

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "glossary.md"
# Letters that policies have as parameters; other parameters are words.
LETTERS = {"alpha", "B", "c", "delta", "gamma", "sigma", "tau", "xi"}


def rows(title: str) -> list[list[str]]:
    """The rows of the table below a title, as cells."""
    text = PAGE.read_text().split(f"## {title}\n")[1].split("\n## ")[0]
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[1:]]


def word(row: list[str]) -> str:
    """What a row is about: the first cell up to a formula, as it is read."""
    return row[0].partition(", $")[0].replace("\\", "")


LETTER_ROWS, WORD_ROWS = rows("The paper's letters"), rows("Our words")
NAMES = sorted({name for row in LETTER_ROWS + WORD_ROWS for name in re.findall("`(.+?)`", row[-1])})


def found(name: str) -> Any:
    """The thing of that name below `rotting`; of a field without a default, its annotation."""
    thing: Any = importlib.import_module("rotting")
    for part in name.split("."):
        if hasattr(thing, part):
            thing = getattr(thing, part)
        elif inspect.ismodule(thing):
            thing = importlib.import_module(f"{thing.__name__}.{part}")
        else:
            fields = {
                k: v for kind in thing.__mro__ for k, v in inspect.get_annotations(kind).items()
            }
            thing = fields[part]
    return thing


@pytest.mark.parametrize("name", NAMES)
def test_what_is_said_to_be_in_the_code_is_there(name: str) -> None:
    path, _, argument = name.removesuffix("=)").partition("(")
    thing = found(path)
    if argument:
        assert argument in inspect.signature(thing).parameters, f"{path} has no {argument}"


def test_names_that_are_not_there_would_be_noticed() -> None:
    for wrong in ("theory.bel", "Scenario.horizons", "policies.SWA.beta", "no_such_module"):
        with pytest.raises((AttributeError, ImportError, KeyError)):
            found(wrong)


@pytest.mark.parametrize("table", [LETTER_ROWS, WORD_ROWS], ids=["letters", "words"])
def test_rows_are_whole_and_in_the_order_of_the_alphabet(table: list[list[str]]) -> None:
    assert len(table) > 15
    assert {len(row) for row in table} == {len(table[0])}
    words = [re.sub(r"[^a-z]", "", word(row).lower()) for row in table]
    assert words == sorted(words)


def test_a_word_is_explained_in_one_sentence_and_leads_on() -> None:
    words = [word(row) for row in WORD_ROWS]
    assert len(set(words)) == len(words)
    for row in WORD_ROWS:
        assert row[1].endswith("."), row[0]
        assert not re.search(r"\. [A-Z]", row[1]), f"{row[0]} has more than a sentence"
        assert "](" in row[1], f"{row[0]} leads nowhere"


def test_letters_of_policies_and_verdicts_on_logs_are_there() -> None:
    letters = {word(row) for row in LETTER_ROWS}
    used = {field.name for kind in POLICIES.values() for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    assert used >= LETTERS
    assert used & LETTERS <= letters
    assert set(CODES) <= {word(row) for row in WORD_ROWS}
