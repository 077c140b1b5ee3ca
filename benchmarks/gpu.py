"""The CUDA engine on the device at hand: speed, agreement with the cpu engine, Table 1 a million.

    python benchmarks/gpu.py [--runs 262144] [--million 1000000] [--out FILE]

Speeds are decisions a second through `simulate`, the second call of each, so that compiling and
pi_max are not in it. Agreement: the first runs are played by both engines and compared pull by
pull; means must lie within four standard errors of each other; block sizes must not matter.
Table 1 is the paper's, with as many trajectories as asked for in every cell.
"""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path
from typing import Any

import numpy as np

from rotting import Scenario, policies, simulate
from rotting._engines.cuda import engine
from rotting._engines.plan import Request, empty_outcome, prepare
from rotting.papers import levine2017

FAMILY, SIGMA = levine2017.FAMILY, levine2017.SIGMA


def contestants() -> dict[str, Any]:
    return {
        "UCB1": policies.UCB1(),
        "wSWA": policies.WSWA(0.2, SIGMA),
        "CTO": policies.CTO(FAMILY),
        "DUCB": policies.DUCB(gamma=0.999),
        "SWUCB": policies.SWUCB(tau=4000),
        "D-CTO": policies.DCTO(FAMILY, SIGMA),
        "Posterior": policies.Posterior(FAMILY, SIGMA),
        "LDCTO": policies.LDCTO(FAMILY, SIGMA),
        "SteadyUCB": policies.SteadyUCB(SIGMA),
        "EFF-RAW-UCB": policies.EFFRAWUCB(SIGMA),
    }


def speed(runs: int) -> dict[str, Any]:
    """Decisions a second on AV (K = 10, T = 30,000)."""
    scenario = levine2017.av()
    found = {}
    for name, policy in contestants().items():
        if name == "EFF-RAW-UCB":
            continue  # it renews windows of its own at times of its own, which is not for a GPU
        count = runs if name not in ("D-CTO", "Posterior") else runs // 4
        simulate(policy, scenario, runs=count, engine="cuda", checkpoints=1)
        result = simulate(policy, scenario, runs=count, engine="cuda", checkpoints=1)
        seconds, kernels = (result.provenance[key] for key in ("seconds", "gpu_seconds"))
        made = count * scenario.horizon
        found[name] = {
            "runs": count,
            "billion_a_second": made / seconds / 1e9,
            "billion_a_second_in_the_kernel": made / kernels / 1e9,
            "mean_regret": float(result.mean_regret[-1]),
        }
        print(name, found[name], flush=True)
    return found


def agreement(runs: int = 256, many: int = 16_384) -> dict[str, Any]:
    """How often both engines pull every arm equally often, and how their means compare."""
    found = {}
    for name, policy in contestants().items():
        scenario = levine2017.anv() if name in ("D-CTO", "LDCTO") else levine2017.av()
        scenario = Scenario(scenario.arms, scenario.noise, 3000)
        ours = simulate(policy, scenario, runs=runs, checkpoints=1)
        theirs = simulate(policy, scenario, runs=many, engine="cuda", checkpoints=1)
        same = float(np.mean(np.all(ours.pulls == theirs.pulls[:runs], axis=1)))
        more = simulate(policy, scenario, runs=2000, checkpoints=1, first_run=many)
        error = math.hypot(theirs.standard_error[-1], more.standard_error[-1])
        z = (theirs.mean_regret[-1] - more.mean_regret[-1]) / error
        blocks = [_with_block(policy, scenario, 512, block) for block in (32, 64, 96)]
        found[name] = {
            "runs_with_equal_pulls": same,
            "z_of_means": float(z),
            "equal_across_blocks": all(np.array_equal(blocks[0], other) for other in blocks[1:]),
        }
        print(name, found[name], flush=True)
    return found


def _with_block(policy: Any, scenario: Scenario, runs: int, block: int) -> Any:
    times = np.array([scenario.horizon])
    request = Request(policy, scenario, 0, "independent", times, first_run=0, runs=runs)
    outcome = empty_outcome(runs, 1, scenario.arm_count)
    engine.simulate(prepare(request), outcome, lambda done, total: None, block=block)
    return outcome.pulls


def _row(values: Any) -> dict[str, float]:
    return {
        "mean": float(values.mean()),
        "standard_error": float(values.std(ddof=1) / math.sqrt(values.size)),
        "p95": float(np.quantile(values, 0.95)),
        "max": float(values.max()),
    }


def _pair(one: Any, other: Any) -> dict[str, float]:
    gap = other - one
    return {
        "wins_percent": float(100 * np.mean(gap > 0)),
        "ties_percent": float(100 * np.mean(gap == 0)),
        "z": float(gap.mean() / max(1e-300, gap.std(ddof=1)) * math.sqrt(gap.size)),
    }


def million(runs: int) -> dict[str, Any]:
    """Table 1 with so many trajectories: means, wins, paired z, for the reported parameters."""
    found: dict[str, Any] = {}
    for setup, make in levine2017.SETUPS.items():
        seconds = kernels = 0.0
        final = {}
        for name, policy in levine2017.reported_policies(setup).items():
            simulate(policy, make(), runs=32, engine="cuda", checkpoints=1)  # compiles
            result = simulate(policy, make(), runs=runs, engine="cuda", checkpoints=1)
            seconds += result.provenance["seconds"]
            kernels += result.provenance["gpu_seconds"]
            final[name] = result.final_regret
            print(
                setup, name, round(result.provenance["gpu_seconds"], 2), "s in kernels", flush=True
            )
        rows = {name: _row(values) for name, values in final.items()}
        wins = {
            one: {other: _pair(final[one], final[other]) for other in final if other != one}
            for one in final
        }
        found[setup] = {"regret": rows, "wins": wins, "seconds": seconds, "kernels": kernels}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=1 << 18)
    parser.add_argument("--million", type=int, default=0, help="trajectories of Table 1; 0: none")
    parser.add_argument("--agree", action="store_true", help="compare with the cpu engine")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    cuda = engine.require()
    name = cuda.get_current_device().name
    data: dict[str, Any] = {"device": name.decode() if isinstance(name, bytes) else str(name)}

    def save() -> None:
        if args.out:
            args.out.write_text(json.dumps(data, indent=1) + "\n")

    if args.million:
        data["table1"] = {"runs": args.million, **million(args.million)}
        save()
    data["speed"] = speed(args.runs)
    save()
    if args.agree:
        data["agreement"] = agreement()
        save()


if __name__ == "__main__":
    main()
