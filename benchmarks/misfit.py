"""What a family costs that is right but for a little: Guarded beside SteadyUCB.

Two or ten arms of n^-0.01 on plateaus of 100, with constants that the family does not have; arms
that do not rot at all; a family that is right. Writes benchmarks/results/misfit.json.
"""

from __future__ import annotations

import argparse
import math
from typing import Any

import numpy as np

from record import record
from rotting import Arm, Gaussian, Scenario, policies, simulate
from rotting._progress import bar
from rotting.models import Family, Plateau
from rotting.papers import levine2017

SLOW = Plateau(length=100).over([0.01, 0.3])
FLAT = Plateau(length=100).over([0.0, 0.3])


def _arms(family: Family, constants: list[float], horizon: int = 20_000) -> Scenario:
    model = family.members[0]
    return Scenario([Arm(model, c) for c in constants], Gaussian(levine2017.SIGMA), horizon)


CASES: dict[str, tuple[Family, Scenario]] = {
    **{
        f"two arms, {off:+g} and {-off:+g}": (SLOW, _arms(SLOW, [off, -off]))
        for off in (0.005, 0.01, 0.02, 0.03, 0.05, 0.1)
    },
    "two arms, T = 100,000": (SLOW, _arms(SLOW, [0.02, -0.02], 100_000)),
    "one of ten is better": (SLOW, _arms(SLOW, [0.02] + [-0.02] * 9)),
    "ten arms, all different": (SLOW, _arms(SLOW, [0.01 * (k - 4.5) for k in range(10)])),
    "two arms that never fall": (FLAT, _arms(FLAT, [0.02, -0.02])),
    "a right family, two arms": (SLOW, _arms(SLOW, [0.0, 0.0])),
    "a right family, AV": (levine2017.FAMILY, levine2017.av()),
}


def play(family: Family, scenario: Scenario, runs: int, engine: str) -> dict[str, float]:
    found: dict[str, Any] = {}
    for name, policy in (
        ("guarded", policies.Guarded(family, levine2017.SIGMA)),
        ("steady", policies.SteadyUCB(levine2017.SIGMA)),
        ("posterior", policies.Posterior(family, levine2017.SIGMA)),
    ):
        result = simulate(
            policy, scenario, runs=runs, seed=1, checkpoints=1, noise="common", engine=engine
        )
        found[name] = float(result.final_regret.mean())
        found[f"{name}_error"] = float(result.final_regret.std(ddof=1) / math.sqrt(runs))
        found[f"{name}_p95"] = float(np.quantile(result.final_regret, 0.95))
    found["ratio"] = found["guarded"] / found["steady"]
    found["ratio_p95"] = found["guarded_p95"] / found["steady_p95"]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--engine", default="cpu", help="the same figures on all of them")
    asked = parser.parse_args()
    runs = asked.runs
    rows = {}
    with bar(len(CASES)) as report:
        for name, (family, scenario) in CASES.items():
            report(name, 0)
            rows[name] = play(family, scenario, runs, asked.engine)
            report(name, 1)
    print(f"{'':28}{'Guarded':>16}{'SteadyUCB':>16}{'ratio':>8}{'95th pc.':>9}{'Posterior':>11}")
    for name, r in rows.items():
        ours = f"{r['guarded']:.1f} +- {r['guarded_error']:.1f}"
        free = f"{r['steady']:.1f} +- {r['steady_error']:.1f}"
        print(
            f"{name:28}{ours:>16}{free:>16}{r['ratio']:8.2f}{r['ratio_p95']:9.2f}"
            f"{r['posterior']:11.1f}"
        )
    record("misfit", [{"case": name, "runs": runs, **r} for name, r in rows.items()])


if __name__ == "__main__":
    main()
