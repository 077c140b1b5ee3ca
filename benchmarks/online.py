"""Online play: select and update pairs a second, for UCB1 and wSWA, next to a plain Python UCB1.

    python benchmarks/online.py          (make bench)

The plain one is the textbook loop over lists, written here for comparison: what a pure-Python
library can at best be. Least of seven rounds of 20,000 pairs each, in one process.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from typing import Any

from rich.console import Console
from rich.table import Table

from record import record
from rotting import policies

PAIRS = 20_000
ROUNDS = 7
WANTED = 200_000  # pairs a second with ten arms


class PlainUCB1:
    """UCB1 on Python lists, with nothing else: no labels, no late rewards, no checks."""

    def __init__(self, arms: int) -> None:
        self.counts, self.means, self.time = [0] * arms, [0.0] * arms, 0

    def select(self) -> int:
        self.time += 1
        if 0 in self.counts:
            return self.counts.index(0)
        log = 2.0 * math.log(self.time)
        scores = [m + math.sqrt(log / n) for m, n in zip(self.means, self.counts, strict=True)]
        return scores.index(max(scores))

    def update(self, arm: int, reward: float) -> None:
        self.counts[arm] += 1
        self.means[arm] += (reward - self.means[arm]) / self.counts[arm]


def pairs_a_second(make: Callable[[], Any]) -> float:
    best = math.inf
    for _ in range(ROUNDS):
        player = make()
        player.update(player.select(), 0.5)
        begin = time.perf_counter()
        for _ in range(PAIRS):
            player.update(player.select(), 0.5)
        best = min(best, time.perf_counter() - begin)
    return PAIRS / best


def main() -> int:
    rows = []
    for arms in (2, 10):
        for name, make in (
            ("UCB1", lambda arms=arms: policies.UCB1().online(range(arms))),
            ("wSWA", lambda arms=arms: policies.WSWA(0.2, 0.45).online(range(arms))),
            ("UCB1, plain Python lists", lambda arms=arms: PlainUCB1(arms)),
        ):
            rows.append(
                {"player": name, "arms": arms, "pairs_a_second": round(pairs_a_second(make))}
            )
    table = Table("player", "arms", "select+update a second")
    for row in rows:
        table.add_row(str(row["player"]), str(row["arms"]), f"{row['pairs_a_second']:,}")
    Console(width=100).print(table)
    record("online", rows)
    ours = [row for row in rows if "plain" not in str(row["player"])]
    return int(any(int(str(row["pairs_a_second"])) < WANTED for row in ours))


if __name__ == "__main__":
    sys.exit(main())
