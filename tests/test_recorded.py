"""No decision has changed since the record was made."""

from __future__ import annotations

import json

import pytest

import recorded

RECORD = json.loads(recorded.RECORD.read_text())


@pytest.mark.parametrize("name", recorded.examples())
def test_every_decision_is_the_one_on_record(name: str) -> None:
    """Pulls and online choices exactly, regrets to 1e-9."""
    policy = recorded.examples()[name]
    now, then = recorded.recorded(policy), RECORD[name]
    assert now.keys() == then.keys()
    for what, value in then.items():
        if isinstance(value, dict):
            assert now[what]["pulls"] == value["pulls"], what
            assert now[what]["regret"] == pytest.approx(value["regret"], rel=1e-9, abs=1e-9), what
        else:
            assert now[what] == value, what


def test_every_example_is_on_record() -> None:
    assert set(RECORD) == set(recorded.examples())
