"""SteadyUCB against RAW-UCB on scenarios drawn at random: how often is it worse, and by how much?

    python benchmarks/drawn.py [--scenarios 100] [--runs 200] [--seed 2027] [--engine cuda]

Two to ten arms, all of one kind (one step down, a straight line down, exponential, n^-theta,
constant), with levels, lengths and sigma drawn. No policy was designed on any of them: the seed is
another one whenever SteadyUCB's constants change. Both policies know sigma; noise is independent,
and so are the errors of the two means.
"""

from __future__ import annotations

import argparse
import math
from typing import Any

import numpy as np

from record import record
from rotting import Arm, Gaussian, Scenario, policies, simulate
from rotting._progress import bar
from rotting.models import Constant, Exponential, Model, Polynomial, Scaled, Step, Table

KINDS = ("step", "line", "exponential", "power", "constant")
HORIZON = 10_000


def drawn(kind: str, rng: Any) -> Model:
    """A model that starts somewhere in (0, 1) and falls, or not."""
    top = float(rng.uniform(0.1, 1.0))
    low = float(rng.uniform(0.0, top))
    length = int(np.exp(rng.uniform(math.log(50), math.log(HORIZON))))
    if kind == "step":
        return Step(length, top, low)
    if kind == "line":
        return Table(np.linspace(top, low, length).tolist())
    if kind == "exponential":
        return Scaled(Exponential(1.0 / length), top)
    if kind == "power":
        return Scaled(Polynomial(float(rng.uniform(0.05, 1.0))), top)
    return Constant(top)


def scenario(number: int, seed: int) -> tuple[str, Scenario]:
    """The scenario of that number: kinds take turns."""
    rng = np.random.default_rng([seed, number])
    kind = KINDS[number % len(KINDS)]
    count = int(rng.choice([2, 3, 5, 10]))
    sigma = float(np.exp(rng.uniform(math.log(0.1), math.log(1.0))))
    arms = [Arm(drawn(kind, rng)) for _ in range(count)]
    return kind, Scenario(arms, Gaussian(sigma), HORIZON)


def play(number: int, seed: int, runs: int, engine: str) -> dict[str, Any]:
    kind, chosen = scenario(number, seed)
    sigma = chosen.noise.sigma  # type: ignore[union-attr]
    found: dict[str, Any] = {"number": number, "kind": kind, "arms": chosen.arm_count}
    means, errors = [], []
    for name, policy in (
        ("steady", policies.SteadyUCB(sigma)),  # type: ignore[arg-type]
        ("raw", policies.RAWUCB(sigma)),  # type: ignore[arg-type]
    ):
        regret = simulate(policy, chosen, runs=runs, checkpoints=1, engine=engine).final_regret
        means.append(float(regret.mean()))
        errors.append(float(regret.std(ddof=1)) / math.sqrt(runs) / max(means[-1], 1e-9))
        found[name] = round(means[-1], 3)
        found[f"{name}_p95"] = round(float(np.quantile(regret, 0.95)), 3)
    found["ratio"] = means[0] / max(means[1], 1e-9)
    found["ratio_error"] = found["ratio"] * math.hypot(*errors)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scenarios", type=int, default=100)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=2027)
    parser.add_argument("--engine", default="cpu")
    asked = parser.parse_args()
    rows = []
    with bar(asked.scenarios) as report:
        for number in range(asked.scenarios):
            rows.append(play(number, asked.seed, asked.runs, asked.engine))
            report(rows[-1]["kind"], 1)
    for kind in (*KINDS, "all"):
        chosen = [r for r in rows if kind in (r["kind"], "all")]
        ratios = np.array([r["ratio"] for r in chosen])
        above = sum(r["ratio"] - 2 * r["ratio_error"] > 1.10 for r in chosen)
        mean = math.exp(float(np.log(np.maximum(ratios, 1e-3)).mean()))
        print(
            f"{kind:12} {len(chosen):4} scenarios: geometric mean {mean:.2f}, "
            f"above 1.10 by two errors: {above}, worst {ratios.max():.2f}"
        )
    for r in sorted(rows, key=lambda r: -r["ratio"])[:5]:
        print(r)
    more = {"command": f"python benchmarks/drawn.py --runs {asked.runs} --seed {asked.seed}"}
    record("drawn", rows, **more)


if __name__ == "__main__":
    main()
