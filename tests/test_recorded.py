"""No decision has changed since the record was made."""

from __future__ import annotations

import json

import pytest

import recorded

RECORD = json.loads(recorded.RECORD.read_text())


PLAYS = {
    f"{name}, {what}": play
    for name, policy in recorded.examples().items()
    for what, play in recorded.recorded(policy).items()
}


@pytest.mark.parametrize("name", PLAYS)
def test_every_decision_is_the_one_on_record(name: str) -> None:
    """Pulls and online choices exactly, regrets to 1e-9."""
    policy, what = name.split(", ")
    now, then = PLAYS[name](), RECORD[policy][what]
    if isinstance(then, dict):
        assert now["pulls"] == then["pulls"]
        assert now["regret"] == pytest.approx(then["regret"], rel=1e-9, abs=1e-9)
    else:
        assert now == then


def test_every_example_is_on_record() -> None:
    named = {f"{policy}, {what}" for policy, found in RECORD.items() for what in found}
    assert named == set(PLAYS)
