"""Do the intervals of `Player.lift` hold whenever one looks, and how wide are they?

    python benchmarks/lift.py [--runs 400] [--decisions 5000]

A player's numbers are drawn with NumPy: the policy's arm, the control group, rewards, weights (a
test plays the same with a player). In every run one looks after every reward, and a run misses if
any interval leaves out the mean lift so far. For the interval with the range of rewards given, with
the range that was seen, and for the textbook's, mean and 1.96 standard errors. Then the widths.
"""

from __future__ import annotations

import argparse
import math
import sys
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

from record import record
from rotting._online.lift import ENOUGH, evidence, half_width, largest_weight
from rotting.kernel.arrays import FloatArray, IntArray

LEVEL = 0.95


class Case(NamedTuple):
    """A bandit and a policy on it. The policy takes arm 0, or any."""

    name: str
    arms: int
    explore: float
    first: float  # mean reward of arm 0
    others: float
    learnt: bool  # whether the policy takes arm 0, or any
    rewards: str = "clicks"  # or gaussian, or purchases: the others pay 30 times their mean, seldom
    rots: bool = False  # arm 0 falls to what the others pay


class Played(NamedTuple):
    """[run, decision]"""

    rewards: FloatArray
    weights: FloatArray
    lifts: FloatArray  # the policy's mean reward less that of equal shares


def play(case: Case, runs: int, decisions: int, seed: int = 0) -> Played:
    """Independent runs."""
    rng = np.random.default_rng(seed)
    shape = (runs, decisions)
    first = np.full(decisions, case.first)
    if case.rots:
        falls = np.exp(-3.0 * np.arange(decisions) / decisions)
        first = case.others + (case.first - case.others) * falls
    any_arm: IntArray = rng.integers(0, case.arms, shape)
    chosen = np.zeros_like(any_arm) if case.learnt else any_arm
    control = rng.random(shape) < case.explore
    taken = np.where(control, rng.integers(0, case.arms, shape), chosen)
    means = np.where(taken == 0, first, case.others)
    if case.rewards == "gaussian":
        rewards = means + rng.standard_normal(shape)
    elif case.rewards == "purchases":
        bought = 30.0 * means * (rng.random(shape) < 1.0 / 30.0)
        rewards = np.where(taken == 0, means + 0.001 * rng.standard_normal(shape), bought)
    else:
        rewards = (rng.random(shape) < means).astype(float)
    mine, rest = taken == chosen, 1.0 - 1.0 / case.arms
    chance = case.explore / case.arms + (1.0 - case.explore) * mine
    weights = (mine - 1.0 / case.arms) / chance
    lifts = np.where(chosen == 0, (first - case.others) * rest, (case.others - first) / case.arms)
    return Played(rewards, weights, lifts)


def terms(rewards: FloatArray, weights: FloatArray) -> FloatArray:
    """(r - centre) weight of prompt rewards; nothing for the first, which has no centre."""
    count = np.arange(1, rewards.shape[-1])
    centre = np.cumsum(rewards, axis=-1)[..., :-1] / count
    return np.concatenate(
        [np.zeros_like(rewards[..., :1]), (rewards[..., 1:] - centre) * weights[..., 1:]], axis=-1
    )


def misses(case: Case, played: Played, between: tuple[float, float] | None) -> dict[str, float]:
    """The share of runs in which some look misses, for each kind of interval."""
    limit = math.log(2.0 / (1.0 - LEVEL))
    largest = largest_weight(case.explore, case.arms)
    ever = {"given": 0, "seen": 0, "textbook": 0}
    for rewards, weights, lifts in zip(*played, strict=True):
        each = terms(rewards, weights)
        count = np.arange(rewards.size)
        off = np.cumsum(each) - np.cumsum(np.where(count > 0, lifts, 0.0))
        squares = np.cumsum(each * each)
        seen = np.maximum.accumulate(rewards) - np.minimum.accumulate(rewards)
        others = np.cumsum((weights < 0.0) & (count > 0))

        def missed(scale: Any, looks: Any, off: Any = off, squares: Any = squares) -> bool:
            # the interval leaves out the truth exactly where the evidence there is beyond the limit
            s, v = (off / scale)[looks], (squares / scale / scale)[looks]
            return bool(np.any(np.maximum(evidence(s, v), evidence(-s, v)) > limit))

        if between is not None:
            scale = np.full(rewards.size, (between[1] - between[0]) * largest)
            ever["given"] += missed(scale, count > 0)
        looks = (seen > 0.0) & (others >= ENOUGH)
        ever["seen"] += missed(np.where(looks, seen, 1.0) * largest, looks)
        n = np.maximum(count, 1)
        spread = np.sqrt(np.maximum(squares - np.cumsum(each) ** 2 / n, 0.0))
        ever["textbook"] += bool(np.any((np.abs(off) > 1.96 * spread) & (others > 0)))
    rates = {kind: times / len(played.rewards) for kind, times in ever.items()}
    return rates if between is not None else {**rates, "given": math.nan}


def cases() -> list[Case]:
    """Small click rates and Gaussian rewards; few and many arms; small and large control groups."""
    found = []
    for arms in (2, 10):
        for explore in (0.02, 0.2):
            both = (arms, explore)
            found += [
                Case("clicks, no lift", *both, 0.01, 0.01, False),
                Case("clicks, lift", *both, 0.03, 0.01, True),
                Case("clicks, worse than equal", *both, 0.001, 0.03, True),
                Case("clicks, rotting", *both, 0.05, 0.01, True, rots=True),
                Case("gaussian, no lift", *both, 0.0, 0.0, False, "gaussian"),
                Case("gaussian, lift", *both, 6.0, 5.0, True, "gaussian"),
                Case("gaussian, ten sigmas", *both, 15.0, 5.0, True, "gaussian"),
                Case("gaussian, rotting", *both, 6.0, 5.0, True, "gaussian", True),
                Case("purchases of others", *both, 0.5, 0.5, True, "purchases"),
            ]
    return found


def range_of(case: Case) -> tuple[float, float] | None:
    """The rewards that are possible, where there are bounds (0.1 is a hundred sigmas)."""
    if case.rewards == "gaussian":
        return None
    return (0.0, 1.0) if case.rewards == "clicks" else (-0.1, 30.0 * case.others)


def widths(decisions: int, runs: int = 10) -> list[dict[str, Any]]:
    """Half the interval against n: clicks of 1 %, ten arms, and what a look planned ahead has."""
    rows = []
    for explore in (0.02, 0.05, 0.2):
        case = Case("clicks", 10, explore, 0.01, 0.01, True)
        played = play(case, runs, decisions)
        squares = np.cumsum(terms(played.rewards, played.weights) ** 2, axis=1).mean(axis=0)
        n = 1000
        while n <= decisions:
            half = float(half_width(n, squares[n - 1], largest_weight(explore, 10), LEVEL))
            once = 1.96 * math.sqrt(squares[n - 1]) / n
            row = {"explore": explore, "decisions": n, "half_width": half}
            rows.append({**row, "over_textbook": half / once})
            n *= 10
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description="coverage and width of Player.lift")
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--decisions", type=int, default=5000)
    asked = parser.parse_args()
    rows = []
    table = Table(title="Runs in which an interval of 95 % ever misses")
    for column in ("rewards", "K", "explore", "range given", "range seen", "textbook"):
        table.add_column(column)
    failed = False
    alpha = 1.0 - LEVEL
    most = alpha + 3.0 * math.sqrt(alpha * LEVEL / asked.runs)
    for seed, case in enumerate(cases()):
        found = misses(case, play(case, asked.runs, asked.decisions, seed), range_of(case))
        known = case.rewards != "purchases"  # outside what was seen: only a given range can do it
        failed |= found["given"] > most or (known and found["seen"] > most)
        given = None if math.isnan(found["given"]) else found["given"]
        rows.append({**case._asdict(), **found, "given": given})
        rates = ("-" if math.isnan(rate) else f"{rate:.3f}" for rate in found.values())
        table.add_row(case.name, str(case.arms), str(case.explore), *rates)
    Console().print(table)
    wide = widths(1_000_000)
    table = Table(title="Half the interval: clicks of 1 %, ten arms, rewards between 0 and 1")
    for column in ("explore", "decisions", "half", "over the textbook's"):
        table.add_column(column)
    for row in wide:
        half, ratio = f"{row['half_width']:.4f}", f"{row['over_textbook']:.2f}"
        table.add_row(str(row["explore"]), f"{row['decisions']:,}", half, ratio)
    Console().print(table)
    record("lift", rows, runs=asked.runs, decisions=asked.decisions, widths=wide)
    if failed:
        sys.exit(f"an interval misses in more than {most:.3f} of the runs")


if __name__ == "__main__":
    main()
