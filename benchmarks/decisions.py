"""What one decision costs, as a multiple of NumPy drawing one standard normal.

    python benchmarks/decisions.py          (make bench)

For each policy: the wall time of simulate(runs=60, threads=1) at T = 30,000 after a warm-up, with
tables, and with what pi_max collects as the warm-up left it (it is worked out once for all policies
on the same runs), over the time NumPy takes for as many standard normals. The two are measured in
turn, in one process, and the least of nine rounds of each is compared: on a shared machine the
least is what the code costs, the rest is the neighbours.

SteadyUCB, the policy that is recommended, is compared with UCB1 instead: six times its time.
"""

from __future__ import annotations

import dataclasses
import sys
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import rotting
from record import record, seconds
from rotting import Scenario, policies
from rotting.bandits import RandomArms
from rotting.papers import levine2017

RUNS = 60
ROUNDS = 9


def cases() -> list[tuple[policies.Policy, Scenario, float]]:
    """Policy, scenario and the ratio that must not be exceeded."""
    two = RandomArms(levine2017.FAMILY, count=2)
    biased = RandomArms(levine2017.FAMILY, count=2, constants=(0.0, 0.5))
    av, anv = levine2017.av(), levine2017.anv()
    vanishing = [levine2017.non_parametric(), dataclasses.replace(av, arms=two), av]
    constants = [dataclasses.replace(anv, arms=biased), anv]
    sigma = levine2017.SIGMA
    found: list[tuple[policies.Policy, Scenario, float]] = []
    for policy in (policies.UCB1(), policies.SWA(0.2, sigma), policies.WSWA(0.2, sigma)):
        found += [(policy, scenario, 2.5) for scenario in vanishing]
    found += [(policies.CTO(levine2017.FAMILY), scenario, 2.5) for scenario in vanishing[1:]]
    found += [(policies.DCTO(levine2017.FAMILY, sigma), scenario, 3.5) for scenario in constants]
    posterior = policies.Posterior(levine2017.FAMILY, sigma)
    found += [(posterior, scenario, 3.5) for scenario in vanishing[1:]]
    return [*found, (policies.SteadyUCB(sigma), av, 6.0)]


def nanoseconds(policy: policies.Policy, scenario: Scenario) -> tuple[float, float]:
    """What a decision takes, and what it is compared with: a normal of NumPy's, or UCB1's decision.

    SteadyUCB, the policy that is recommended, is measured against UCB1.
    """
    decisions = RUNS * scenario.horizon
    rng = np.random.default_rng(0)

    def simulate() -> object:
        return rotting.simulate(policy, scenario, runs=RUNS, threads=1)

    def other() -> object:
        if isinstance(policy, policies.SteadyUCB):
            return rotting.simulate(policies.UCB1(), scenario, runs=RUNS, threads=1)
        return rng.standard_normal(decisions)

    simulate(), other()
    rounds = [(seconds(simulate), seconds(other)) for _ in range(ROUNDS)]
    ours, theirs = (1e9 * min(column) / decisions for column in zip(*rounds, strict=True))
    return ours, theirs


def main() -> int:
    rows: list[dict[str, Any]] = []
    for policy, scenario, most in cases():
        ours, theirs = nanoseconds(policy, scenario)
        rows.append(
            {
                "policy": policy.title,
                "scenario": scenario.name,
                "arms": scenario.arm_count,
                "ratio": round(ours / theirs, 2),
                "at_most": most,
                "nanoseconds": round(ours, 1),
                "other_nanoseconds": round(theirs, 1),
            }
        )
    table = Table("policy", "scenario", "K", "ratio", "at most", "ns", "other ns")
    for row in rows:
        table.add_row(*(str(value) for value in row.values()))
    Console(width=100).print(table)
    record("decisions", rows)
    return int(any(row["ratio"] > row["at_most"] for row in rows))


if __name__ == "__main__":
    sys.exit(main())
