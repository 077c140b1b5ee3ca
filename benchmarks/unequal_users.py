"""Logs of users who come more or less often: what a diagnosis says, and what a replay says.

    python benchmarks/unequal_users.py [--document]

Creatives are drawn at random, and nobody leaves; the joint model takes users for equally active.
Each cell is made with several seeds. The truth is the fall of the mean click rate by use, as the
share of what the same rows would have paid as first showings. A quarter of an hour on one core.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from record import put_table, record
from rotting import logs, policies

DAYS, CREATIVES = 21, 12
LEVEL_SPREAD = 0.8  # of the logarithm of a user's click rate
KINDS = ("right", "cannot tell", "wrong", "wrong interval")
ROOT = Path(__file__).parents[1]
SMALLEST = 0.1  # a fall below which a log counts as one where nothing wears out


@dataclass(frozen=True)
class Cell:
    """A kind of log.

    spread     of the logarithm of a user's visits a day
    shared     correlation of a user's click rate and activity
    wearing    how many of the twelve creatives wear out, as n^-0.25
    one_each   whether a user is shown one creative only
    weekends   whether clicks are more frequent by 17 % at weekends
    """

    name: str
    users: int
    visits: float
    spread: float
    shared: float
    wearing: int
    logs: int
    one_each: bool = False
    weekends: bool = False


# Written down before the study was run.
CELLS = (
    Cell("activity 0, seven wear out", 8_000, 1.5, 0.0, 0.0, 7, 5),
    Cell("activity 0.6, seven wear out", 8_000, 1.5, 0.6, 0.0, 7, 5),
    Cell("activity 1, seven wear out", 8_000, 1.5, 1.0, 0.0, 7, 5),
    Cell("activity 1, nothing wears out", 8_000, 1.5, 1.0, 0.0, 0, 5),
    Cell("activity 1, with the rate, seven wear out", 8_000, 1.5, 1.0, 0.8, 7, 5),
    Cell("activity 1, weekends, nothing wears out", 8_000, 1.5, 1.0, 0.0, 0, 5, weekends=True),
    Cell("one creative a user, activity 1, all wear out", 8_000, 0.5, 1.0, 0.0, 12, 20, True),
    Cell("one creative a user, activity 1, nothing wears out", 8_000, 0.5, 1.0, 0.0, 0, 20, True),
    Cell("many rows, activity 0.2, nothing wears out", 40_000, 1.5, 0.2, 0.0, 0, 4),
    Cell("many rows, activity 0.2, all wear out", 40_000, 1.5, 0.2, 0.0, 12, 4),
)


@dataclass(frozen=True)
class World:
    """What is behind a log: rates at first showings, and how each creative wears out."""

    level: Any  # by user
    creative: Any  # factor by creative
    theta: Any  # by creative


def make(cell: Cell, seed: int) -> tuple[pl.DataFrame, World, float]:
    """A log of a cell, its world, and the true fall by use."""
    generator = np.random.default_rng([seed, 31])
    z = generator.normal(size=(2, cell.users))
    z[1] = cell.shared * z[0] + np.sqrt(1.0 - cell.shared**2) * z[1]
    level = 0.045 * np.exp(LEVEL_SPREAD * z[0] - 0.5 * LEVEL_SPREAD**2)
    pace = cell.visits * np.exp(cell.spread * z[1] - 0.5 * cell.spread**2)
    creative = generator.permutation(np.linspace(1.3, 0.7, CREATIVES))
    theta = np.zeros(CREATIVES)
    theta[generator.permutation(CREATIVES)[: cell.wearing]] = 0.25
    user = np.repeat(np.arange(cell.users), generator.poisson(pace * DAYS))
    day = generator.uniform(0.0, DAYS, user.size)
    own = generator.integers(0, CREATIVES, cell.users)
    shown = own[user] if cell.one_each else generator.integers(0, CREATIVES, user.size)
    n = _numbers(user, shown, day)
    first = level[user] * creative[shown]
    if cell.weekends:
        first *= np.where(day.astype(int) % 7 >= 5, 1.17, 1.0)
    rate = np.minimum(first * n ** -theta[shown], 0.9)
    truth = 1.0 - float(rate.sum()) / float(np.minimum(first, 0.9).sum())
    clicked = (generator.random(user.size) < rate).astype(np.float64)
    order = np.argsort(day, kind="stable")
    frame = pl.DataFrame({"user": user, "creative": shown, "day": day, "clicked": clicked})
    return frame[order], World(level, creative, theta), truth


def _numbers(user: Any, shown: Any, day: Any) -> Any:
    """Which showing of its creative to its user each row is, 1 for the first."""
    order = np.lexsort((day, shown, user))
    new = np.append(True, (np.diff(user[order]) != 0) | (np.diff(shown[order]) != 0))
    starts = np.flatnonzero(new)
    found = np.empty(user.size)
    found[order] = np.arange(user.size) - np.repeat(starts, np.diff([*starts, user.size])) + 1
    return found


def verdict_is(overall: str, interval: tuple[float, float] | None, truth: float) -> str:
    """Whether a verdict is "right", "wrong", or "cannot tell"."""
    if overall == "cannot-tell":
        return "cannot tell"
    if truth < 0.005:  # nothing wears out
        return "right" if overall == "does-not-rot" else "wrong"
    if overall == "does-not-rot":
        return "wrong" if truth >= SMALLEST else "right"
    if overall != "rots":
        return "wrong"
    inside = interval is not None and interval[0] <= truth <= interval[1]
    return "right" if inside else "wrong interval"


def read(frame: pl.DataFrame) -> logs.Log:
    """The frame as a log."""
    return logs.read(frame, key="user", arm="creative", time="day", reward="clicked")


def diagnosed(cell: Cell) -> dict[str, Any]:
    """The verdicts of a cell's logs."""
    rows = []
    for seed in range(cell.logs):
        frame, _, truth = make(cell, seed)
        found = logs.diagnose(read(frame))
        cost = found["cost"].evidence
        low_high = cost.get("share_interval")
        interval = None if low_high is None else (float(low_high[0]), float(low_high[1]))
        rows.append(
            {
                "seed": seed,
                "rows": frame.height,
                "truth": truth,
                "verdict": found.overall,
                "fall": cost.get("share"),
                "interval": interval,
                "is": verdict_is(found.overall, interval, truth),
            }
        )
    counts = [row["is"] for row in rows]
    print(cell.name, {kind: counts.count(kind) for kind in KINDS}, flush=True)
    return {
        "cell": cell.name,
        "truth": float(np.mean([row["truth"] for row in rows])),
        **{kind: counts.count(kind) for kind in KINDS},
        "logs": rows,
    }


def earned(world: World, frame: pl.DataFrame, policy: Any, seed: int) -> float:
    """What a policy truly earns a decision, for the same visits."""
    player = policy.audience([str(arm) for arm in range(CREATIVES)], seed=seed, compiled=True)
    generator = np.random.default_rng([seed, 7])
    seen = np.zeros((world.level.size, CREATIVES))
    total: float = 0.0
    for user in frame["user"].to_list():
        decision = player.select(user)
        arm = int(decision.arm)
        seen[user, arm] += 1
        rate = world.level[user] * world.creative[arm]
        rate = min(rate * seen[user, arm] ** -world.theta[arm], 0.9)
        total += float(rate)
        player.update(decision, float(generator.random() < rate))
    return total / len(frame)


def replayed(seed: int, shared: float) -> dict[str, Any]:
    """Thompson sampling on a log of unequal users: truth, pooled estimate, bounds."""
    cell = Cell("", 8_000, 1.5, 1.0, shared, 7, 1)
    frame, world, _ = make(cell, seed)
    log, played = read(frame), {"Thompson": policies.Thompson()}
    pooled = logs.replay(log, played, runs=5, resamples=40, pooled=True)["Thompson"]
    bounds = logs.replay(log, played, runs=5, resamples=40, pooled=False).bounds_only()["Thompson"]
    found = {
        "seed": seed,
        "shared": shared,
        "truth": earned(world, frame, policies.Thompson(), seed),
        "pooled": pooled.reward.as_data(),
        "bounds": bounds.bounds,
    }
    print(found, flush=True)
    return found


def document() -> None:
    """Put the table into the guide."""
    found = json.loads((ROOT / "benchmarks" / "results" / "unequal_users.json").read_text())
    rows = [
        [row["cell"], f"{100 * row['truth']:.0f} %", *(str(row[kind]) for kind in KINDS)]
        for row in found["rows"]
    ]
    put_table("guides/logs.md", "unequal", ["logs", "true fall", *KINDS], rows)


def main() -> None:
    """Play the study and record it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--replays", type=int, default=5, help="logs replayed, for each kind")
    parser.add_argument("--document", action="store_true", help="only put the table into the docs")
    settings = parser.parse_args()
    if settings.document:
        document()
        return
    begin = time.perf_counter()
    cells = [diagnosed(cell) for cell in CELLS]
    replays = [replayed(s, shared) for shared in (0.0, 0.8) for s in range(settings.replays)]
    record("unequal_users", cells, replays=replays, seconds=time.perf_counter() - begin)
    document()


if __name__ == "__main__":
    main()
