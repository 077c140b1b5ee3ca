"""The paper's section Simulations, run: grid searches, evaluation, and both once more as tuned."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rotting import checks
from rotting.experiments.comparison import Comparison
from rotting.experiments.results import Result
from rotting.experiments.simulation import simulate
from rotting.experiments.tuning import Tuning, tune
from rotting.papers import levine2017
from rotting.papers.levine2017 import published
from rotting.policies.base import Policy

GRID_RUNS = 100
MANY = 50_000  # runs, from which on less is kept of each

# report(what, decisions): so many more decisions were made, working at `what`
Report = Callable[[str, int], None]


@dataclass(frozen=True, eq=False)
class Reproduction:
    """Everything the report shows, by setup ("non_parametric", "av", "anv")."""

    runs: int
    seed: int
    grids: dict[str, dict[str, Tuning]]
    reported: dict[str, Comparison]  # with the parameters the paper reports
    tuned: dict[str, Comparison]  # with those our grid chooses
    seconds: float


def decisions(runs: int) -> int:
    """How many decisions a reproduction makes at most, for showing progress."""
    horizon = levine2017.HORIZON
    settings = sum(len(values) for _, values in published.GRIDS.values())
    evaluated = sum(len(levine2017.reported_policies(setup)) for setup in published.SETUPS)
    tuned = len(published.GRIDS) * len(published.SETUPS)
    return horizon * (GRID_RUNS * settings * len(published.SETUPS) + runs * (evaluated + tuned))


def reproduce(
    runs: int = published.RUNS,
    seed: int = 0,
    report: Report = lambda what, made: None,
    horizon: int = levine2017.HORIZON,
    **options: Any,
) -> Reproduction:
    """Run the whole section. `runs` is the evaluation's; grids always have 100.

    The options (engine, threads) are those of `simulate`. A shorter horizon is for trying out.
    """
    runs = checks.integer("runs", runs, least=2)
    begin = time.perf_counter()
    grids: dict[str, dict[str, Tuning]] = {}
    reported: dict[str, Comparison] = {}
    tuned: dict[str, Comparison] = {}
    for setup in published.SETUPS:
        scenario = dataclasses.replace(levine2017.SETUPS[setup](), horizon=horizon)
        chosen = levine2017.reported_policies(setup)
        grids[setup] = {
            name: _search(name, chosen[name], scenario, seed, report, _for_grids(options))
            for name in published.GRIDS
        }
        played: dict[str, Result] = {}

        def play(
            policy: Policy,
            scenario: Any = scenario,
            setup: str = setup,
            played: dict[str, Result] = played,
        ) -> Result:
            # the same policy and seed give the same result: those our grid leaves alone run once
            key, what = repr(policy), f"{published.SETUPS[setup]} {policy.title}"
            if key in played:
                report(what, runs * horizon)
            else:
                progress = _reporter(report, what, horizon)
                # a million curves of a hundred points would not fit: ten will do
                kept: dict[str, Any] = {} if runs <= MANY else {"checkpoints": 10}
                played[key] = simulate(
                    policy, scenario, runs=runs, seed=seed, progress=progress, **kept, **options
                )
            return played[key]

        ours = {name: grids[setup][name].best if name in grids[setup] else policy
                for name, policy in chosen.items()}  # fmt: skip
        reported[setup] = Comparison({name: play(policy) for name, policy in chosen.items()})
        tuned[setup] = Comparison({name: play(policy) for name, policy in ours.items()})
    return Reproduction(runs, seed, grids, reported, tuned, time.perf_counter() - begin)


def _for_grids(options: dict[str, Any]) -> dict[str, Any]:
    """Grids are small: they stay on this machine's processor."""
    if options.get("engine") != "cuda" and options.get("backend", "threads") == "threads":
        return options
    return {**options, "engine": "cpu", "backend": "threads", "address": None}


def _search(
    name: str, policy: Policy, scenario: Any, seed: int, report: Report, options: dict[str, Any]
) -> Tuning:
    parameter, values = published.GRIDS[name]
    progress = _reporter(report, f"grid of {name}", scenario.horizon)
    return tune(policy, {parameter: values}, scenario, runs=GRID_RUNS, seed=seed,
                progress=progress, checkpoints=1, **options)  # fmt: skip


def _reporter(report: Report, what: str, horizon: int) -> Callable[[int, int], None]:
    """Turn (runs done, runs) of one simulation after another into decisions made."""
    before = 0

    def progress(done: int, total: int) -> None:
        nonlocal before
        report(what, (done - before) * horizon)
        before = 0 if done == total else done

    return progress
