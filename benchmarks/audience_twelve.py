"""The twelve settings of audiences: who takes how much of what pi_max takes, paired by run.

    python benchmarks/audience_twelve.py [--runs 100] [--seed 7] [--setting NAME ...]

Plays random choice, pooled Thompson, frequency caps, Mixture and Fatigue on the same rewards, and
says for each setting: shares with standard errors; Fatigue less Mixture with its 95 % interval, and
which part of Mixture's distance to pi_max that closes; Fatigue less pooled Thompson; Fatigue less
the best of all caps and none, chosen in hindsight; and the worst run. Seeds below 7 were used to
choose Fatigue's constants.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from record import record
from rotting import policies, simulate
from rotting.kernel.arrays import FloatArray
from rotting.league._audience_contestants import CAPS
from rotting.league._audience_settings import SETTINGS
from rotting.policies import Policy

OURS, MIXTURE, POOLED = "Fatigue", "Mixture", "Thompson"


def contestants() -> dict[str, Policy]:
    """Who plays."""
    caps = {f"cap {cap}": policies.Capped(policies.Thompson(), cap) for cap in CAPS}
    return {
        "Uniform": policies.Uniform(),
        POOLED: policies.Thompson(),
        **caps,
        MIXTURE: policies.Mixture(),
        OURS: policies.Fatigue(),
    }


def less(ours: FloatArray, other: FloatArray) -> tuple[float, float, float]:
    """The mean difference of paired shares and the ends of its 95 % interval."""
    off = ours - other
    half = 1.96 * off.std(ddof=1) / np.sqrt(off.size)
    return float(off.mean()), float(off.mean() - half), float(off.mean() + half)


def rounded(values: Any) -> list[float]:
    """For people and files."""
    return [round(float(value), 5) for value in values]


def play(name: str, runs: int, seed: int) -> dict[str, Any]:
    """One setting: a row of the record."""
    shares: dict[str, FloatArray] = {}
    for who, policy in contestants().items():
        scenario = SETTINGS[name].scenario
        result = simulate(policy, scenario, runs=runs, seed=seed, noise="common", checkpoints=1)
        shares[who] = result.share
    capped = {who: share for who, share in shares.items() if who.startswith("cap") or who == POOLED}
    best = max(capped, key=lambda who: float(capped[who].mean()))
    mixture = less(shares[OURS], shares[MIXTURE])
    return {
        "setting": name,
        "share": {who: round(float(share.mean()), 5) for who, share in shares.items()},
        "standard_error": {
            who: round(float(share.std(ddof=1) / np.sqrt(runs)), 5) for who, share in shares.items()
        },
        "worst": {who: round(float(share.min()), 4) for who, share in shares.items()},
        "less_mixture": rounded(mixture),
        "closed": round(mixture[0] / (1.0 - float(shares[MIXTURE].mean())), 3),
        "less_pooled": rounded(less(shares[OURS], shares[POOLED])),
        "best_cap": best,
        "less_best_cap": rounded(less(shares[OURS], shares[best])),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--setting", action="append", choices=list(SETTINGS))
    asked = parser.parse_args()
    table = Table("setting", "Uniform", POOLED, "best cap", MIXTURE, OURS)
    for heading in ("less Mixture", "closed", "less Thompson", "worst run"):
        table.add_column(heading)
    rows = []
    for name in asked.setting or SETTINGS:
        row = play(name, asked.runs, asked.seed)
        rows.append(row)
        share, best = row["share"], row["best_cap"]
        off, low, high = row["less_mixture"]
        table.add_row(
            name,
            f"{share['Uniform']:.3f}",
            f"{share[POOLED]:.4f}",
            f"{share[best]:.4f} ({best if best != POOLED else 'none'})",
            f"{share[MIXTURE]:.4f}",
            f"{share[OURS]:.4f}",
            f"{off:+.4f} [{low:+.4f}, {high:+.4f}]",
            f"{row['closed']:.2f}",
            f"{row['less_pooled'][0]:+.4f}",
            f"{row['worst'][OURS]:.3f} ({row['worst'][MIXTURE]:.3f})",
        )
    Console(width=160).print(table)
    if not asked.setting:
        record("audience_twelve", rows, runs=asked.runs, seed=asked.seed)


if __name__ == "__main__":
    main()
