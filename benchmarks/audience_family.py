"""What knowing the family of curves is worth in an audience: `Posterior` that does, less `Fatigue`.

    python benchmarks/audience_family.py [--runs 100] [--seed 7]

The setting `power_2k_10` with fewer showings and as many fewer users, 100 showings a user: click
rates of 2 to 10 % that fall as n^-theta. Both are what `policies.recommended` gives: `Posterior` to
who knows the family (90 models, rule "thompson"), `Fatigue` to who does not. Shares of pi_max, and
their difference, paired by run, with its 95 % interval.
"""

from __future__ import annotations

import argparse
import dataclasses
import functools

import numpy as np
from rich.console import Console
from rich.table import Table

from record import record
from rotting import Audience, policies, simulate
from rotting.league._audience_settings import SETTINGS

SHOWINGS = (2_000, 10_000, 50_000, 200_000)
EACH = 100  # showings to a user


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=7)
    asked = parser.parse_args()
    entry = SETTINGS["power_2k_10"]
    assert entry.family is not None
    clicks = functools.partial(policies.recommended, audience=True, rewards="bernoulli")
    contestants = {"Posterior": clicks(family=entry.family), "Fatigue": clicks()}
    table = Table("showings", "users", *contestants, "difference")
    rows = []
    for showings in SHOWINGS:
        audience = Audience(showings // EACH)
        scenario = dataclasses.replace(entry.scenario, horizon=showings, audience=audience)
        options = {"runs": asked.runs, "seed": asked.seed, "noise": "common", "checkpoints": 1}
        shares = {
            name: simulate(policy, scenario, **options).share
            for name, policy in contestants.items()
        }
        off = shares["Posterior"] - shares["Fatigue"]
        half = 1.96 * float(off.std(ddof=1)) / np.sqrt(asked.runs)
        found = {name: round(float(share.mean()), 5) for name, share in shares.items()}
        ends = [round(float(off.mean()) + side * half, 5) for side in (0, -1, 1)]
        rows.append({"showings": showings, "share": found, "difference": ends})
        told = "{:+.4f} [{:+.4f}, {:+.4f}]".format(*ends)
        said = [f"{share:.4f}" for share in found.values()]
        table.add_row(f"{showings:,}", str(audience.keys), *said, told)
    Console(width=100).print(table)
    record("audience_family", rows, runs=asked.runs, seed=asked.seed)


if __name__ == "__main__":
    main()
