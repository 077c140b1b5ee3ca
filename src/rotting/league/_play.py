"""Playing the league: mean, tail, worst run and cost of every policy on every scenario."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from rotting import _checks
from rotting._engines import memory
from rotting._experiments.simulation import simulate
from rotting._progress import Report, silent
from rotting.league._contestants import Extra, check_extra, joined, makers
from rotting.league._entry import Entry
from rotting.league._scenarios import GROUPS
from rotting.policies import Policy, RoundRobin

Cell = dict[str, float]
RUNS = 200
REFERENCE = "RAWUCB"  # the best published all-rounder, which others are measured against


@dataclass(frozen=True)
class League:
    """`cells[scenario][policy]`: mean, standard_error, p95, max, nanoseconds."""

    cells: dict[str, dict[str, Cell]]
    entries: Mapping[str, Entry]
    runs: int
    seed: int
    seconds: float
    extra: tuple[str, ...] = ()  # a user's own among the policies

    def relative(self, policy: str) -> dict[str, float]:
        """Mean regret relative to the best of each scenario."""
        return {
            scenario: row[policy]["mean"] / max(min(c["mean"] for c in row.values()), 1e-9)
            for scenario, row in self.cells.items()
            if policy in row
        }

    def ratio(self, policy: str, what: str = "mean") -> dict[str, float]:
        """A figure relative to the reference's, scenario by scenario."""
        return {
            scenario: row[policy][what] / max(row[REFERENCE][what], 1e-9)
            for scenario, row in self.cells.items()
            if policy in row
        }

    def ratio_error(self, policy: str, scenario: str) -> float:
        """The standard error of the ratio of means (delta method; the runs are independent)."""
        ours, theirs = self.cells[scenario][policy], self.cells[scenario][REFERENCE]
        parts = [cell["standard_error"] / max(abs(cell["mean"]), 1e-9) for cell in (ours, theirs)]
        return self.ratio(policy)[scenario] * math.hypot(*parts)

    def worst(self, policy: str, what: str = "mean") -> tuple[str, float]:
        """The scenario with the policy's highest ratio to the reference, and that ratio."""
        ratios = self.ratio(policy, what)
        name = max(ratios, key=ratios.__getitem__)
        return name, ratios[name]

    def above(self, policy: str, limit: float) -> list[str]:
        """The scenarios whose ratio of means is above a limit by two standard errors or more."""
        return [
            scenario
            for scenario, ratio in self.ratio(policy).items()
            if ratio - 2.0 * self.ratio_error(policy, scenario) > limit
        ]

    def ranks(self) -> dict[str, float]:
        """The mean rank of each policy over the scenarios that it plays."""
        places: dict[str, list[int]] = {}
        for row in self.cells.values():
            order = sorted(row, key=lambda name: row[name]["mean"])
            for place, name in enumerate(order, start=1):
                places.setdefault(name, []).append(place)
        return {name: float(np.mean(found)) for name, found in places.items()}

    def standing(self) -> list[str]:
        """The policies, best first, by their mean ratio to the reference."""
        return sorted(self.ranks(), key=lambda name: geometric_mean(self.ratio(name).values()))


def geometric_mean(values: Any) -> float:
    """The geometric mean; negative or zero regrets, which pure luck can give, count as 0.001."""
    logs = [math.log(max(value, 1e-3)) for value in values]
    return math.exp(sum(logs) / len(logs)) if logs else math.nan


def contestants(entry: Entry) -> dict[str, Policy]:
    """The policies that can play a scenario."""
    return {name: make(entry) for name, make in makers(entry).items()}


def play(
    runs: int = RUNS,
    seed: int = 0,
    *,
    group: str = "league",
    scenarios: list[str] | None = None,
    extra: Extra | None = None,
    progress: Report = silent,
) -> League:
    """Play every policy on every scenario of a group of `GROUPS`, or on the named ones of it.

    `extra` are policies of your own that play beside them, by name: each is a policy, an object
    with `select` and `update`, or a function of an `Entry` (its `scenario`, and the `family` that
    policies are told) that gives what `simulate` plays, or None where it cannot play. One that
    draws random numbers is given as `lambda entry: Mine`, for `Mine` is then made from a seed.
    `progress` is called with (what, cells done). Policies are simulated one by one and not with
    `compare`, because the processor time of each is measured.
    """
    runs = _checks.integer("runs", runs, least=2)
    entries = entries_of(group, scenarios)
    playing = {name: joined(contestants(e), extra or {}, e) for name, e in entries.items()}
    check_extra(extra or {}, playing)
    for name, entry in entries.items():
        own = [playing[name][title] for title in extra or {} if title in playing[name]]
        memory.check([RoundRobin(), *own], entry.scenario, runs, 1, summed_up=True)
    started = time.perf_counter()
    cells: dict[str, dict[str, Cell]] = {}
    for name, entry in entries.items():
        cells[name] = {}
        # fills the cache of what pi_max collects, so that no policy's time includes it
        simulate(RoundRobin(), entry.scenario, runs=runs, seed=seed, checkpoints=1)
        for title, policy in playing[name].items():
            progress(f"{name}: {title}", 0)
            cells[name][title] = _cell(policy, entry, runs, seed)
            progress(f"{name}: {title}", 1)
    return League(cells, entries, runs, seed, time.perf_counter() - started, tuple(extra or ()))


def entries_of(group: str, scenarios: list[str] | None = None) -> dict[str, Entry]:
    """The scenarios of a group by name, or the named ones of them."""
    _checks.known("group", group, GROUPS)
    chosen = GROUPS[group]
    for name in scenarios or []:
        other = next((group for group, entries in GROUPS.items() if name in entries), None)
        if name not in chosen and other is not None:
            raise ValueError(f"scenario must be of the group {group}, but {name} is of {other}")
        _checks.known("scenario", name, chosen)
    return {name: entry for name, entry in chosen.items() if not scenarios or name in scenarios}


def matches(entries: Mapping[str, Entry], extra: Extra | None = None) -> int:
    """How many cells `play` fills: pairs of a policy and a scenario."""
    return sum(len(joined(contestants(e), extra or {}, e)) for e in entries.values())


def _cell(policy: Any, entry: Entry, runs: int, seed: int) -> Cell:
    # one short run first, so that compiling is not timed
    simulate(policy, entry.scenario, runs=1, seed=seed, checkpoints=1)
    cpu = time.process_time()
    result = simulate(policy, entry.scenario, runs=runs, seed=seed, checkpoints=1)
    spent = time.process_time() - cpu
    regret = result.final_regret
    return {
        "mean": float(regret.mean()),
        "standard_error": float(regret.std(ddof=1) / math.sqrt(runs)),
        "p95": float(np.quantile(regret, 0.95)),
        "max": float(regret.max()),
        "nanoseconds": spent / (runs * entry.scenario.horizon) * 1e9,
    }
