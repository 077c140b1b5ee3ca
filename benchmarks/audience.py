"""Online play for an audience: speed, beside a dictionary of players; memory; growth over keys.

    python benchmarks/audience.py [--policy NAME] [--decisions 50000]
    python benchmarks/audience.py --draw         docs/images/audience_growth.svg from the latest

Ten arms, keys that come at random, every decision with its reward. The dictionary has one player of
the same policy for each key, made when the key is first seen, and gets the same keys. Least of
several rounds; memory is that of a fresh process (RSS) with a million keys and forty arms.
"""

from __future__ import annotations

import argparse
import functools
import json
import math
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from record import record
from rotting import Arm, Gaussian, Scenario, models, policies
from rotting._catalogue.names import parse_policy
from rotting._show import plots
from rotting._show.ink import BLUE, DASHES, RED
from rotting._show.line_names import End, name_ends

ARMS, MANY_ARMS = 10, 40
MILLION = 1_000_000
BATCH = 10_000
FEW = 5_000  # decisions of the dictionary
ROUNDS = 5
FAMILY = models.Polynomial().over([0.1, 0.2, 0.3, 0.5, 0.7, 1.0])
SIGMA = 0.3
HERE = Path(__file__).parent
PICTURE = HERE.parent / "docs" / "images" / "audience_growth.svg"


def usual() -> policies.Policy:
    """What is recommended for audiences and clicks."""
    return policies.recommended(rewards="bernoulli", audience=True)


def named(name: str) -> policies.Policy:
    """A policy by its name on the command line; family and sigma are ours if it needs them."""
    arms = [Arm(models.Constant(0.1))] * ARMS
    return parse_policy(name, Scenario(arms, Gaussian(SIGMA), MILLION, belief=FAMILY))


def keys_of(count: int, decisions: int, seed: int = 0) -> list[int]:
    """Who comes, with equal chances."""
    found: list[int] = np.random.default_rng(seed).integers(0, count, decisions).tolist()
    return found


def rewards_of(count: int) -> list[float]:
    """Any rewards: clicks."""
    found: list[float] = (np.random.default_rng(1).random(count) < 0.1).astype(float).tolist()
    return found


def rate(work: Callable[[], Any], count: int, rounds: int = ROUNDS) -> int:
    """How many of these are done in a second, at best."""
    best = math.inf
    for _ in range(rounds):
        begin = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - begin)
    return round(count / best)


def one_by_one(player: Any, keys: list[int], rewards: list[float]) -> None:
    """Decisions with prompt rewards."""
    for key, reward in zip(keys, rewards, strict=True):
        player.update(player.select(key), reward)


def in_batches(player: Any, keys: list[int], rewards: list[float]) -> None:
    """The same in batches."""
    for first in range(0, len(keys), BATCH):
        batch = player.select_many(keys[first : first + BATCH])
        player.update_many(batch, rewards[first : first + BATCH])


class PlayerPerKey:
    """The dictionary that people would write."""

    def __init__(self, policy: policies.Policy) -> None:
        self.policy, self.players = policy, {}  # type: ignore[var-annotated]

    def play(self, keys: list[int], rewards: list[float]) -> None:
        players, make = self.players, functools.partial(self.policy.online, range(ARMS))
        for key, reward in zip(keys, rewards, strict=True):
            player = players.get(key)
            if player is None:
                player = players[key] = make()
            player.update(player.select(), reward)


def filled(policy: policies.Policy, keys: int, arms: int = ARMS) -> Any:
    """A player to which every key has come once."""
    player = policy.audience(range(arms), compiled=True)
    for first in range(0, keys, BATCH):
        some = range(first, min(first + BATCH, keys))
        player.update_many(player.select_many(some), np.zeros(len(some)))
    return player


def speeds(policy: policies.Policy, decisions: int) -> list[dict[str, Any]]:
    """Pairs of a decision and its reward a second, at a thousand and a million keys."""
    rows = []
    rewards = rewards_of(decisions)
    for count in (1_000, MILLION):
        keys = keys_of(count, decisions)
        player = filled(policy, count)
        single = rate(functools.partial(one_by_one, player, keys, rewards), decisions)
        batched = rate(functools.partial(in_batches, player, keys, rewards), decisions)
        # a dictionary of a million players would take gigabytes, and long: those of few decisions
        each = PlayerPerKey(policy)
        few = min(FEW, decisions)
        play = functools.partial(each.play, keys[:few], rewards[:few])
        cold, warm = rate(play, few, rounds=1), rate(play, few)
        rows.append(
            {
                "keys": count,
                "single_a_second": single,
                "batched_a_second": batched,
                "dictionary_first_time_a_second": cold,
                "dictionary_a_second": warm,
                "dictionary_players": len(each.players),
                "single_over_dictionary": round(single / warm, 2),
                "single_over_dictionary_first_time": round(single / cold, 2),
            }
        )
    return rows


def rss() -> int:
    """Resident memory of this process in bytes."""
    words = Path("/proc/self/status").read_text().split()
    return 1024 * int(words[words.index("VmRSS:") + 1])


def memory(policy: policies.Policy) -> dict[str, Any]:
    """What a million keys take, in this process, which should be a fresh one.

    Compiling takes memory, too: here what was compiled before is loaded.
    """
    player = filled(policy, 100, MANY_ARMS)
    before = rss()
    player = filled(policy, MILLION, MANY_ARMS)
    after = rss()
    return {
        "keys": len(player.keys),
        "arms": MANY_ARMS,
        "megabytes_of_keys": round((after - before) / 1e6),
        "megabytes_in_all": round(after / 1e6),
        "megabytes_before": round(before / 1e6),  # the interpreter and the compiler
        "bytes_a_key": round((after - before) / MILLION),
    }


def in_a_fresh_process(name: str | None) -> dict[str, Any]:
    """The same, measured where nothing else was done."""
    asked = [sys.executable, __file__, "--memory", *(["--policy", name] if name else [])]
    done = subprocess.run(asked, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def growth(policy: policies.Policy, decisions: int) -> list[dict[str, Any]]:
    """Nanoseconds a decision with its reward, over the number of keys."""
    rows = []
    rewards = rewards_of(decisions)
    for count in (100, 1_000, 10_000, 100_000, MILLION):
        player, keys = filled(policy, count), keys_of(count, decisions)
        single = rate(functools.partial(one_by_one, player, keys, rewards), decisions)
        batched = rate(functools.partial(in_batches, player, keys, rewards), decisions)
        rows.append(
            {
                "keys": count,
                "single_nanoseconds": round(1e9 / single),
                "batched_nanoseconds": round(1e9 / batched),
            }
        )
    return rows


def draw() -> None:
    """The latest growth as a picture."""
    latest = json.loads((HERE / "results" / "audience.json").read_text())
    rows = latest["growth"]
    figure, (axes,) = plots.new_figure()
    keys, ends = [row["keys"] for row in rows], []
    ways = {"single": ("one by one", BLUE), "batched": (f"in batches\nof {BATCH:,}", RED)}
    for dashes, (way, (said, colour)) in zip(DASHES, ways.items(), strict=False):
        times = [row[f"{way}_nanoseconds"] / 1e3 for row in rows]
        axes.plot(keys, times, marker="o", color=colour, linestyle=dashes)
        ends.append(End(times[-1], said, colour))
    axes.set_xscale("log")
    axes.minorticks_off()
    axes.set_ylim(bottom=0.0)
    axes.set_xlabel("keys")
    axes.set_ylabel("microseconds a decision and its reward")
    axes.set_title(f"{latest['policy']}, {ARMS} arms", loc="left")
    name_ends(axes, ends, at=keys[-1])
    plots.save_figure(figure, PICTURE)


def show(title: str, rows: list[dict[str, Any]]) -> None:
    """A table."""
    table = Table(*rows[0], title=title)
    for row in rows:
        table.add_row(*(f"{value:,}" for value in row.values()))
    Console(width=160).print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--policy", default=None, help="by name, as on the command line")
    parser.add_argument("--decisions", type=int, default=50_000)
    parser.add_argument("--memory", action="store_true", help="print the memory and nothing else")
    parser.add_argument("--draw", action="store_true", help="only draw the latest figures")
    args = parser.parse_args()
    if args.draw:
        draw()
        return
    policy = usual() if args.policy is None else named(args.policy)
    if args.memory:
        print(json.dumps(memory(policy)))
        return
    filled(policy, 1)  # compiled, and kept for the other process
    taken = in_a_fresh_process(args.policy)
    rows = speeds(policy, args.decisions)
    growing = growth(policy, args.decisions)
    show(policy.label, rows)
    show("a million keys, a fresh process", [taken])
    show("growth", growing)
    record("audience", rows, policy=policy.label, memory=taken, growth=growing)
    draw()


if __name__ == "__main__":
    main()
