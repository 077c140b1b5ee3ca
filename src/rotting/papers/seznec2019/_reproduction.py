"""Plays the two benchmarks: a table beside its reference, and regret against L."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from rotting import _provenance
from rotting._engines import memory
from rotting._experiments.comparison import Comparison, compare
from rotting._experiments.results import Result
from rotting._progress import Report
from rotting.bandits import Scenario
from rotting.papers.seznec2019 import _published, _setups
from rotting.policies import Policy

Cell = tuple[float, float]  # mean regret and its standard error

FAMILY_POLICIES = ("RAW-UCB 1.4", "EFF-RAW 1.4, m = 1.1", "FEWA 0.06", "wSWA .002", "wSWA .2")


@dataclass(frozen=True)
class Reproduction:
    """The results: `table` by policy and setup; `family` by policy, a cell for each L."""

    table: dict[str, dict[str, Cell]]
    family: dict[str, list[Cell]]
    runs: int
    seed: int
    seconds: float
    gpu_seconds: float


def steps(runs: int) -> int:
    """The number of runs that a reproduction plays, for a progress bar."""
    table = len(_setups.policies()) * len(_published.SETUPS)
    return runs * (table + len(FAMILY_POLICIES) * _setups.LEVELS)


def reproduce(runs: int, seed: int, report: Report, **options: Any) -> Reproduction:
    """Play both benchmarks, with common noise as in the reference."""
    started = time.perf_counter()
    on_gpu = 0.0

    def play(what: str, policies: dict[str, Policy], scenario: Scenario) -> Comparison:
        nonlocal on_gpu
        found = compare(
            policies,
            scenario,
            runs=runs,
            seed=seed,
            noise="common",
            checkpoints=1,
            report=lambda name, more: report(f"{what}: {name}", more),
            **options,
        )
        on_gpu += _provenance.gpu_seconds(result.provenance for result in found.results.values())
        return found

    policies = _setups.policies()
    memory.check(policies.values(), _setups.ten_arms(), runs, 1, summed_up=True)
    scenarios = {
        "L11": _setups.two_arms(11),
        "L24": _setups.two_arms(24),
        "ten": _setups.ten_arms(),
    }
    table: dict[str, dict[str, Cell]] = {name: {} for name in policies}
    for setup, scenario in scenarios.items():
        found = play(_published.SETUPS[setup], policies, scenario)
        for name, result in found.results.items():
            table[name][setup] = _cell(result)
    shown = {name: policies[name] for name in FAMILY_POLICIES}
    family: dict[str, list[Cell]] = {name: [] for name in shown}
    for i in range(_setups.LEVELS):
        found = play(f"L = {_setups.level(i):.3g}", shown, _setups.two_arms(i))
        for name, result in found.results.items():
            family[name].append(_cell(result))
    return Reproduction(table, family, runs, seed, time.perf_counter() - started, on_gpu)


def _cell(result: Result) -> Cell:
    return float(result.mean_regret[-1]), float(result.standard_error[-1])


def far_off(found: Reproduction) -> list[str]:
    """Cells more than four standard errors, theirs and ours combined, from the reference."""
    wrong = []
    for name, cells in _published.FIGURES.items():
        for setup, (mean, error) in cells.items():
            ours, own = found.table[name][setup]
            rounding = 0.5 if mean >= 20 else 0.05
            if abs(ours - mean) > 4.0 * (error**2 + own**2) ** 0.5 + rounding:
                wrong.append(
                    f"{name}, {_published.SETUPS[setup]}: {ours:.1f} +- {own:.1f} against "
                    f"{mean:g} +- {error:g}"
                )
    return wrong
