"""Recorded behaviour of the library: a change of structure must leave every record as it is.

    python -m records [logs players service names ...]      from tests/, rewrites them

Each module here has `plays()`: what is played, by name; its results lie beside it as JSON. A record
changes only in a commit that says what changed, and why. `recorded.py` beside this folder is the
same for policies, simulated and played without keys.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

NAMES = ("logs", "players", "saved", "service", "names")
Plays = dict[str, Callable[[], Any]]


def file_of(name: str) -> Path:
    return Path(__file__).with_name(f"{name}.json")


def plays(name: str) -> Plays:
    found: Plays = importlib.import_module(f"records.{name}").plays()
    return found


def known(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(file_of(name).read_text(encoding="utf-8"))
    return found


def write(name: str) -> int:
    """Play everything of a module, and put it on record; how many records."""
    found = {what: play() for what, play in plays(name).items()}
    file_of(name).write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", "utf-8")
    return len(found)
