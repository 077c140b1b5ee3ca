"""Kaggle's Candy Cane Contest of 2020: which part of pi_max's reward each policy takes.

    python benchmarks/candy_cane.py

A hundred machines that pay with probability theta 0.97^(n-1), theta uniform and drawn anew for each
of 200 runs, 2,000 pulls. Policies that need a family know the 0.97 and nothing of theta; those that
need a sigma are told 1/2, since rewards are zeros and ones.
"""

from __future__ import annotations

import math

from rich.console import Console
from rich.table import Table

from record import record
from rotting import policies, simulate
from rotting.league._candy import FAMILY, MACHINE, candy_cane

RUNS = 200
POLICIES: dict[str, policies.Policy] = {
    "Posterior upper, z = 1": policies.Posterior(FAMILY, rule="upper", z=1.0),
    "Posterior mean": policies.Posterior(FAMILY),
    "Guarded": policies.Guarded(FAMILY, 0.5),
    "SteadyUCB, sigma unknown": policies.SteadyUCB(None),
    "RAW-UCB": policies.RAWUCB(0.5),
    "UCB1": policies.UCB1(),
    "CTO": policies.CTO(FAMILY),
    "C-CTO": policies.CCTO(MACHINE.between(0.01, 1.0)),
    "wSWA": policies.WSWA(0.2, 0.5),
    "wSWA that keeps its history": policies.WSWA(0.2, 0.5, restart="keep"),
    "RoundRobin": policies.RoundRobin(),
}


def main() -> None:
    table = Table("policy", "share of pi_max's reward", "standard error", "mean regret")
    rows = []
    for name, policy in POLICIES.items():
        result = simulate(policy, candy_cane(), runs=RUNS, checkpoints=1)
        share, error = result.share.mean(), result.share.std(ddof=1) / math.sqrt(RUNS)
        regret = result.mean_regret[-1]
        table.add_row(name, f"{share:.3f}", f"{error:.4f}", f"{regret:.1f}")
        rows.append(
            {
                "policy": name,
                "parameters": policy.short_label,
                "runs": RUNS,
                "share": round(float(share), 4),
                "standard_error": round(float(error), 4),
                "mean_regret": round(float(regret), 2),
            }
        )
    Console().print(table)
    record("candy_cane", rows)


if __name__ == "__main__":
    main()
