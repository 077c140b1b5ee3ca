"""Table 1 over ten seeds, 0 to 9, with the paper's parameters: 100 trajectories each.

    python benchmarks/table1_seeds.py

For each pair of policies: the wins of each seed, their mean, the p-values of each seed and that
of all trajectories together. The seeds were fixed before the first look at any of them.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from record import record
from rotting import compare
from rotting.experiments import stats
from rotting.papers import levine2017
from rotting.papers.levine2017 import published
from rotting.papers.levine2017.tables import show_p

SEEDS = tuple(range(10))


def pairs() -> list[dict[str, Any]]:
    """A row a pair of policies in a setup."""
    rows = []
    for setup, make in levine2017.SETUPS.items():
        found = [
            compare(levine2017.reported_policies(setup), make(), runs=100, seed=seed, checkpoints=1)
            for seed in SEEDS
        ]
        names = list(found[0].results)
        pooled = {n: np.concatenate([c[n].final_regret for c in found]) for n in names}
        for column, row in itertools.combinations(names, 2):
            wins = [c.wins[row][column] for c in found]
            rows.append(
                {
                    "setup": setup,
                    "row": row,
                    "column": column,
                    "paper_wins": published.WINS[setup][row][column],
                    "paper_p_value": show_p(published.p_value(setup, row, column)),
                    "mean_wins": float(np.mean(wins)),
                    "wins": wins,
                    "pooled_p_value": stats.paired_p_value(pooled[row], pooled[column]),
                    "p_values": [c.p_values[row][column] for c in found],
                }
            )
    return rows


def main() -> None:
    rows = pairs()
    table = Table(
        "setup", "row", "column", "mean wins", "paper", "pooled p", "paper", "p < 0.05 in"
    )
    for row in rows:
        below = sum(p < 0.05 for p in row["p_values"])
        table.add_row(
            row["setup"],
            row["row"],
            row["column"],
            f"{row['mean_wins']:.1f}",
            str(row["paper_wins"]),
            show_p(row["pooled_p_value"]),
            row["paper_p_value"],
            f"{below} of {len(SEEDS)}",
        )
    Console(width=110).print(table)
    record("table1_seeds", rows)


if __name__ == "__main__":
    main()
