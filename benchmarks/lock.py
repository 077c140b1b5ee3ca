"""What the lock costs that lets threads share a player.

    python benchmarks/lock.py          (make bench)

One player as it is and one whose methods have the lock taken out of their source play in turn,
slice by slice, in one process. The figure is the ratio of the medians.
"""

from __future__ import annotations

import ast
import inspect
import statistics
import sys
import textwrap
from typing import Any

from record import record, seconds
from rotting import Player, policies

SLICE = 500  # pairs: short, so that whatever else the machine does meets both players
SLICES = 2_000
LOCK_COST = 1.15  # at most


class _Unlocked(ast.NodeTransformer):
    """Takes the lock, as `rotting._online.lock` has it written, out of a method."""

    def __init__(self) -> None:
        self.taken, self.let_go = 0, 0

    def visit_While(self, node: ast.While) -> ast.AST | None:
        if "del lock.free" not in ast.unparse(node):
            return node
        self.taken += 1
        return None

    def visit_Try(self, node: ast.Try) -> Any:
        self.generic_visit(node)
        if not any("lock.free = None" in ast.unparse(line) for line in node.finalbody):
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
        exec(
            compile(tree, f"<{verb} without a lock>", "exec"),
            getattr(kind, verb).__globals__,
            names,
        )
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
    rows = [
        {"player": policy.title, "arms": 10, "with_over_without": round(lock_cost(policy, 10), 3)}
        for policy in (policies.UCB1(), policies.WSWA(0.2, 0.45))
    ]
    for row in rows:
        print(f"{row['player']}: with the lock {row['with_over_without']} of without")
    record("lock", rows)
    return int(any(float(str(row["with_over_without"])) > LOCK_COST for row in rows))


if __name__ == "__main__":
    sys.exit(main())
