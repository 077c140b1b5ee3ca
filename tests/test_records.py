"""Nothing on record has changed: see `records`."""

from __future__ import annotations

import math
from typing import Any

import pytest

from records import NAMES, decisions, file_of, known, plays
from rotting._provenance import PLAYS

PLAYED = {(name, what): play for name in NAMES for what, play in plays(name).items()}
KNOWN = {name: known(name) for name in NAMES}


def differences(now: Any, then: Any, where: str = "") -> list[str]:
    """Where two values differ; numbers may by rounding."""
    if isinstance(then, dict) and isinstance(now, dict):
        names = [*then, *(name for name in now if name not in then)]
        gone = object()
        pairs = [(name, now.get(name, gone), then.get(name, gone)) for name in names]
        return [
            line
            for name, a, b in pairs
            for line in (
                [f"{where}.{name}: there before or now only"]
                if gone in (a, b)
                else differences(a, b, f"{where}.{name}")
            )
        ]
    if isinstance(then, list) and isinstance(now, list) and len(then) == len(now):
        pairs = [(f"[{k}]", a, b) for k, (a, b) in enumerate(zip(now, then, strict=True))]
        return [line for at, a, b in pairs for line in differences(a, b, where + at)]
    numbers = isinstance(then, float) and isinstance(now, float | int)
    if numbers and math.isclose(now, then, rel_tol=1e-6, abs_tol=1e-9):
        return []
    return [] if now == then else [f"{where}: {now!r}, on record {then!r}"]


# These take seconds each, and others are like them.
LONG = {
    ("logs", "propensities, replay"),
    ("logs", "rotting clicks, replay"),
    ("players", "audience of fatigue gaussian, control"),
    ("players", "audience of fatigue gaussian, window"),
}


@pytest.mark.parametrize(
    ("name", "what"),
    [pytest.param(*place, marks=[pytest.mark.long] if place in LONG else []) for place in PLAYED],
    ids=lambda value: str(value),
)
def test_it_is_as_on_record(name: str, what: str) -> None:
    assert differences(PLAYED[name, what](), KNOWN[name][what]) == []


def test_what_is_long_is_played() -> None:
    assert set(PLAYED) >= LONG


@pytest.mark.parametrize("name", NAMES)
def test_everything_is_on_record(name: str) -> None:
    assert set(KNOWN[name]) == {what for module, what in PLAYED if module == name}


def test_other_decisions_have_another_number() -> None:
    """`python -m records.decisions`, from tests/, writes them, if PLAYS was raised."""
    before, now = known("decisions"), decisions.decisions()
    assert before["plays"] == PLAYS
    assert decisions.changed(before["decisions"], now) == []
    assert set(before["decisions"]) == set(now)


def test_a_changed_decision_needs_another_number(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    path = tmp_path / "decisions.json"
    path.write_text(file_of("decisions").read_text())
    monkeypatch.setattr(decisions, "file_of", lambda name: path)
    first = next(iter(known("decisions")["decisions"]))
    monkeypatch.setattr(decisions, "decisions", lambda: {first: "another"})
    with pytest.raises(ValueError, match=r"PLAYS in _provenance\.py must be more than"):
        decisions.write()
    monkeypatch.setattr(decisions, "PLAYS", PLAYS + 1)
    decisions.write()
    assert f'"plays": {PLAYS + 1}' in path.read_text()


def test_a_difference_is_seen() -> None:
    then = {"a": [1, 2.0, {"b": "x"}], "c": None}
    assert differences(then, then) == []
    assert differences({**then, "a": [1, 2.0 + 1e-9, {"b": "x"}]}, then) == []
    assert differences({**then, "a": [1, 2.1, {"b": "x"}]}, then) == [".a[1]: 2.1, on record 2.0"]
    assert len(differences({"a": [1]}, then)) == 2
