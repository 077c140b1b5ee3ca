"""Online play: speed one by one and in batches, threads, memory, time to make, save and load.

    python benchmarks/online.py [--decisions 1000000] [--name online]          (make bench)

All in one process; least of several rounds where times are short. The longest call is measured by
playing the same decisions again and again and keeping, for each of them, the shortest time it ever
took: what the machine does beside is never at the same decision, what the player does always is.

With PYTHONPATH at the sources of an earlier version the same script measures that one, as far as it
has what is measured; `--name` is then the file to write, as benchmarks/results/online_before.json.
"""

from __future__ import annotations

import argparse
import functools
import gc
import math
import time
import tracemalloc
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from record import record
from rotting import Player, policies
from rotting.kernel.state import leaves
from rotting.papers import levine2017

ARMS = 10
PAIRS = 20_000
ROUNDS = 7
AGAIN = 6  # times that the same decisions are played for the longest call
LONGEST = 40_000  # decisions of that
MEASURED = ("UCB1", "SteadyUCB", "Guarded")
NOISE = np.random.default_rng(0).normal(size=1 << 16) * 0.45


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


def players() -> dict[str, Callable[[int], Any]]:
    """Whom to measure, by name, for a number of arms."""
    chosen = {
        "UCB1": policies.UCB1(),
        "wSWA": policies.WSWA(0.2, 0.45),
        "RAW-UCB": policies.RAWUCB(0.45),
        "SteadyUCB": policies.SteadyUCB(0.45),
        "SteadyUCB, sigma unknown": policies.SteadyUCB(None),
        "Guarded": policies.Guarded(levine2017.FAMILY, 0.45),
    }
    made = {name: functools.partial(_player, policy) for name, policy in chosen.items()}
    return {**made, "UCB1, plain Python lists": PlainUCB1}


def _player(policy: policies.Policy, arms: int) -> Any:
    return policy.online(range(arms), compiled=True)


def play(player: Any, count: int) -> None:
    """Decisions with prompt rewards."""
    noise = NOISE[: min(count, NOISE.size)].tolist() * -(-count // NOISE.size)
    for k in range(count):
        player.update(player.select(), 0.5 + noise[k])


def least(work: Callable[[], Any], rounds: int = ROUNDS) -> float:
    """The least time that some work takes, in seconds."""
    best = math.inf
    for _ in range(rounds):
        begin = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - begin)
    return best


def one_by_one() -> list[dict[str, Any]]:
    """Pairs of select and update a second."""
    rows = []
    for arms in (2, ARMS):
        for name, make in players().items():
            player = make(arms)
            play(player, 1000)
            seconds = least(lambda player=player: play(player, PAIRS))  # type: ignore[misc]
            rows.append({"player": name, "arms": arms, "pairs_a_second": round(PAIRS / seconds)})
    return rows


def in_batches() -> list[dict[str, Any]]:
    """Pairs a second by select_many and update_many, ten arms."""
    rows = []
    for name in MEASURED:
        player = players()[name](ARMS)
        if not hasattr(player, "select_many"):
            return []
        for size in (10, 100, 1_000, 10_000):
            rewards = 0.5 + NOISE[:size]

            def batch(player: Any = player, size: int = size, rewards: Any = rewards) -> None:
                player.update_many(player.select_many(size), rewards)

            seconds = least(batch, 200)
            rows.append({"player": name, "batch": size, "pairs_a_second": round(size / seconds)})
    return rows


def history() -> list[dict[str, Any]]:
    """Seconds for a million rows of history, ten arms."""
    rows = []
    arms = np.arange(1_000_000) % ARMS
    rewards = 0.5 + np.resize(NOISE, arms.size)
    for name in MEASURED:
        player = players()[name](ARMS)
        if not hasattr(player, "learn"):
            return []
        player.learn(arms[:100], rewards[:100])  # compiles
        begin = time.perf_counter()
        player.learn(arms, rewards)
        seconds = round(time.perf_counter() - begin, 2)
        rows.append({"player": name, "rows": arms.size, "seconds": seconds})
    return rows


def threads() -> list[dict[str, Any]]:
    """Pairs a second of two threads, with one player and with a player each, and of one thread."""
    rows = []
    for name in ("UCB1", "SteadyUCB"):
        one, other = (players()[name](ARMS) for _ in range(2))
        for who, pair in (("one player", (one, one)), ("a player each", (one, other))):
            with ThreadPoolExecutor(2) as pool:

                def both(pair: Any = pair, pool: Any = pool) -> None:
                    list(pool.map(lambda player: play(player, PAIRS // 2), pair))

                rate = round(PAIRS / least(both))
            rows.append({"player": name, "threads": f"two, {who}", "pairs_a_second": rate})
        rate = round(PAIRS / least(lambda one=one: play(one, PAIRS)))  # type: ignore[misc]
        rows.append({"player": name, "threads": "one", "pairs_a_second": rate})
    return rows


def memory(make: Callable[[], Any], played: int, count: int) -> float:
    """Bytes a player, of so many players."""
    play(make(), played)  # tables that players share
    gc.collect()
    tracemalloc.start()
    kept = []
    for _ in range(count):
        player = make()
        play(player, played)
        kept.append(player)
    gc.collect()
    taken = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return taken / count


def a_player(name: str, arms: int) -> dict[str, Any]:
    """What one player takes: bytes and milliseconds."""

    def make() -> Any:
        return players()[name](arms)

    player = make()
    play(player, 10_000)
    data = player.to_bytes()
    return {
        "player": name,
        "arms": arms,
        "new_bytes": round(memory(make, 0, 100)),
        "bytes_after_10000": round(memory(make, 10_000, 3)),
        "state_bytes": sum(leaf.value.nbytes for leaf in leaves(player.core.state)),
        "saved_bytes": len(data),
        "make_ms": 1e3 * least(make, 50),
        "save_ms": 1e3 * least(player.to_bytes, 20),
        "load_ms": 1e3 * least(lambda: Player.from_bytes(data), 20),
    }


def longest(decisions: int) -> list[dict[str, Any]]:
    """The longest call against the median, and the speed after many decisions."""
    rows = []
    for name in (*MEASURED, "RAW-UCB"):
        make = players()[name]
        times = np.full((2, LONGEST), np.iinfo(np.int64).max)
        clock = time.perf_counter_ns
        noise = (0.5 + NOISE[:LONGEST]).tolist()
        for _ in range(AGAIN):
            _forget_tables()
            player = make(ARMS)
            gc.collect()
            gc.disable()
            now = np.zeros((2, LONGEST), dtype=np.int64)
            for k in range(LONGEST):
                begin = clock()
                decision = player.select()
                middle = clock()
                player.update(decision, noise[k])
                now[0, k], now[1, k] = middle - begin, clock() - middle
            gc.enable()
            times = np.minimum(times, now)
        ratios = times.max(axis=1) / np.median(times, axis=1)
        player = make(ARMS)
        play(player, 1_000)
        early = least(lambda player=player: play(player, 2_000), 3)  # type: ignore[misc]
        play(player, decisions)
        late = least(lambda player=player: play(player, 2_000), 5)  # type: ignore[misc]
        rows.append(
            {
                "player": name,
                "longest_select_over_median": round(float(ratios[0]), 1),
                "longest_update_over_median": round(float(ratios[1]), 1),
                "speed_after_many_over_early": round(early / late, 3),
                "many": decisions,
            }
        )
    return rows


def _forget_tables() -> None:
    """Let tables that players share be made anew, as for the first of them."""
    try:
        from rotting._online.space import _prepared
        from rotting.models._tables import rows_of
    except ImportError:  # an earlier version
        return
    rows_of.cache_clear()
    _prepared.cache_clear()


def show(title: str, rows: list[dict[str, Any]]) -> None:
    """A table, if there is anything to show."""
    if not rows:
        return
    table = Table(*rows[0], title=title)
    for row in rows:
        table.add_row(*map(_cell, row.values()))
    Console(width=160).print(table)


def _cell(value: Any) -> str:
    if isinstance(value, str):
        return value
    return f"{value:,.3g}" if isinstance(value, float) else f"{value:,}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--decisions", type=int, default=1_000_000)
    parser.add_argument("--name", default="online")
    args = parser.parse_args()
    parts = {
        "batches": in_batches(),
        "history": history(),
        "threads": threads(),
        "a_player": [a_player(name, k) for name in MEASURED for k in (ARMS, 40)],
        "steady": longest(args.decisions),
    }
    rows = one_by_one()
    show("one by one", rows)
    for title, part in parts.items():
        show(title, part)
    record("online", rows, name=args.name, **parts)


if __name__ == "__main__":
    main()
