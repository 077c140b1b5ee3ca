"""How soon a new player decides, and what the change to compiled calls costs, with an empty cache.

    python benchmarks/first_decision.py

Each player is in a new process whose compiler's cache is empty. It decides and learns about 1,000
times a second until it is compiled, and for half a second after. Printed are the seconds to the
first decision, counted from the import of rotting: as players are by default, and compiled when
they are made; the seconds until the calls were compiled; and the longest call on the way.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from typing import Any

from rich.console import Console
from rich.table import Table

from record import record

SCRIPT = """
import json, time
from rotting import policies
begin = time.perf_counter()
player = {player}
key = {key}
player.select(*key)
first = time.perf_counter() - begin
longest, before, compiled, pairs = 0.0, 0.0, None, 0
while {waits}:
    start = time.perf_counter()
    player.update(player.select(*key), float(pairs % 7 == 0))
    longest, pairs = max(longest, time.perf_counter() - start), pairs + 1
    if compiled is None and player.compiled:
        compiled = time.perf_counter() - begin
    if compiled is not None and time.perf_counter() > begin + compiled + 0.5:
        break
    time.sleep(0.001)
print(json.dumps([first, compiled, longest, pairs]))
"""
CASES = {
    "recommended, clicks": ("online", "policies.recommended(rewards='bernoulli')", "()"),
    "UCB1": ("online", "policies.UCB1()", "()"),
    "recommended, audience": (
        "audience",
        "policies.recommended(rewards='bernoulli', audience=True)",
        "('ann',)",
    ),
}


def measured(verb: str, policy: str, key: str, compiled: str) -> list[Any]:
    player = f"{policy}.{verb}(['a', 'b', 'c'], compiled={compiled})"
    script = SCRIPT.format(player=player, key=key, waits=compiled == "None")
    with tempfile.TemporaryDirectory() as cache:
        done = subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "NUMBA_CACHE_DIR": cache},
            capture_output=True,
            check=True,
        )
    found: list[Any] = json.loads(done.stdout)
    return found


def main() -> int:
    rows = []
    for name, (verb, policy, key) in CASES.items():
        first, compiled, longest, pairs = measured(verb, policy, key, "None")
        at_once = measured(verb, policy, key, "True")[0]
        row = {"first": first, "compiled_first": at_once, "ready": compiled, "longest": longest}
        rows.append({"player": name, **{k: round(v, 4) for k, v in row.items()}, "pairs": pairs})
    heads = ("first decision, s", "if compiled when made", "compiled after", "longest call")
    table = Table("player", *heads, "pairs")
    for row in rows:
        table.add_row(*(str(value) for value in row.values()))
    Console(width=110).print(table)
    record("first_decision", rows)
    return int(any(row["first"] > 0.05 for row in rows))


if __name__ == "__main__":
    sys.exit(main())
