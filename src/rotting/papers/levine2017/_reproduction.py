"""Plays the section Simulations: grid searches, then policies as reported and as tuned."""

from __future__ import annotations

import dataclasses
import time
from dataclasses import dataclass
from typing import Any

from rotting import _checks, _provenance
from rotting._engines import memory
from rotting._experiments.comparison import Comparison, compare
from rotting._experiments.tuning import Tuning, tune
from rotting._progress import Report, in_steps, silent
from rotting.bandits import Scenario
from rotting.papers.levine2017 import _published, _setups
from rotting.policies._base import Policy

GRID_RUNS = 100
MANY = 50_000  # runs above which fewer checkpoints are kept


@dataclass(frozen=True, eq=False)
class Reproduction:
    """All results of the report, by setup ("non_parametric", "av", "anv")."""

    runs: int
    seed: int
    grids: dict[str, dict[str, Tuning]]
    reported: dict[str, Comparison]  # with the paper's parameters
    tuned: dict[str, Comparison]  # with the parameters of our grid
    beside: dict[str, Comparison]  # as reported, with SWUCB's other B
    swucb_b: float
    other_b: float
    seconds: float
    gpu_seconds: float


def decisions(runs: int) -> int:
    """The number of decisions of a reproduction, with those played before, for a progress bar."""
    settings = len(_published.SETUPS) * sum(len(values) for _, values in _published.GRIDS.values())
    evaluated = sum(len(_setups.reported_policies(setup)) for setup in _published.SETUPS)
    return _setups.HORIZON * (GRID_RUNS * settings + runs * 3 * evaluated)


def reproduce(
    runs: int = _published.RUNS,
    seed: int = 0,
    report: Report = silent,
    horizon: int = _setups.HORIZON,
    swucb_b: float = _setups.USUAL_B,
    **options: Any,
) -> Reproduction:
    """Play the whole section; grid searches always have 100 runs.

    Args:
        runs: Of the evaluation.
        seed: The same seed gives the same results.
        report: Called with (what, decisions done).
        horizon: A shorter one is for trials.
        swucb_b: The constant B of SWUCB; its wins are shown beside those with another one.
        options: Those of `simulate`, such as engine and threads.
    """
    runs = _checks.integer("runs", runs, least=2)
    swucb_b = _checks.number("swucb_b", swucb_b, above=0)
    other_b = _setups.OTHER_B if swucb_b != _setups.OTHER_B else _setups.USUAL_B
    kept: dict[str, Any] = (
        {"checkpoints": 10} if runs > MANY else {}
    )  # curves of a million runs would take gigabytes
    _check_sizes(runs, horizon, **kept)
    begin = time.perf_counter()
    grids: dict[str, dict[str, Tuning]] = {}
    reported: dict[str, Comparison] = {}
    tuned: dict[str, Comparison] = {}
    beside: dict[str, Comparison] = {}
    for setup in _published.SETUPS:
        scenario = dataclasses.replace(_setups.SETUPS[setup](), horizon=horizon)
        theirs = _setups.reported_policies(setup, swucb_b)
        grids[setup] = {
            name: _search(name, theirs[name], scenario, seed, report, _for_grids(options))
            for name in _published.GRIDS
        }
        ours = {
            name: grids[setup][name].best if name in grids[setup] else policy
            for name, policy in theirs.items()
        }
        settings = {**options, **kept, "runs": runs, "seed": seed}
        settings["report"] = _of_setup(report, setup, horizon)
        reported[setup] = compare(theirs, scenario, **settings)
        # policies whose parameters our grid does not change are not played again
        played = {policy: reported[setup][name] for name, policy in theirs.items()}
        tuned[setup] = compare(ours, scenario, played=played, **settings)
        other = _setups.reported_policies(setup, other_b)
        beside[setup] = compare(other, scenario, played=played, **settings)
    seconds = time.perf_counter() - begin
    gpu_seconds = _gpu_seconds(grids, [reported, tuned, beside])
    return Reproduction(
        runs, seed, grids, reported, tuned, beside, swucb_b, other_b, seconds, gpu_seconds
    )


def _check_sizes(runs: int, horizon: int, **kept: Any) -> None:
    """Refuse too many runs before the grid searches: all results are kept in memory."""
    played: list[Policy] = []
    for setup in _published.SETUPS:
        theirs = _setups.reported_policies(setup)
        tuned_or_beside = [*_published.GRIDS, "SWUCB"]
        played += [*theirs.values(), *(theirs[name] for name in tuned_or_beside)]
    scenario = dataclasses.replace(_setups.anv(), horizon=horizon)
    memory.check(played, scenario, runs, **kept, summed_up=True)


def _of_setup(report: Report, setup: str, horizon: int) -> Report:
    """A report of a comparison's runs as decisions."""
    return lambda name, runs: report(f"{_published.SETUPS[setup]} {name}", runs * horizon)


def _gpu_seconds(
    grids: dict[str, dict[str, Tuning]], compared: list[dict[str, Comparison]]
) -> float:
    results = [
        result for found in grids.values() for tuning in found.values() for result in tuning.results
    ]
    for comparisons in compared:
        for comparison in comparisons.values():
            results += comparison.results.values()
    once = {id(result): result for result in results}  # some results are in several comparisons
    return _provenance.gpu_seconds(result.provenance for result in once.values())


def _for_grids(options: dict[str, Any]) -> dict[str, Any]:
    """The options of grid searches, which are small: they are played on this machine's CPU."""
    if options.get("engine") != "cuda" and options.get("backend", "threads") == "threads":
        return options
    return {**options, "engine": "cpu", "backend": "threads", "address": None}


def _search(
    name: str,
    policy: Policy,
    scenario: Scenario,
    seed: int,
    report: Report,
    options: dict[str, Any],
) -> Tuning:
    parameter, values = _published.GRIDS[name]
    progress = in_steps(report, f"grid of {name}", size=scenario.horizon)
    return tune(
        policy,
        {parameter: values},
        scenario,
        runs=GRID_RUNS,
        seed=seed,
        progress=progress,
        checkpoints=1,
        **options,
    )
