"""How often the 95 % interval of a replay covers what a policy truly earns.

    python benchmarks/replay_coverage.py [--logs 1000] [--kind KIND ...] [--out FILE]

A thousand made-up logs of each kind, half of them rested (n^-0.3), half stationary:

    pooled   120 keys that were shown one of three arms, up to 8 times (`logs.synthetic`)
    audience the same with the policy that is recommended for audiences; it is slow: 300 logs
    each     60 keys that were shown three arms 8 times each, of whose decisions the first third is
             played: every tape is long enough, so that the replay is exact
    plain    600 rows without keys, of which as many are played as the shortest tape has: exact
    beyond   the same, but all 600 are played: tapes end, and levels are carried on, so that nothing
             is claimed; 300 logs

The truth is what the policy earns in a simulation of the true curves with the same arrivals, 100
runs of `rotting.simulate`. Keys differ: their rates come from a Beta(2, 6) distribution; in the
simulation a key's factor is uniform from 0 to 2, of the same mean and variance. The interval should
cover the truth in 93 to 97 % of the logs; the standard error of a share is 0.7 %.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

from record import record
from rotting import Arm, Audience, Bernoulli, Scenario, models, policies, simulate
from rotting.kernel.arrays import FloatArray
from rotting.logs._log import Log
from rotting.logs._replay.replay import replay
from rotting.logs._synthetic import synthetic
from rotting.policies import Policy

KINDS = ("pooled", "audience", "each", "plain", "beyond")
TRUTHS = {"rested": 0.3, "constant": 0.0}
RATE = 0.25  # the mean of Beta(2, 6)
LEVELS = (1.0, 0.85, 0.7)
ROWS = 600
TRUE_RUNS = 100


class Case(NamedTuple):
    """A log, how many decisions are played, and for whom."""

    log: Log
    horizon: int
    audience: Audience | None


def log_of(
    key: Any, arm: Any, when: FloatArray, reward: FloatArray, keyed: bool, arms: int = 3
) -> Log:
    """The rows, in any order, as a log."""
    order = np.lexsort((when, arm, key))
    key, arm = key[order].astype(np.int32), arm[order].astype(np.int32)
    new = np.flatnonzero(np.r_[True, (np.diff(key) != 0) | (np.diff(arm) != 0)])
    nth = np.arange(key.size) - np.repeat(new, np.diff(np.r_[new, key.size])) + 1
    columns = {"arm": "arm", "time": "time", "reward": "reward"}
    return Log(
        key=key,
        arm=arm,
        time=when[order],
        reward=reward[order],
        exposure=nth.astype(np.int32),
        arms=tuple(f"arm {number}" for number in range(arms)),
        columns=columns | {"key": "key"} if keyed else columns,
    )


def made_up(truth: str, keys: int, arms_per_key: int, seed: int) -> Log:
    """A log of `logs.synthetic`."""
    found = synthetic(truth, keys=keys, exposures=8, arms_per_key=arms_per_key, seed=seed)
    key = np.unique(found["key"].to_numpy(), return_inverse=True)[1]
    arm = np.array([int(name.split()[1]) for name in found["arm"].to_list()])
    days = found["time"].to_numpy().astype("datetime64[us]").astype(np.int64) / 86_400e6
    return log_of(key, arm, days - days.min(), found["reward"].to_numpy(), keyed=True)


def without_keys(theta: float, seed: int) -> Log:
    """Rows that were shown any arm, each arm used up for everybody."""
    generator = np.random.default_rng([7, seed])
    arm = generator.integers(0, len(LEVELS), ROWS)
    nth = np.zeros(ROWS)
    for place in range(len(LEVELS)):
        nth[arm == place] = 1.0 + np.arange(np.count_nonzero(arm == place))
    means = 2.0 * RATE * np.array(LEVELS)[arm] * nth**-theta
    reward = (generator.random(ROWS) < means).astype(np.float64)
    return log_of(np.zeros(ROWS, dtype=int), arm, np.arange(float(ROWS)), reward, keyed=False)


def case_of(kind: str, truth: str, seed: int) -> Case:
    """One log."""
    if kind in ("plain", "beyond"):
        log = without_keys(TRUTHS[truth], seed)
        shortest = int(np.bincount(log.arm).min())
        return Case(log, shortest if kind == "plain" else ROWS, None)
    log = made_up(truth, *((60, 3) if kind == "each" else (120, 1)), seed)
    horizon = log.key.size
    if kind == "each":
        log, horizon = first_visits(log)
    order = np.argsort(log.time, kind="stable")
    audience = Audience(log.keys, arrivals=log.key[order][:horizon], factors=(0.0, 2.0))
    return Case(log, horizon, audience)


def first_visits(log: Log) -> tuple[Log, int]:
    """Each key's decisions up to its shortest tape come first, so that no tape can end."""
    shape = (log.keys, len(log.arms))
    tapes = np.zeros(shape, dtype=int)
    np.maximum.at(tapes, (log.key, log.arm), log.exposure)
    shortest = tapes.min(axis=1)
    order = np.argsort(log.time, kind="stable")
    nth = np.zeros(log.key.size, dtype=int)
    seen = np.zeros(log.keys, dtype=int)
    for row in order:
        nth[row] = seen[log.key[row]]
        seen[log.key[row]] += 1
    first = nth < shortest[log.key]
    when = np.where(first, log.time, 1000.0 + log.time)
    # the order inside a story stays as it was: its first rows come first
    whole = log_of(log.key, log.arm, when, log.reward, keyed=True)
    return whole, int(first.sum())


def contestants(kind: str) -> dict[str, Policy]:
    """One that is made for the case and cheap, and UCB1, which ignores keys."""
    if kind in ("plain", "beyond"):
        return {"SteadyUCB": policies.recommended(), "UCB1": policies.UCB1()}
    if kind == "audience":
        return {"recommended": policies.recommended(audience=True, rewards="bernoulli")}
    return {"CellUCB": policies.CellUCB(0.4), "UCB1": policies.UCB1()}


def true_mean(policy: Policy, truth: str, case: Case, seed: int) -> float:
    """What the policy earns a decision, by simulation."""
    rate = RATE if case.audience is not None else 2.0 * RATE
    arms = [Arm(models.Polynomial(TRUTHS[truth]).times(rate * level)) for level in LEVELS]
    scenario = Scenario(arms, Bernoulli(), case.horizon, audience=case.audience)
    found = simulate(
        policy, scenario, runs=TRUE_RUNS, seed=seed + 1_000_000, threads=1, checkpoints=1
    )
    return float(found.total_reward.mean()) / case.horizon


def study(kind: str, truth: str, logs: int) -> list[dict[str, Any]]:
    """Rows of the table: one for each policy."""
    names = list(contestants(kind))
    off: dict[str, list[tuple[float, float, float, float, bool]]] = {name: [] for name in names}
    for seed in range(logs):
        case = case_of(kind, truth, seed)
        pooled = {"pooled": True, "audience": True, "each": False}.get(kind)
        found = replay(
            case.log,
            contestants(kind),
            horizon=case.horizon,
            seed=seed,
            pooled=pooled,
            threads=1,
        )
        for name, policy in contestants(kind).items():
            true = true_mean(policy, truth, case, seed)
            one = found[name]
            assert one.outer is not None
            inside = one.outer[0] <= true <= one.outer[1]
            off[name].append(
                (
                    one.reward.mean - true,
                    one.reward.error,
                    one.coverage,
                    one.replayed - true,
                    inside,
                )
            )
    rows = []
    for name in names:
        table = np.array(off[name], dtype=np.float64)
        z = table[:, 0] / table[:, 1]
        rows.append(
            {
                "kind": kind,
                "truth": truth,
                "policy": name,
                "logs": logs,
                "covered": round(float(np.mean(np.abs(z) <= 1.959964)), 4),
                "too_low": round(float(np.mean(z < -1.959964)), 4),
                "too_high": round(float(np.mean(z > 1.959964)), 4),
                "bias": round(float(table[:, 0].mean()), 5),
                "bias_uncorrected": round(float(table[:, 3].mean()), 5),
                "scatter": round(float(table[:, 0].std()), 5),
                "error": round(float(np.sqrt(np.mean(table[:, 1] ** 2))), 5),
                "from_the_log": round(float(table[:, 2].mean()), 4),
                "bounds_covered": round(float(table[:, 4].mean()), 4),
            }
        )
    return rows


def main() -> None:
    """Play them all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--logs", type=int, default=1000, help="of each kind")
    parser.add_argument("--kind", nargs="+", choices=KINDS, default=KINDS)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    rows: list[dict[str, Any]] = []
    started = time.perf_counter()
    for kind in given.kind:
        for truth in TRUTHS:
            share = {"audience": 0.3, "beyond": 0.3}.get(kind, 1.0)
            rows += study(kind, truth, max(1, int(given.logs * share) // len(TRUTHS)))
            print(kind, truth, f"{time.perf_counter() - started:.0f} s", flush=True)
    table = Table(*rows[0])
    for row in rows:
        table.add_row(*(str(value) for value in row.values()))
    Console(width=160).print(table)
    if given.out:
        given.out.write_text(json.dumps(rows, indent=1))
    else:
        record("replay_coverage", rows, logs=given.logs, runs=50, resamples=200)


if __name__ == "__main__":
    main()
