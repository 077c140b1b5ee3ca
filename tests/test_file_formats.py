"""The page of file formats agrees with the code: numbers, arrays, columns, tables, keys."""

from __future__ import annotations

import inspect
import re

import pytest

from helpers.page_blocks import DOCS
from rotting import Arm, Audience, Bernoulli, Scenario, compare, models, policies, simulate
from rotting._catalogue import experiment_file
from rotting._experiments import results
from rotting._experiments.archive import FORMS
from rotting._online import save as saving
from rotting._serve import event_types, export, schema
from rotting._serve.event_types import Kind
from rotting.logs._diagnosis.codes import PARTS
from rotting.logs._diagnosis.diagnosis import Part
from rotting.logs._read import sources
from rotting.logs._read.columns import ROLES
from rotting.papers.levine2017._reproduction import MANY

PAGE = (DOCS / "reference" / "formats.md").read_text()
PLAYING = (DOCS / "guides" / "playing.md").read_text()


def section(title: str) -> str:
    """The text of a section of the page."""
    return PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def rows(text: str) -> dict[str, str]:
    """The tables of a text: what each first cell is about, and the row."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return {line.split("|")[1].strip(): line for line in lines}


def test_the_numbers_are_those_of_the_code() -> None:
    told = {name: line.split("|")[3].strip() for name, line in rows(PAGE).items()}
    assert told["saved player"].startswith(f"{saving.FORMAT}, since")
    assert told["result, `.npz`"] == str(results._FORMAT)
    assert told["database of the service"] == str(schema.VERSION)
    assert f"Format {saving.FORMAT} is today's" in PLAYING
    assert f"{schema.APPLICATION:#x}"[2:].upper() in PAGE
    assert f"Above {MANY:,} runs" in PAGE


def test_tables_and_events_of_the_database() -> None:
    """Each table with its columns, each kind of event with its number and what is in its body."""
    told = rows(section("The service"))
    for sql in (sql for step in schema.MIGRATIONS for sql in step if "CREATE TABLE" in sql):
        for column in re.findall(r"(\w+) (?:INTEGER|TEXT|REAL|BLOB)", sql):
            assert column == "beat" or f"`{column}`" in told[f"`{sql.split()[2]}`"], sql
    kinds = {number: line for name, line in told.items() for number in name.split(", ")}
    for kind in Kind:
        line = kinds[str(int(kind))]
        assert f"`{kind.name.lower()}`" in line
        for field in event_types.BODIES[kind].__struct_fields__:
            assert f"`{field}`" in line, f"{kind.name} has {field}"


def provenance() -> set[str]:
    """The keys of a result's, with all that may be there."""
    fixed = [Arm(models.Constant(0.5)), Arm(models.Constant(0.2))]
    crowd = Scenario(fixed, Bernoulli(), 5, openings={1: (1, 3)}, audience=Audience(2))
    found = simulate(policies.UCB1(), crowd, runs=1, engine="reference").provenance
    return {"gpu_seconds", *found}


def comparison() -> set[str]:
    """The keys of comparison.json."""
    scenario = Scenario([Arm(models.Constant(0.5))], Bernoulli(), 2)
    played = [policies.UCB1(), policies.Uniform()]
    found = compare(played, scenario, runs=1, engine="reference", against="UCB1")
    return {"files", *found.summary(), *found.provenance, *found.rows()[0]}


KEYS = re.findall(r'keys.only\(("\w+".*)\)', inspect.getsource(experiment_file))
NAMED: dict[str, set[str]] = {
    "Saved players": {"checksum", "format", "rotting", *saving.Saved._fields, *saving.LEDGER},
    "Results": {"about", *FORMS, *provenance()},
    "Folders": {*comparison(), *PARTS, *Part.__dataclass_fields__, ".rotting.json"},
    "Experiment files": {name for line in KEYS for name in re.findall(r'"(\w+)"', line)},
    "Logs": {*sources._SUFFIXES, *(f"--{role}" for role in ROLES)},
    "The service": {*export.COLUMNS},
}


@pytest.mark.parametrize("title", NAMED)
def test_what_there_is_stands_on_the_page(title: str) -> None:
    text = section(title)
    missing = [name for name in NAMED[title] if not re.search(rf"`\[*{re.escape(name)}\]*`", text)]
    assert not missing
