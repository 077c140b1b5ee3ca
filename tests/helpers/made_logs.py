"""Logs as arrays, from frames and from curves, for tests that need no reader."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from rotting.logs._log import Log


def as_log(frame: Any, keys: bool = True) -> Log:
    """A frame with columns key, arm, time and reward as a log; without keys, of the arms alone."""
    arms, arm = np.unique(frame["arm"].to_numpy(), return_inverse=True)
    time = frame["time"].to_numpy().astype("datetime64[us]").astype(np.int64) / 86_400e6
    key = np.unique(frame["key"].to_numpy(), return_inverse=True)[1] if keys else 0 * arm
    names = tuple(str(name) for name in arms)
    return made_log(key, arm, time - time.min(), frame["reward"].to_numpy(), names, keys)


def made_log(
    key: Any, arm: Any, time: Any, reward: Any, arms: tuple[str, ...], keys: bool = True
) -> Log:
    """Columns as a log: in order, exposures counted."""
    order = np.lexsort((time, arm, key))
    key, arm, time, reward = (np.asarray(column)[order] for column in (key, arm, time, reward))
    new = np.concatenate(([True], (np.diff(key) != 0) | (np.diff(arm) != 0)))
    starts = np.flatnonzero(new)
    exposure = np.arange(len(key)) - np.repeat(starts, np.diff(np.append(starts, len(key)))) + 1
    names = ("key", "arm", "time", "reward") if keys else ("arm", "time", "reward")
    return Log(
        key=key.astype(np.int32),
        arm=arm.astype(np.int32),
        time=time.astype(np.float64),
        reward=reward.astype(np.float64),
        exposure=exposure.astype(np.int32),
        arms=arms,
        columns={name: name for name in names},
        source="a made log",
    )


def log_of_curves(
    curves: list[Callable[[Any], Any]],
    keys: int,
    exposures: int,
    *,
    sigma: float | None = None,
    spread: float = 0.5,
    seed: int = 0,
) -> Log:
    """A log in which each key sees one arm, as often as the others, and has its own factor."""
    generator = np.random.default_rng(seed)
    factors = generator.gamma(spread**-2, spread**2, keys) if spread else np.ones(keys)
    arms = np.arange(keys) % len(curves)
    n = np.arange(1, exposures + 1)
    means = factors[:, None] * np.stack([np.asarray(curve(n)) for curve in curves])[arms]
    if sigma is None:
        rewards = (generator.random(means.shape) < means).astype(np.float64)
    else:
        rewards = generator.normal(means, sigma)
    key = np.repeat(np.arange(keys), exposures)
    time = np.tile(n.astype(np.float64), keys) + generator.uniform(0.0, 0.5, keys)[key]
    names = tuple(f"arm {number}" for number in range(len(curves)))
    return made_log(key, np.repeat(arms, exposures), time, rewards.reshape(-1), names)
