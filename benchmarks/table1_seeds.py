"""Table 1 over ten seeds, 0 to 9, with the paper's parameters: 100 trajectories each.

    python benchmarks/table1_seeds.py

With B = 2 of SWUCB and with 1.9. For each pair of policies: the wins of each seed, their mean, the
p-values of each seed and that of all trajectories together; for each seed how many of the table's
52 figures agree, and which do not; and the windows that SWUCB's grid chooses, also with 1 and 1.5.
The seeds were fixed before the first look at any of them. Run swucb_constant.py before: whether
SWUCB's wins agree rests on their share in the long run.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from record import publish, record
from rotting import Comparison, compare, stats
from rotting._experiments.tuning import tune
from rotting._numbers import p_value
from rotting.papers import levine2017
from rotting.papers.levine2017 import _measured, _published
from rotting.papers.levine2017._reproduction import GRID_RUNS
from rotting.papers.levine2017._setups import OTHER_B, USUAL_B
from rotting.papers.levine2017._tables import cells, paper_p

SEEDS = tuple(range(10))


def played(b: float) -> dict[str, list[Comparison]]:
    """For each setup the comparisons of all seeds, with a B of SWUCB."""
    return {
        setup: [
            compare(
                levine2017.reported_policies(setup, b), make(), runs=100, seed=seed, checkpoints=1
            )
            for seed in SEEDS
        ]
        for setup, make in levine2017.SETUPS.items()
    }


def agreeing(comparisons: dict[str, list[Comparison]], b: float) -> list[dict[str, Any]]:
    """A row a seed: how many figures agree, and those that do not."""
    known = _measured.shares(b)
    rows = []
    for place, seed in enumerate(SEEDS):
        found = [
            cell for setup, each in comparisons.items() for cell in cells(setup, each[place], known)
        ]
        differ = [cell.name(figure) for cell in found for figure in cell.differing]
        figures = 2 * len(found)
        rows.append({"seed": seed, "agree": figures - len(differ), "of": figures, "differ": differ})
    return rows


def windows(b: float) -> dict[str, list[int]]:
    """For each setup the window that SWUCB's grid chooses with each seed."""
    name, values = _published.GRIDS["SWUCB"]
    return {
        setup: [
            tune(
                levine2017.reported_policies(setup, b)["SWUCB"],
                {name: values},
                make(),
                runs=GRID_RUNS,
                seed=seed,
                checkpoints=1,
            ).chosen[name]
            for seed in SEEDS
        ]
        for setup, make in levine2017.SETUPS.items()
    }


def pairs(comparisons: dict[str, list[Comparison]]) -> list[dict[str, Any]]:
    """A row a pair of policies in a setup."""
    rows = []
    for setup, found in comparisons.items():
        names = list(found[0].results)
        pooled = {n: np.concatenate([c[n].final_regret for c in found]) for n in names}
        for column, row in itertools.combinations(names, 2):
            wins = [c.wins[row][column] for c in found]
            rows.append(
                {
                    "setup": setup,
                    "row": row,
                    "column": column,
                    "paper_wins": _published.WINS[setup][row][column],
                    "paper_p_value": paper_p(_published.p_value(setup, row, column)),
                    "mean_wins": float(np.mean(wins)),
                    "wins": wins,
                    "pooled_p_value": stats.paired_p_value(pooled[row], pooled[column]),
                    "p_values": [c.p_values[row][column] for c in found],
                }
            )
    return rows


def shown(rows: list[dict[str, Any]]) -> Table:
    """The rows of all pairs as a table."""
    table = Table(
        "setup", "row", "column", "mean wins", "paper", "pooled p", "paper", "< 0.05", "< 1e-5"
    )
    for row in rows:
        p_values = np.array(row["p_values"])
        table.add_row(
            row["setup"],
            row["row"],
            row["column"],
            f"{row['mean_wins']:.1f}",
            str(row["paper_wins"]),
            p_value(row["pooled_p_value"]),
            row["paper_p_value"],
            *(f"{(p_values < limit).sum()} of {len(SEEDS)}" for limit in (0.05, _published.SMALL)),
        )
    return table


def main() -> None:
    console = Console(width=130)
    of_seeds, of_pairs = {}, {}
    for b in (USUAL_B, OTHER_B):
        comparisons = played(b)
        of_pairs[f"{b:g}"], of_seeds[f"{b:g}"] = pairs(comparisons), agreeing(comparisons, b)
        console.print(f"SWUCB with B = {b:g}")
        console.print(shown(of_pairs[f"{b:g}"]))
        for row in of_seeds[f"{b:g}"]:
            differ = ", ".join(row["differ"]) or "none"
            console.print(f"seed {row['seed']}: {row['agree']} of {row['of']}; not: {differ}")
    chosen = {f"{b:g}": windows(b) for b in (1.0, 1.5, OTHER_B, USUAL_B)}
    for words, found in chosen.items():
        console.print(f"SWUCB's grid with B = {words} chooses tau: {found}")
    usual, other = (of_pairs[f"{b:g}"] for b in (USUAL_B, OTHER_B))
    record("table1_seeds", usual, other_b=other, agreement=of_seeds, windows=chosen)
    publish("levine2017", "seeds", of_seeds)
    publish("levine2017", "windows", chosen)


if __name__ == "__main__":
    main()
