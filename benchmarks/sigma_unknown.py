"""What SteadyUCB loses where sigma is not known: its regret over that with sigma known.

    python benchmarks/sigma_unknown.py [--runs 1000] [--only WORDS] [--engine cuda]

On every Gaussian scenario of the league and of those held out, on falls and declines far beyond the
noise, and on some of these with offsets and scales. Both policies see the same rewards (common
noise, seed 0); the ratio of the mean regrets has the standard error of a ratio of paired means. It
is above 1.10 where it is so by more than two of them. The file is written after every scenario;
--only plays those whose names contain the words, and keeps the other rows of the file.
"""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from record import record
from rotting import Arm, Gaussian, Scenario, policies, simulate
from rotting.league import HELD_OUT, SCENARIOS
from rotting.models import Constant, Exponential, Polynomial, Scaled, Step

LIMIT = 1.10
RESULTS = Path(__file__).parent / "results" / "sigma_unknown.json"
MOVED = [(0.0, 1e-6), (0.0, 1e6), (1e8, 1.0), (-1e8, 1.0), (1e8, 1e-6), (1e8, 1e6)]


def far_beyond_the_noise() -> dict[str, list[Arm]]:
    """Arms that fall or decline by many sigmas; sigma is 1 and the horizon 5,000."""
    falls = {
        f"a fall of {height:g}": [Arm(Step(1000, height, 0.0)), Arm(Constant(0.5))]
        for height in (20.0, 200.0, 2000.0)
    }
    rates = (0.0003, 0.001, 0.003, 0.01)
    declines = {
        f"four exponentials of height {height:g}": [
            Arm(Scaled(Exponential(rate), height)) for rate in rates
        ]
        for height in (10.0, 1000.0)
    }
    return {
        **falls,
        "a fall of 2000 after 10 pulls": [Arm(Step(10, 2000.0, 0.0)), Arm(Constant(0.5))],
        **declines,
        "ten of n^-0.5, heights 100 to 1000": [
            Arm(Scaled(Polynomial(0.5), 100.0 * k)) for k in range(1, 11)
        ],
        "twenty arms 100 apart": [Arm(Constant(100.0 * k)) for k in range(20)],
    }


def moved(arms: list[Arm], offset: float, scale: float) -> Scenario:
    """The same arms in another unit, counted from another zero: scale (reward + offset)."""
    there = [Arm(Scaled(arm.model, scale), scale * (arm.constant + offset)) for arm in arms]
    return Scenario(there, Gaussian(scale), 5000)


def scenarios() -> dict[str, Scenario]:
    """All that is played, by name."""
    found = {}
    for where, entries in (("league", SCENARIOS), ("held out", HELD_OUT)):
        for name, entry in entries.items():
            if isinstance(entry.scenario.noise, Gaussian):
                found[f"{where}: {name}"] = entry.scenario
    for name, arms in far_beyond_the_noise().items():
        found[name] = Scenario(arms, Gaussian(1.0), 5000)
    for name in ("a fall of 20", "four exponentials of height 10"):
        for offset, scale in MOVED:
            place = f"{name}, offset {offset:g}, scale {scale:g}"
            found[place] = moved(far_beyond_the_noise()[name], offset, scale)
    return found


def row(name: str, scenario: Scenario, runs: int, engine: str) -> dict[str, Any]:
    """Both regrets, in sigmas, and their ratio."""
    noise: Any = scenario.noise
    regrets = []
    for policy in (policies.SteadyUCB(noise.sigma), policies.SteadyUCB(None)):
        result = simulate(policy, scenario, runs=runs, noise="common", checkpoints=1, engine=engine)
        regrets.append(result.final_regret / noise.sigma)
    known, unknown = regrets
    ratio = unknown.mean() / known.mean()
    error = float(np.std(unknown - ratio * known, ddof=1)) / math.sqrt(runs) / known.mean()
    return {
        "scenario": name,
        "known": float(f"{known.mean():.5g}"),
        "known_error": float(f"{known.std(ddof=1) / math.sqrt(runs):.3g}"),
        "unknown": float(f"{unknown.mean():.5g}"),
        "unknown_error": float(f"{unknown.std(ddof=1) / math.sqrt(runs):.3g}"),
        "ratio": round(float(ratio), 4),
        "ratio_error": round(float(error), 4),
        "above": bool(ratio - 2.0 * error > LIMIT),
        "runs": runs,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--only", default="")
    parser.add_argument("--engine", default="cpu", help="the same figures on all of them")
    asked = parser.parse_args()
    everything = scenarios()
    rows = {}
    if asked.only and RESULTS.exists():
        rows = {old["scenario"]: old for old in json.loads(RESULTS.read_text())["rows"]}
    for name, scenario in sorted(everything.items(), key=lambda item: item[1].horizon):
        if asked.only in name:
            rows[name] = row(name, scenario, asked.runs, asked.engine)
            print(*rows[name].values(), sep="  ", flush=True)
            record("sigma_unknown", [rows[other] for other in everything if other in rows])
    table = Table("scenario", "known", "+-", "unknown", "+-", "ratio", "+-", "above", "runs")
    for name in everything:
        if name in rows:
            table.add_row(*(str(value) for value in rows[name].values()))
    Console(width=140).print(table)


if __name__ == "__main__":
    main()
