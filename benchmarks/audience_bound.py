"""What is proved of CellUCB in audiences, beside what is measured.

    python benchmarks/audience_bound.py

Five arms whose means fall once, after one to five showings to a key, so that they are constant
within cells; a key for every forty decisions; zeros and ones, sigma = 1/2. With clear differences,
and with click rates of 1 to 10 %, where the bound says nothing before a million decisions.
"""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from record import record
from rotting import Arm, Audience, Bernoulli, Scenario, models, policies, simulate
from rotting.theory import audience_regret_bound

RUNS = 20
HORIZONS = (1_000, 10_000, 100_000, 1_000_000)
CELLS, SIGMA, DELTA = 6, 0.5, 0.01
A_KEY = 40  # decisions, on average
# means before and after the fall, and how many showings come before it
ARMS = {
    "clear": [(0.9, 0.1, 1), (0.8, 0.3, 2), (0.7, 0.2, 3), (0.6, 0.5, 4), (0.5, 0.1, 5)],
    "clicks": [(0.1, 0.02, 1), (0.08, 0.04, 2), (0.06, 0.03, 3), (0.05, 0.045, 4), (0.04, 0.01, 5)],
}


def span_of(arms: list[tuple[float, float, int]]) -> float:
    """The highest mean less the lowest."""
    return max(before for before, _, _ in arms) - min(after for _, after, _ in arms)


def useful_from(arms: list[tuple[float, float, int]]) -> int:
    """The first horizon, of 1, 2, 4, ..., at which the bound is below the trivial one."""
    horizon, span = 1, span_of(arms)
    while (
        audience_regret_bound(len(arms), CELLS, horizon, SIGMA, DELTA, span) >= span * horizon
        and horizon < 2**60
    ):
        horizon *= 2
    return horizon


def main() -> None:
    table = Table("arms", "T", "trivial", "bound", "CellUCB", "worst run", "UCB1, keys ignored")
    rows = []
    for name, arms in ARMS.items():
        for horizon in HORIZONS:
            scenario = Scenario(
                [Arm(models.Step(at=at, before=high, after=low)) for high, low, at in arms],
                Bernoulli(),
                horizon,
                audience=Audience(keys=horizon // A_KEY),
            )
            span = span_of(arms)
            bound = audience_regret_bound(len(arms), CELLS, horizon, SIGMA, DELTA, span)
            cells, pooled = (
                simulate(policy, scenario, runs=RUNS, checkpoints=1)
                for policy in (policies.CellUCB(SIGMA, CELLS, DELTA), policies.UCB1())
            )
            row = {
                "arms": name,
                "horizon": horizon,
                "runs": RUNS,
                "trivial": round(span * horizon, 1),
                "bound": round(bound, 1),
                "CellUCB": round(float(cells.mean_regret[-1]), 1),
                "standard_error": round(float(cells.standard_error[-1]), 2),
                "worst_run": round(float(cells.final_regret.max()), 1),
                "UCB1": round(float(pooled.mean_regret[-1]), 1),
            }
            rows.append(row)
            shown = ("trivial", "bound", "CellUCB", "worst_run", "UCB1")
            table.add_row(name, f"{horizon:,}", *(f"{row[key]:,}" for key in shown))
    Console().print(table)
    useful = {name: useful_from(arms) for name, arms in ARMS.items()}
    print(f"The bound is below the trivial one from T = {useful} on, to a factor of two.")
    record("audience_bound", rows, cells=CELLS, sigma=SIGMA, delta=DELTA, useful_from=useful)


if __name__ == "__main__":
    main()
