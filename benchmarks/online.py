"""Online play: select and update pairs a second, for UCB1 and wSWA, next to a plain Python UCB1.

    python benchmarks/online.py          (make bench)

The plain one is the textbook loop over lists, written here for comparison: what a pure-Python
library can at best be. Least of seven rounds of 20,000 pairs each, in one process.

What the lock costs that lets threads share a player is measured in the same process: one player
as it is and one whose methods have the lock taken out of their source play in turn, slice by
slice. The figure is the ratio of the medians.
"""

from __future__ import annotations

import ast
import inspect
import math
import statistics
import sys
import textwrap
import time
from collections.abc import Callable
from typing import Any

from rich.console import Console
from rich.table import Table

from record import record, seconds
from rotting import Player, policies
from rotting.online import player as player_module

PAIRS = 20_000
ROUNDS = 7
WANTED = 200_000  # pairs a second with ten arms
SLICE = 500  # pairs: short, so that whatever else the machine does meets both players
SLICES = 2_000
LOCK_COST = 1.10  # at most


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


class _Unlocked(ast.NodeTransformer):
    """Takes the lock, as `rotting.online.sharing` has it written, out of a method."""

    def __init__(self) -> None:
        self.taken, self.let_go = 0, 0

    def visit_While(self, node: ast.While) -> ast.AST | None:
        if "del self._free" not in ast.unparse(node):
            return node
        self.taken += 1
        return None

    def visit_Try(self, node: ast.Try) -> Any:
        self.generic_visit(node)
        if not any("self._free = None" in ast.unparse(line) for line in node.finalbody):
            return node
        self.let_go += 1
        return node.body


def unlocked(kind: type[Player]) -> type[Player]:
    """The same class without the lock in `select` and `update`."""
    names: dict[str, Any] = {}
    for verb in ("select", "update"):
        source = textwrap.dedent(inspect.getsource(getattr(kind, verb)))
        tree = ast.parse(source.removeprefix("@holder\n"))
        remover = _Unlocked()
        tree = ast.fix_missing_locations(remover.visit(tree))
        assert (remover.taken, remover.let_go) == (1, 1), f"no lock found in {verb}"
        exec(compile(tree, f"<{verb} without a lock>", "exec"), vars(player_module), names)
    return type("Unlocked", (kind,), {"__slots__": (), **names})


def lock_cost(policy: policies.Policy, arms: int) -> float:
    """How much longer select and update take with the lock than without, in one thread."""
    players = [kind(policy, range(arms)) for kind in (Player, unlocked(Player))]
    times: list[list[float]] = [[], []]

    def play(player: Player) -> None:
        for _ in range(SLICE):
            player.update(player.select(), 0.5)

    for k in range(SLICES):
        for which in (k % 2, 1 - k % 2):  # each is the first as often as the second
            times[which].append(seconds(lambda which=which: play(players[which])))  # type: ignore[misc]
    return statistics.median(times[0]) / statistics.median(times[1])


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
    costs = [
        {"player": policy.title, "arms": 10, "with_over_without": round(lock_cost(policy, 10), 3)}
        for policy in (policies.UCB1(), policies.WSWA(0.2, 0.45))
    ]
    for cost in costs:
        print(f"{cost['player']}: with the lock {cost['with_over_without']} of without")
    record("online", rows, lock=costs)
    ours = [row for row in rows if "plain" not in str(row["player"])]
    slow = any(int(str(row["pairs_a_second"])) < WANTED for row in ours)
    return int(slow or any(float(str(cost["with_over_without"])) > LOCK_COST for cost in costs))


if __name__ == "__main__":
    sys.exit(main())
