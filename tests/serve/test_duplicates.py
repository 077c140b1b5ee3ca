"""Requests that are repeated, many at a time, count once."""

from __future__ import annotations

import sys
from pathlib import Path

from serve_duplicates import repeat


def test_each_counts_once(tmp_path: Path) -> None:
    wrong, figures = repeat(tmp_path, items=2000, seed=0)
    assert wrong == []
    assert figures["items"] == 2000


def test_a_service_that_forgets_its_rewards_is_noticed(tmp_path: Path) -> None:
    command = (sys.executable, "-m", "helpers.serve.standin", "--broken", "twice")
    wrong, _ = repeat(tmp_path, items=400, seed=0, command=command)
    assert wrong
