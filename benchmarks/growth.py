"""What one decision costs as K, T and Theta grow, as a multiple of one NumPy standard normal.

    python benchmarks/growth.py          (make growth)
    python benchmarks/growth.py --draw   docs/images/growth.svg from the latest figures

Each point is the least of three rounds of simulate(threads=1) with oracle and tables, after a
warm-up, over the time NumPy takes for as many normals, measured in turn. The nanoseconds are of the
machine at hand.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np

from record import record
from rotting import Gaussian, RandomArms, Scenario, models, policies, simulate
from rotting._show import plots
from rotting._show.ink import inks
from rotting._show.line_names import End, name_ends

HERE = Path(__file__).parent
SIGMA = 0.2**0.5
PLATEAU = models.Plateau(length=100)
FAMILY = PLATEAU.over([0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4])


def cost(policy: Any, scenario: Scenario, runs: int) -> dict[str, float]:
    """Times a normal, and nanoseconds."""
    simulate(policy, scenario, runs=1, threads=1, checkpoints=1)
    rng = np.random.default_rng(0)
    made = runs * scenario.horizon
    best, normal = np.inf, np.inf
    for _ in range(3 if scenario.horizon < 10_000_000 else 1):
        begin = time.perf_counter()
        rng.standard_normal(1_000_000)
        normal = min(normal, (time.perf_counter() - begin) / 1_000_000)
        begin = time.perf_counter()
        simulate(policy, scenario, runs=runs, threads=1, checkpoints=1)
        best = min(best, (time.perf_counter() - begin) / made)
    return {"normals": best / normal, "nanoseconds": best * 1e9}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draw", action="store_true", help="only draw the latest figures")
    if not parser.parse_args().draw:
        measure()
    draw()


def measure() -> None:
    """Play, and keep the figures."""
    rows: list[dict[str, Any]] = []
    known = {
        "UCB1": policies.UCB1(),
        "SWA": policies.SWA(0.2, SIGMA),
        "CTO": policies.CTO(FAMILY),
        "Posterior": policies.Posterior(FAMILY, SIGMA),
        "Greedy": policies.GreedyLast(),
    }
    for arms in (2, 10, 100, 1000, 10_000, 100_000, 1_000_000):
        horizon = max(20_000, 3 * arms)
        scenario = Scenario(RandomArms(FAMILY, arms), Gaussian(SIGMA), horizon)
        for name, policy in known.items():
            if name == "UCB1" and arms > 10_000:
                continue  # every index changes in every round: linear in K
            rows.append(
                {
                    "against": "K",
                    "policy": name,
                    "value": arms,
                    **cost(policy, scenario, max(1, 200_000 // horizon)),
                }
            )
            print(rows[-1], flush=True)
    for horizon in (1000, 10_000, 100_000, 1_000_000, 10_000_000):
        scenario = Scenario(RandomArms(FAMILY, 10), Gaussian(SIGMA), horizon)
        for name in ("UCB1", "CTO", "Posterior"):
            rows.append(
                {
                    "against": "T",
                    "policy": name,
                    "value": horizon,
                    **cost(known[name], scenario, max(1, 1_000_000 // horizon)),
                }
            )
            print(rows[-1], flush=True)
    for thetas in (2, 7, 30, 100, 300, 1000):
        family = PLATEAU.over(np.linspace(0.1, 0.4, thetas).tolist())
        scenario = Scenario(RandomArms(family, 10), Gaussian(SIGMA), 30_000)
        for name, policy in (
            ("CTO", policies.CTO(family)),
            ("Posterior", policies.Posterior(family, SIGMA)),
        ):
            rows.append(
                {"against": "Theta", "policy": name, "value": thetas, **cost(policy, scenario, 10)}
            )
            print(rows[-1], flush=True)
    record("growth", rows)


def draw() -> None:
    """The latest figures."""
    rows = json.loads((HERE / "results" / "growth.json").read_text())["rows"]
    figure, axes = plots.new_figure(height=7.4, panels=3, rows=3)
    drawn = inks(dict.fromkeys(row["policy"] for row in rows))
    grows = {"K": "arms, K", "T": "rounds, T", "Theta": "models of the family, |Theta|"}
    for panel, (what, said) in zip(axes, grows.items(), strict=True):
        ends: dict[int, list[End]] = {}  # by where lines end
        for name, ink in drawn.items():
            points = [
                (row["value"], row["nanoseconds"])
                for row in rows
                if row["against"] == what and row["policy"] == name
            ]
            if points:
                panel.plot(*zip(*points, strict=True), marker=".", **ink.line)
                ends.setdefault(points[-1][0], []).append(End(points[-1][1], name, ink.colour))
        panel.set(xscale="log", yscale="log", xlabel=said)
        panel.minorticks_off()
        for at, some in ends.items():
            name_ends(panel, some, at=at)
    figure.supylabel("nanoseconds a decision", fontsize=10)
    plots.save_figure(figure, HERE.parent / "docs" / "images" / "growth.svg")


if __name__ == "__main__":
    main()
