"""Nanoseconds of a simulated decision in an audience, against the number of keys.

    python benchmarks/crowd.py [--out FILE]
    python benchmarks/crowd.py --draw            docs/images/crowd.svg from the latest figures

Ten arms of a family, clicks of up to 10 %, one thread, horizon 200,000, uniform arrivals. The first
column has no audience. A figure is the time of five runs less that of one, all compiled and the
baseline known: the policy's own time, with arrivals and the clearing of counts. Machines are noisy:
ratios within a row mean something, single figures little.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from record import record
from rotting import Audience, Bernoulli, RandomArms, Scenario, models, policies, simulate
from rotting._show import plots
from rotting._show.ink import inks
from rotting._show.line_names import End, name_ends
from rotting.policies import Policy

HERE = Path(__file__).parent
KEYS = (0, 100, 1_000, 10_000, 100_000, 1_000_000)  # none: no audience
HORIZON = 200_000
RUNS = 5
SIGMA = 0.2
FAMILY = models.Polynomial().times(0.1).over([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])


def contestants() -> dict[str, Policy]:
    """Parametric ones, those that are made for audiences, and one that ignores keys."""
    return {
        "CTO": policies.CTO(FAMILY),
        "L-CTO": policies.LCTO(FAMILY),
        "LD-CTO": policies.LDCTO(FAMILY, SIGMA),
        "Posterior": policies.Posterior(FAMILY, SIGMA),
        "Posterior, Thompson": policies.Posterior(FAMILY, SIGMA, rule="thompson"),
        "Mixture": policies.Mixture(),
        "recommended": policies.recommended(audience=True, rewards="bernoulli"),
        "UCB1, keys ignored": policies.UCB1(),
    }


def nanoseconds(policy: Policy, keys: int) -> float:
    """Of a decision, with its reward."""
    audience = Audience(keys) if keys else None
    scenario = Scenario(RandomArms(FAMILY, 10), Bernoulli(), HORIZON, audience=audience)

    def play(runs: int) -> float:
        result = simulate(policy, scenario, runs=runs, threads=1, checkpoints=1)
        return float(result.provenance["seconds"])

    play(RUNS), play(1)  # compiled, and the baselines known
    found = sorted(play(RUNS) - play(1) for _ in range(3))
    return found[1] / (RUNS - 1) / HORIZON * 1e9


def draw() -> None:
    """The latest figures."""
    rows = json.loads((HERE / "results" / "crowd.json").read_text())["rows"]
    figure, (axes,) = plots.new_figure(height=3.8)
    ours = f"{policies.recommended(audience=True, rewards='bernoulli').short_label} (recommended)"
    by_name = {row["policy"]: row["nanoseconds"] for row in rows}
    by_name = {ours if name == "recommended" else name: by_name[name] for name in by_name}
    drawn = inks(by_name)
    for name, ink in drawn.items():
        axes.plot(KEYS[1:], by_name[name][1:], marker="o", ms=3, lw=1.5, **ink.line)
    axes.set(xscale="log", yscale="log")
    axes.set(xlabel="keys", ylabel="nanoseconds a decision")
    axes.set_xticks(KEYS[1:], [f"$10^{len(str(keys)) - 1}$" for keys in KEYS[1:]])
    axes.set_yticks([50, 100, 200, 500, 1000], ["50", "100", "200", "500", "1,000"])
    axes.minorticks_off()
    ends = [End(by_name[name][-1], name, ink.colour) for name, ink in drawn.items()]
    name_ends(axes, ends, at=KEYS[-1])
    plots.save_figure(figure, HERE.parent / "docs" / "images" / "crowd.svg")


def main() -> None:
    """Play them all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--draw", action="store_true")
    given = parser.parse_args()
    if given.draw:
        draw()
        return
    table = Table("ns a decision", *(f"{keys:,} keys" if keys else "no keys" for keys in KEYS))
    rows: list[dict[str, Any]] = []
    for name, policy in contestants().items():
        found = [round(nanoseconds(policy, keys), 1) for keys in KEYS]
        rows.append({"policy": name, "nanoseconds": found})
        table.add_row(name, *(f"{value:.0f}" for value in found))
    Console(width=140).print(table)
    if given.out:
        given.out.write_text(json.dumps(rows, indent=1))
    else:
        record("crowd", rows, keys=list(KEYS), horizon=HORIZON)


if __name__ == "__main__":
    main()
