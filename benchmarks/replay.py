"""Nanoseconds of a replayed decision, against a simulated one of the same policy.

    python benchmarks/replay.py [--out FILE]

Ten arms, clicks of up to 10 %, one thread, 200,000 decisions for 20,000 keys (or none). The log was
made by a policy that shows any arm. A simulation plays as many decisions of as many keys, baseline
known. Of both, a figure is the time of five more runs: the loop's own time. "All of it" is a whole
`replay` with ten runs and ten resamples, made and replayed, over the decisions that it plays, and
the time of a simulation with as many. Machines are noisy: ratios mean something, single figures
little. A replay should cost at most 5 times a simulation.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from record import record
from rotting import Arm, Audience, Bernoulli, Scenario, models, policies, simulate
from rotting.logs._log import Log
from rotting.logs._replay.replay import replay
from rotting.policies import Policy

ARMS, KEYS, DECISIONS = 10, 20_000, 200_000
RUNS, MORE = 1, 5
RATES = np.linspace(0.1, 0.05, ARMS)
THETA = 0.3
FAMILY = models.Polynomial().times(0.1).over([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])


def contestants(kind: str) -> dict[str, Policy]:
    """A cheap one, parametric ones, and the recommended one."""
    if kind == "no keys":
        return {
            "UCB1": policies.UCB1(),
            "wSWA": policies.WSWA(alpha=0.2, sigma=0.3),
            "recommended": policies.recommended(),
        }
    return {
        "UCB1, keys ignored": policies.UCB1(),
        "CTO": policies.CTO(FAMILY),
        "Posterior": policies.Posterior(FAMILY, 0.2),
        "recommended": policies.recommended(audience=True, rewards="bernoulli"),
    }


def made_up(keys: int) -> Log:
    """A log of a policy that shows any arm."""
    generator = np.random.default_rng(1)
    key = generator.integers(0, keys, DECISIONS)
    arm = generator.integers(0, ARMS, DECISIONS)
    order = np.lexsort((np.arange(DECISIONS), arm, key))
    key, arm = key[order], arm[order]
    new = np.flatnonzero(np.r_[True, (np.diff(key) != 0) | (np.diff(arm) != 0)])
    nth = np.arange(DECISIONS) - np.repeat(new, np.diff(np.r_[new, DECISIONS])) + 1
    reward = (generator.random(DECISIONS) < RATES[arm] * nth**-THETA).astype(np.float64)
    columns = {"arm": "arm", "reward": "reward", "time": "time"}
    return Log(
        key=key.astype(np.int32),
        arm=arm.astype(np.int32),
        time=order.astype(np.float64),
        reward=reward,
        exposure=nth.astype(np.int32),
        arms=tuple(f"arm {number}" for number in range(ARMS)),
        columns=columns | {"key": "key"} if keys > 1 else columns,
    )


def seconds(work: Callable[[], object]) -> float:
    """The middle of three times, of the processor: others may be at work on the machine."""
    found = []
    for _ in range(3):
        begin = time.process_time()
        work()
        found.append(time.process_time() - begin)
    return sorted(found)[1]


def row(name: str, policy: Policy, kind: str, log: Log) -> dict[str, Any]:
    """One policy on one kind of tape."""
    keys = log.keys
    audience = None
    if keys > 1:
        come = np.ascontiguousarray(log.key[np.argsort(log.time)])
        audience = Audience(keys, arrivals=come)
    arms = [Arm(models.Polynomial(THETA).times(float(rate))) for rate in RATES]
    scenario = Scenario(arms, Bernoulli(), DECISIONS, audience=audience)

    def simulated(runs: int) -> Any:
        return simulate(policy, scenario, runs=runs, threads=1, checkpoints=1)

    def replayed(runs: int, resamples: int = 0) -> Any:
        pooled = None if keys == 1 else kind == "pooled"
        return replay(log, {name: policy}, runs=runs, resamples=resamples, pooled=pooled, threads=1)

    simulated(1), replayed(1)  # compiled, and the baseline known
    alone = seconds(lambda: simulated(RUNS + MORE)) - seconds(lambda: simulated(RUNS))
    again = seconds(lambda: replayed(RUNS + MORE)) - seconds(lambda: replayed(RUNS))
    # without keys the centre of the resamples is played too
    plays = 20 if keys > 1 else 30
    whole = seconds(lambda: replayed(10, 10)) / seconds(lambda: simulated(plays))
    found = replayed(1)[name]
    return {
        "kind": kind,
        "policy": name,
        "simulated_ns": round(alone / MORE / DECISIONS * 1e9, 1),
        "replayed_ns": round(again / MORE / DECISIONS * 1e9, 1),
        "ratio": round(again / alone, 2),
        "ratio_all_of_it": round(whole, 2),
        "from_the_log": round(found.coverage, 3),
    }


def main() -> None:
    """Play them all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for kind in ("no keys", "each key", "pooled"):
        log = made_up(1 if kind == "no keys" else KEYS)
        for name, policy in contestants(kind).items():
            rows.append(row(name, policy, kind, log))
            print(rows[-1], flush=True)
    table = Table(*rows[0])
    for found in rows:
        table.add_row(*(str(value) for value in found.values()))
    Console(width=140).print(table)
    if given.out:
        given.out.write_text(json.dumps(rows, indent=1))
    else:
        record("replay", rows, keys=KEYS, decisions=DECISIONS, arms=ARMS)


if __name__ == "__main__":
    main()
