"""Small logs for tests, and naive figures about them."""

from __future__ import annotations

from typing import Any

import numpy as np

from rotting.logs import Diagnosis, Log, read
from rotting.logs._diagnosis.diagnosing import diagnose_log


def table(
    seed: int = 0,
    keys: int = 12,
    most: int = 6,
    arms: int = 2,
    *,
    gaussian: bool = False,
    missing: float = 0.0,
) -> dict[str, list[Any]]:
    """Keys that are shown one or two arms, one to `most` times, each on its own days."""
    rng = np.random.default_rng(seed)
    rows = []
    for key in range(keys):
        for arm in range(arms if key % 3 == 0 else 1):
            day = rng.uniform(0.0, 20.0)
            for _ in range(int(rng.integers(1, most + 1))):
                reward: float | None = float(rng.random() < 0.4)
                if gaussian:
                    reward = float(rng.normal(3.0, 1.0))
                if rng.random() < missing:
                    reward = None
                rows.append((f"u{key}", f"a{(key + arm) % arms}", day, reward))
                day += rng.exponential(2.0)
    names = ("key", "arm", "time", "reward")
    return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))


def small(seed: int = 0, **options: Any) -> Log:
    """The same as a log."""
    return read(table(seed, **options))


def quick(source: Any, smallest: float = 0.1, **options: Any) -> Diagnosis:
    """A diagnosis without its shapes."""
    return diagnose_log(
        read(source, **options),
        smallest=smallest,
        alpha=0.05,
        seed=0,
        progress=lambda what, steps: None,
        pictures=False,
    )


def stories(log: Log) -> dict[tuple[int, int], list[int]]:
    """The rows of each key and arm in the order of time, found by looking at every row."""
    found: dict[tuple[int, int], list[int]] = {}
    for row in sorted(range(log.key.size), key=lambda row: float(log.time[row])):
        found.setdefault((int(log.key[row]), int(log.arm[row])), []).append(row)
    return found
