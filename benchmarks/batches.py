"""What it costs to decide in batches: regret against the batch size, for the recommended policies.

    python benchmarks/batches.py [--runs 20] [--out FILE]
    python benchmarks/batches.py --draw          docs/images/batches.svg from the latest figures

A batch is decided before any of its rewards is known (`Player.select_many`), then all of them come.
Rewards are functions of (run, arm, pull), the same for all sizes and policies. Thompson sampling on
a window (SW-TS) is there for comparison: it draws, so a batch spreads by itself.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from record import record
from rotting import Arm, models, policies
from rotting._show import plots
from rotting._show.ink import inks
from rotting._show.line_names import End, name_ends
from rotting.papers import levine2017
from rotting.policies import Policy

HERE = Path(__file__).parent
SIZES = (1, 10, 100, 1000)
HORIZON = 20_000
SIGMA = 0.45


def settings() -> dict[str, tuple[list[Arm], float | None, Any]]:
    """Arms, sigma of Gaussian noise (None: clicks), and a family where one is known."""
    fading = [Arm(models.Exponential(0.0002 * (k + 1)).times(1.0 - 0.05 * k)) for k in range(10)]
    apart = [Arm(models.Constant(0.5 - 0.03 * k)) for k in range(10)]
    falls = [Arm(models.Step(at=400 * (k + 1), before=1.0, after=0.1 * k)) for k in range(5)]
    clicks = [Arm(models.Exponential(0.0003).times(0.02 + 0.01 * k)) for k in range(8)]
    thetas = levine2017.FAMILY.thetas
    family = [Arm(levine2017.FAMILY.model.with_theta(thetas[k % len(thetas)])) for k in range(10)]
    return {
        "ten arms fade": (fading, SIGMA, None),
        "ten arms, 0.03 apart": (apart, SIGMA, None),
        "five arms fall": (falls, SIGMA, None),
        "eight creatives, clicks": (clicks, None, None),
        "the paper's family": (family, SIGMA, levine2017.FAMILY),
    }


def contestants(sigma: float | None, family: Any) -> dict[str, Policy]:
    """Who plays."""
    found: dict[str, Policy] = {"SteadyUCB": policies.SteadyUCB(sigma)}
    if family is not None:
        found["Guarded"] = policies.Guarded(family, SIGMA)
    found["SW-TS"] = policies.SWTS(tau=4000, sigma=sigma or 0.25)
    return found


def regret(policy: Policy, arms: list[Arm], sigma: float | None, size: int, run: int) -> float:
    """The regret of one run in batches of a size."""
    means = np.stack([arm.model.table(HORIZON) for arm in arms])
    rng = np.random.default_rng([7, run])
    if sigma is None:
        rewards = (rng.random(means.shape) < means).astype(float)
    else:
        rewards = means + sigma * rng.normal(size=means.shape)
    best = np.sort(means, axis=None)[::-1][:HORIZON].sum()  # means never rise: pi_max takes these
    player = policy.online(range(len(arms)), seed=run, compiled=True)
    earned = 0.0
    for _ in range(0, HORIZON, size):
        batch = player.select_many(size)
        places = batch.numbers, batch.pulls - 1
        earned += float(means[places].sum())
        player.update_many(batch, rewards[places])
    return float(best - earned)


def draw() -> None:
    """Regret in batches over that one by one, for the recommended policies."""
    rows = json.loads((HERE / "results" / "batches.json").read_text())["rows"]
    figure, (axes,) = plots.new_figure(height=3.7)
    lines: dict[str, dict[int, float]] = {}
    for row in rows:
        if row["policy"] != "SW-TS":
            name = f"{row['policy']}: {row['setting']}"
            lines.setdefault(name, {})[row["batch"]] = row["regret"]
    ends = []
    for name, ink in inks(lines).items():
        ratios = [lines[name][size] / lines[name][1] for size in SIZES]
        axes.plot(SIZES, ratios, marker="o", ms=4, lw=1.5, **ink.line)
        ends.append(End(ratios[-1], name.removeprefix("SteadyUCB: "), ink.colour))
    axes.set(xscale="log", yscale="log")
    axes.set(xlabel="decisions before their rewards come", ylabel="regret; one by one: 1")
    axes.set_title("SteadyUCB, and Guarded where a family is known", loc="left")
    axes.set_xticks(SIZES, [f"{size:,}" for size in SIZES])
    axes.set_yticks([1, 2, 4, 8], ["1", "2", "4", "8"])
    axes.minorticks_off()
    name_ends(axes, ends, at=SIZES[-1])
    plots.save_figure(figure, HERE.parent / "docs" / "images" / "batches.svg")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--draw", action="store_true")
    args = parser.parse_args()
    if args.draw:
        draw()
        return
    rows: list[dict[str, Any]] = []
    table = Table("setting", "policy", *(f"batches of {size}" for size in SIZES))
    for name, (arms, sigma, family) in settings().items():
        for who, policy in contestants(sigma, family).items():
            cells = []
            for size in SIZES:
                found = [regret(policy, arms, sigma, size, run) for run in range(args.runs)]
                mean, error = np.mean(found), np.std(found, ddof=1) / np.sqrt(len(found))
                cells.append(f"{mean:.1f} +- {error:.1f}")
                rows.append(
                    {
                        "setting": name,
                        "policy": who,
                        "batch": size,
                        "regret": round(float(mean), 2),
                        "standard_error": round(float(error), 2),
                    }
                )
            table.add_row(name, who, *cells)
    Console(width=140).print(table)
    if args.out:
        args.out.write_text(json.dumps(rows, indent=1))
    else:
        record("batches", rows, runs=args.runs, horizon=HORIZON)


if __name__ == "__main__":
    main()
