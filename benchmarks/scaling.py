"""Two threads against one: how much of the second core is put to use.

    python benchmarks/scaling.py          (make bench)

For each policy: simulate(runs=400) of T = 30,000 with threads=1 and threads=2 in turn, after a
warm-up; the efficiency is the least time of the one over twice the least time of the other. What
two cores can give at all is measured the same way, with two processes that only count. A busy
machine shows in that figure.
"""

from __future__ import annotations

import multiprocessing
import multiprocessing.pool
import sys

from rich.console import Console
from rich.table import Table

import rotting
from record import record, seconds
from rotting import policies
from rotting.papers import levine2017

RUNS = 400
ROUNDS = 7
WANTED = 0.9


def count(_: int) -> int:
    total = 0
    for i in range(6_000_000):
        total += i
    return total


def machine(pool: multiprocessing.pool.Pool) -> float:
    """The efficiency of two processes that share nothing."""
    pool.map(count, range(2))
    rounds = [
        (seconds(lambda: pool.map(count, range(1))), seconds(lambda: pool.map(count, [1, 2])))
        for _ in range(ROUNDS)
    ]
    return min(one for one, _ in rounds) / min(two for _, two in rounds)


def efficiency(policy: policies.Policy, scenario: rotting.Scenario) -> float:
    def play(threads: int) -> object:
        return rotting.simulate(policy, scenario, runs=RUNS, threads=threads, checkpoints=1)

    play(1), play(2)
    rounds = [(seconds(lambda: play(1)), seconds(lambda: play(2))) for _ in range(ROUNDS)]
    return min(one for one, _ in rounds) / (2.0 * min(two for _, two in rounds))


def main() -> int:
    family, sigma = levine2017.FAMILY, levine2017.SIGMA
    found: dict[str, float] = {}
    with multiprocessing.Pool(2) as pool:
        found["the machine: two processes"] = machine(pool)
    for policy in (
        policies.UCB1(),
        policies.WSWA(0.2, sigma),
        policies.CTO(family),
        policies.DCTO(family, sigma),
        policies.Posterior(family, sigma),
    ):
        found[policy.title] = efficiency(policy, levine2017.av())
    table = Table("policy", f"efficiency of two threads (> {WANTED:g})")
    for name, value in found.items():
        table.add_row(name, f"{value:.3f}")
    Console(width=100).print(table)
    record(
        "scaling",
        [{"policy": name, "efficiency": round(value, 3)} for name, value in found.items()],
    )
    return int(any(value < WANTED for value in list(found.values())[1:]))


if __name__ == "__main__":
    sys.exit(main())
