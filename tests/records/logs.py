"""Diagnoses, fits and replays of eight made-up logs, by the commands, as `--json` prints them."""

from __future__ import annotations

import csv
import functools
import json
import math
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from typer.testing import CliRunner

from records import Plays
from rotting._cli import app

Row = dict[str, Any]
Random = np.random.Generator
TIMES = ("seconds", "took", "version", "versions", "created", "source", "command")


def stories(
    random: Random,
    keys: int,
    most: int,
    mean: Callable[[int, int, float], float],
    *,
    amounts: bool = False,
    activity: float = 0.0,
) -> Iterator[Row]:
    """Keys that see one or two of three arms, up to `most` times each, over forty days."""
    for key in range(keys):
        level = float(random.gamma(4.0, 0.25))
        often = float(np.exp(activity * random.normal()))
        for arm in random.choice(3, size=1 + key % 2, replace=False):
            day = float(random.uniform(0.0, 20.0))
            for n in range(
                1, 1 + max(1, min(4 * most, round(often * random.integers(1, most + 1))))
            ):
                value = mean(int(arm), n, day) * level
                reward = float(random.normal(value, 0.5 * value + 0.1)) if amounts else None
                if reward is None:
                    reward = float(random.random() < min(value, 0.95))
                yield {"key": f"u{key}", "arm": "ABC"[arm], "time": round(day, 3), "reward": reward}
                day += float(random.exponential(1.5 / often))


def falling(arm: int, n: int, day: float) -> float:
    return (0.4, 0.3, 0.2)[arm] * math.pow(n, -(0.5, 0.3, 0.1)[arm])


def steady(arm: int, n: int, day: float) -> float:
    return (0.3, 0.2, 0.1)[arm]


def by_calendar(arm: int, n: int, day: float) -> float:
    return (0.4, 0.3, 0.2)[arm] * (1.0 - day / 50.0)


def without_keys(random: Random) -> Iterator[Row]:
    for n in range(1, 601):
        for arm in range(3):
            chance = falling(arm, n, 0.0)
            reward = float(random.random() < chance)
            yield {"arm": "ABC"[arm], "time": n * 0.05, "reward": reward}


def with_propensities(random: Random) -> Iterator[Row]:
    """Half of the arms drawn again at every row; a tenth of the rewards is unknown."""
    for row in stories(random, 400, 6, falling):
        known = random.random() < 0.9
        yield {**row, "propensity": 1 / 3, "reward": row["reward"] if known else None}


def heavy(random: Random) -> Iterator[Row]:
    for row in stories(random, 300, 5, falling):
        amount = float(np.exp(random.normal(1.0, 1.5))) if row["reward"] else 0.0
        yield {**row, "reward": round(amount, 2)}


LOGS: dict[str, Callable[[Random], Iterator[Row]]] = {
    "rotting clicks": lambda random: stories(random, 500, 8, falling),
    "steady clicks": lambda random: stories(random, 500, 8, steady),
    "unequal users": lambda random: stories(random, 400, 5, falling, activity=1.0),
    "amounts": lambda random: stories(random, 400, 6, falling, amounts=True),
    "calendar": lambda random: stories(random, 500, 6, by_calendar),
    "without keys": without_keys,
    "propensities": with_propensities,
    "heavy tails": heavy,
}
COMMANDS = {
    "diagnose": ("diagnose",),
    "fit": ("fit",),
    "replay": ("replay", "recommended", "ucb1", "uniform", "--runs", "5", "--resamples", "40"),
}


def table(name: str, folder: Path) -> Path:
    """The log as a file."""
    random = np.random.default_rng(list(LOGS).index(name))
    rows = list(LOGS[name](random))
    path = folder / "log.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def without_times(value: Any) -> Any:
    """What does not depend on where and how fast it was found."""
    if isinstance(value, dict):
        return {k: without_times(v) for k, v in value.items() if k not in TIMES}
    if isinstance(value, list):
        return [without_times(item) for item in value]
    return float(f"{value:.9g}") if isinstance(value, float) else value


def said(name: str, command: str) -> Any:
    """What a command prints of a log, or why it refuses."""
    with tempfile.TemporaryDirectory() as folder:
        verb, *more = COMMANDS[command]
        path = str(table(name, Path(folder)))
        done = CliRunner().invoke(app, [verb, path, *more, "--json"])
        if done.exit_code:
            return {"refused": done.stderr.strip().replace(path, "log.csv")}
        return without_times(json.loads(done.stdout.replace(path, "log.csv")))


def plays() -> Plays:
    return {
        f"{name}, {command}": functools.partial(said, name, command)
        for name in LOGS
        for command in COMMANDS
    }
