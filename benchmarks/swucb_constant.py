"""SWUCB's wins in Table 1 for many values of its constant, which the paper does not state.

    python benchmarks/swucb_constant.py [--runs 4000] [--draw]

What matters is B sqrt(xi); here xi = 1/2. With each setup's tau as the paper reports it. For each
pair of SWUCB and another policy: the share of wins, and in how many hundreds of trajectories the
p-value says what the paper's does. With --draw only the picture and the table of
docs/paper/readings.md are made again. Some minutes on two cores.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from record import publish, put_table, record
from rotting import Result, simulate, stats
from rotting._show.plots import save_figure
from rotting.papers import levine2017
from rotting.papers.levine2017 import _figures, _measured, _published, _tables
from rotting.papers.levine2017._setups import reported_policies

BS = sorted({*np.arange(1.0, 2.11, 0.05).round(2), *np.arange(1.8, 2.02, 0.01).round(2)})


def row_of(b: float, setup: str, others: dict[str, Result]) -> dict[str, Any]:
    """Wins and p-values of SWUCB's pairs in a setup."""
    runs = next(iter(others.values())).runs
    policy = reported_policies(setup, float(b))["SWUCB"]
    result = simulate(policy, levine2017.SETUPS[setup](), runs=runs, checkpoints=1)
    named = {**others, "SWUCB": result}
    wins, agree = {}, {}
    for row, columns in _published.WINS[setup].items():
        for column in columns:
            if "SWUCB" in (row, column):
                pair = _measured.name_of((setup, row, column))
                won = stats.wins(named[row].final_regret, named[column].final_regret)
                wins[pair] = won / runs
                p_values = _tables.by_hundreds(named[row], named[column])
                paper = _published.p_value(setup, row, column)
                agree[pair] = float(np.mean([_tables.same_p(p, paper) for p in p_values]))
    return {"wins": wins, "p_agree": agree, "regret": {setup: float(result.mean_regret[-1])}}


SHOWN = (1.0, 1.5, 1.8, 1.85, 1.88, 1.89, 1.9, 1.91, 1.92, 1.95, 2.0, 2.1)


def document() -> None:
    """Put picture and table into the page on readings."""
    save_figure(_figures.constant_of_swucb(), "docs/images/swucb-constant.svg")
    pairs = [f"{setup} SWUCB {other}" for setup in ("av", "anv") for other in ("UCB1", "DUCB")]
    header = ["B", "B sqrt(xi)", "AV, over UCB1", "DUCB", "ANV, over UCB1", "DUCB"]
    header += ["worst of all, standard errors", "p agrees, ANV, UCB1", "DUCB"]
    rows = []
    for row in _measured.scan():
        if row["B"] in SHOWN:
            wins = [f"{100 * row['wins'][pair]:.1f}" for pair in pairs]
            agree = [f"{100 * row['p_agree'][pair]:.0f} %" for pair in pairs[2:]]
            worst = _measured.show_errors(_measured.worst_off(row))
            rows.append([f"{row['B']:g}", f"{row['B'] * 0.5**0.5:.3f}", *wins, worst, *agree])
    paper = [str(_measured.paper_wins(pair)) for pair in pairs]
    put_table("paper/readings.md", "constant", header, [*rows, ["paper", "", *paper, "", "", ""]])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=4000)
    parser.add_argument("--draw", action="store_true", help="from what was recorded")
    settings = parser.parse_args()
    if settings.draw:
        document()
        return
    rows: list[dict[str, Any]] = [
        {"B": float(b), "runs": settings.runs, "wins": {}, "p_agree": {}, "regret": {}} for b in BS
    ]
    for setup, make in levine2017.SETUPS.items():
        others = {
            name: simulate(policy, make(), runs=settings.runs, checkpoints=1)
            for name, policy in reported_policies(setup).items()
            if name != "SWUCB"
        }
        for row in rows:
            for key, value in row_of(row["B"], setup, others).items():
                row[key] |= value
            print(setup, row["B"], flush=True)
    pairs = [name for name in rows[0]["wins"] if name.endswith(("SWUCB UCB1", "SWUCB DUCB"))]
    table = Table("B", *pairs, "worst, standard errors")
    for row in rows:
        shown = [f"{100 * row['wins'][pair]:.1f}" for pair in pairs]
        table.add_row(f"{row['B']:g}", *shown, _measured.show_errors(_measured.worst_off(row)))
    Console(width=150).print(table)
    record("swucb_constant", rows)
    publish("levine2017", "swucb", rows)
    document()


if __name__ == "__main__":
    main()
