"""Replay by time: only rows count in which a policy chooses what was shown."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from rotting._numbers import percent
from rotting.logs._log import Log
from rotting.logs._replay import sentences
from rotting.logs._replay.estimates import Estimate, around
from rotting.logs._replay.propensities import EVERYWHERE, Followed, rows_in_time
from rotting.logs._replay.result import LOGGED, Difference, Earned, Replay
from rotting.logs._replay.runner import Replayer
from rotting.policies._base import Policy

RANDOM = (
    "The log is taken to have chosen at random, every arm with the same chance: rows that a "
    "policy agrees with are then like rows of its own."
)
WEIGHED = (
    "The log is taken to have chosen with the propensities that it names; "
    "rows are weighted by them."
)


def replay_by_time(
    log: Log,
    policies: Mapping[str, Policy],
    horizon: int,
    seed: int,
    runs: int,
    level: float,
    compiled: bool,
) -> Replay:
    """The mean reward of policies over the rows in which they agree with the log."""
    rows = rows_in_time(log, horizon)
    keyed = log.has_keys and log.keys > 1
    found: dict[str, Followed] = {}
    for name, policy in policies.items():
        player = Replayer(
            policy,
            len(log.arms),
            log.keys,
            horizon=horizon,
            most=rows.size,
            seed=seed,
            keyed=keyed,
            compiled=compiled,
        )
        found[name] = Followed(log, rows, player.follow, runs)
    rewards = log.reward[rows]
    any_of = next(iter(found.values()))
    logged = float(rewards.mean())
    moves = {LOGGED: (logged, (rewards - logged) / rewards.size)}
    moves |= {name: followed.ratio() for name, followed in found.items()}

    def estimate(mean: float, moved: np.ndarray) -> Estimate:
        return around(mean, any_of.error(moved), level, EVERYWHERE)

    earned = tuple(
        Earned(
            name=name,
            label=policies[name].label,
            reward=estimate(*moves[name]),
            replayed=moves[name][0],
            bounds=None,
            outer=None,
            coverage=followed.kept,
            exact=False,
            shares=dict(zip(log.arms, map(float, followed.shares), strict=True)),
            weighed=None if log.propensity is None else followed.weigh(level, math.nan),
            resampled=np.zeros(0),
            sentence=f"{percent(followed.kept)} of the rows were kept, those in which it "
            "chooses what was shown: the mean of its first decisions, if the log chose at random.",
        )
        for name, followed in found.items()
    )
    order = sorted(earned, key=lambda each: -each.reward.mean)
    pairs = [(order[0].name, order[1].name)] if len(order) > 1 else []
    pairs += [(each.name, LOGGED) for each in order]
    differences = tuple(
        Difference(a, b, estimate(moves[a][0] - moves[b][0], moves[a][1] - moves[b][1]))
        for a, b in pairs
    )
    return Replay(
        kind="by-time",
        policies=earned,
        logged=estimate(*moves[LOGGED]),
        differences=differences,
        recommendation=sentences.recommendation(earned, differences),
        intervals=f"{100.0 * level:g} % intervals from the scatter of "
        f"{'keys' if log.has_keys else 'rows'}.",
        beyond="",
        assumptions=(RANDOM if log.propensity is None else WEIGHED,),
        settings={"horizon": horizon, "runs": runs, "resamples": 0, "level": level, "seed": seed},
    )
