"""Killed at random moments, the service keeps what it acknowledged."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from serve_kills import kill_often, restarts

STANDIN = (sys.executable, "-m", "helpers.serve.standin")


@pytest.mark.parametrize("kills", [3, pytest.param(7, marks=pytest.mark.long)])
def test_nothing_acknowledged_is_lost_or_counted_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kills: int
) -> None:
    monkeypatch.setenv("ROTTING_SERVE_COMPILED", "false")  # a start is cheaper without
    wrong, figures = kill_often(tmp_path, kills=kills, seed=0, pause=0.05)
    assert wrong == []
    assert figures["kills"] == kills
    assert figures["decisions"] > 14 * kills
    assert figures["requests unanswered at first"] > 0


def test_a_service_that_answers_before_it_commits_is_noticed(tmp_path: Path) -> None:
    wrong, _ = kill_often(tmp_path, kills=5, seed=0, command=[*STANDIN, "--broken", "lazy"])
    assert wrong


def test_restarts_are_timed(tmp_path: Path) -> None:
    found = restarts(tmp_path, events=1000, repeats=1, command=STANDIN)
    assert found["first answer with events, s"] > 0
