"""Logs made from rows, in any order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rotting.logs._log import Log


def log_of(
    key: Any,
    arm: Any,
    reward: Any,
    *,
    time: Any = None,
    arms: int | None = None,
    keyed: bool = True,
    propensity: Any = None,
) -> Log:
    """Rows in the order of time, unless times are given; exposures are counted."""
    keys, places = np.asarray(key), np.asarray(arm)
    when = np.arange(float(keys.size)) if time is None else np.asarray(time, dtype=np.float64)
    order = np.lexsort((when, places, keys))
    counts: dict[tuple[int, int], int] = {}
    nth = []
    for row in order:
        story = int(keys[row]), int(places[row])
        counts[story] = counts.get(story, 0) + 1
        nth.append(counts[story])
    many = int(places.max()) + 1 if arms is None else arms
    columns = {"arm": "arm", "reward": "reward", "time": "time"}
    chances = None if propensity is None else np.asarray(propensity, dtype=np.float64)[order]
    return Log(
        key=keys[order].astype(np.int32),
        arm=places[order].astype(np.int32),
        time=when[order],
        reward=np.asarray(reward, dtype=np.float64)[order],
        exposure=np.array(nth, dtype=np.int32),
        arms=tuple(f"arm {place}" for place in range(many)),
        propensity=chances,
        columns=columns | {"key": "key"} if keyed else columns,
    )


def without_keys(tapes: Sequence[Sequence[float]], seed: int = 0) -> Log:
    """Tapes of arms without keys, shown in an order drawn at random."""
    arm = np.repeat(np.arange(len(tapes)), [len(tape) for tape in tapes])
    arm = np.random.default_rng(seed).permutation(arm)
    left = [iter(tape) for tape in tapes]
    rewards = [next(left[place]) for place in arm]
    return log_of(np.zeros(arm.size, dtype=int), arm, rewards, arms=len(tapes), keyed=False)


def random_log(
    means: Any,
    rows: int,
    seed: int,
    chances: Sequence[float] | None = None,
    gaussian: bool = False,
    keys: int = 0,
) -> Log:
    """Rows whose arm is drawn, with rewards around means [arm, exposure - 1]; the last goes on."""
    generator = np.random.default_rng(seed)
    curves = np.asarray(means, dtype=np.float64)
    share = np.full(len(curves), 1.0 / len(curves)) if chances is None else np.asarray(chances)
    arm = generator.choice(len(curves), rows, p=share)
    key = generator.integers(0, keys, rows) if keys else np.zeros(rows, dtype=int)
    counts: dict[tuple[int, int], int] = {}
    reward = np.zeros(rows)
    for row in range(rows):
        story = int(key[row]), int(arm[row])
        nth = counts.get(story, 0)
        counts[story] = nth + 1
        mean = curves[story[1], min(nth, curves.shape[1] - 1)]
        reward[row] = generator.normal(mean, 0.3) if gaussian else generator.random() < mean
    _, key = np.unique(key, return_inverse=True)
    propensity = None if chances is None else share[arm]
    return log_of(key, arm, reward, arms=len(curves), keyed=keys > 0, propensity=propensity)
