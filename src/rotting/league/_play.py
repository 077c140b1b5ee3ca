"""Plays the league: mean, tail, worst run and cost of every policy on every scenario."""

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
REFERENCE = "RAWUCB"  # the best published all-rounder: others are compared with it


@dataclass(frozen=True)
class League:
    """The results of a league, made by `play`.

    Regrets are compared with those of a reference policy, RAW-UCB.

    Attributes:
        cells: `cells[scenario][policy]` has mean, standard_error, p95 (the 95th percentile) and max
            of the final regret over runs, and nanoseconds a decision.
        entries: The scenarios by name.
        runs: Of each policy on each scenario.
        seed: Of the call.
        seconds: Wall-clock time.
        extra: The names of a user's own policies.

    >>> from rotting import league, policies
    >>> cell = {"mean": 10.0, "standard_error": 1.0, "p95": 15.0, "max": 20.0, "nanoseconds": 50.0}
    >>> other = {**cell, "mean": 20.0}
    >>> found = league.League({"av": {"RAWUCB": cell, "UCB1": other}}, {}, 200, 0, 1.0)
    >>> found.standing(), found.worst("UCB1"), found.above("UCB1", 1.2)
    (['RAWUCB', 'UCB1'], ('av', 2.0), ['av'])
    """

    cells: dict[str, dict[str, Cell]]
    entries: Mapping[str, Entry]
    runs: int
    seed: int
    seconds: float
    extra: tuple[str, ...] = ()  # names of a user's own policies

    def relative(self, policy: str) -> dict[str, float]:
        """The mean regret divided by that of the best policy, by scenario.

        Args:
            policy: Its name in the league.

        Returns:
            Ratios of at least 1, for the scenarios that it plays.
        """
        return {
            scenario: row[policy]["mean"] / max(min(c["mean"] for c in row.values()), 1e-9)
            for scenario, row in self.cells.items()
            if policy in row
        }

    def ratio(self, policy: str, what: str = "mean") -> dict[str, float]:
        """A figure divided by that of the reference, by scenario.

        Args:
            policy: Its name in the league.
            what: "mean", "p95", "max" or "nanoseconds".

        Returns:
            Ratios for the scenarios that it plays.
        """
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
        """The scenario with the policy's highest `ratio`, and that ratio."""
        ratios = self.ratio(policy, what)
        name = max(ratios, key=ratios.__getitem__)
        return name, ratios[name]

    def above(self, policy: str, limit: float) -> list[str]:
        """The scenarios in which the ratio of means exceeds a limit by two standard errors."""
        return [
            scenario
            for scenario, ratio in self.ratio(policy).items()
            if ratio - 2.0 * self.ratio_error(policy, scenario) > limit
        ]

    def ranks(self) -> dict[str, float]:
        """The mean rank of each policy by mean regret, over its scenarios; 1 is best."""
        places: dict[str, list[int]] = {}
        for row in self.cells.values():
            order = sorted(row, key=lambda name: row[name]["mean"])
            for place, name in enumerate(order, start=1):
                places.setdefault(name, []).append(place)
        return {name: float(np.mean(found)) for name, found in places.items()}

    def standing(self) -> list[str]:
        """The policies by the geometric mean of their ratios to the reference, best first."""
        return sorted(self.ranks(), key=lambda name: geometric_mean(self.ratio(name).values()))


def geometric_mean(values: Any) -> float:
    """The geometric mean of ratios of regrets.

    Args:
        values: Numbers. Those below 0.001 count as 0.001: by luck a regret can be negative.

    Returns:
        The mean; NaN without values.

    >>> round(geometric_mean([2.0, 8.0]), 9)
    4.0
    """
    logs = [math.log(max(value, 1e-3)) for value in values]
    return math.exp(sum(logs) / len(logs)) if logs else math.nan


def contestants(entry: Entry) -> dict[str, Policy]:
    """The policies for a scenario by name."""
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
    """Play every policy of the league on every scenario of a group.

    Policies are simulated one by one and not with `compare`, because the processor time of each is
    measured.

    Args:
        runs: Of each policy on each scenario; at least 2.
        seed: The same seed gives the same results, but for the times.
        group: A key of `GROUPS`.
        scenarios: Names of scenarios of the group; None: all.
        extra: Further policies of your own by name. Each is a policy, an object with `select` and
            `update`, or a function of an `Entry` that returns what `simulate` plays, or None where
            it cannot play. Give a class that draws random numbers as `lambda entry: Mine`: `Mine`
            is then made from a seed for each run.
        progress: Called with (what, cells done); a cell is a policy on a scenario.

    Returns:
        A `League`.

    Raises:
        ValueError: There is no such group or scenario, an extra policy has the name of another or
            cannot play, or memory would not suffice.
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
    """The scenarios of a group by name; all of them, or those that are named."""
    _checks.known("group", group, GROUPS)
    chosen = GROUPS[group]
    for name in scenarios or []:
        other = next((group for group, entries in GROUPS.items() if name in entries), None)
        if name not in chosen and other is not None:
            raise ValueError(f"scenario must be of the group {group}, but {name} is of {other}")
        _checks.known("scenario", name, chosen)
    return {name: entry for name, entry in chosen.items() if not scenarios or name in scenarios}


def matches(entries: Mapping[str, Entry], extra: Extra | None = None) -> int:
    """The number of cells of `play`: pairs of a policy and a scenario."""
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
