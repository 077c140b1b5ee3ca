"""Playing the league: every policy on every scenario of a group, by one of two measures.

Groups without audiences measure regret, relative to a reference policy's; groups with audiences
measure shares of what pi_max collects, paired by run with the recommended policy's.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rotting import _checks
from rotting._engines import memory
from rotting._experiments.results import Result
from rotting._experiments.shares import Standing
from rotting._experiments.simulation import simulate
from rotting._progress import Report, silent
from rotting.league import _audience_contestants as audience
from rotting.league._audience_scenarios import AUDIENCES
from rotting.league._contestants import Extra, check_extra, joined, makers
from rotting.league._entry import Entry
from rotting.league._scenarios import GROUPS
from rotting.policies import Policy, RoundRobin
from rotting.theory._choice import CHOICES

Cell = dict[str, Any]
REGRET, SHARE = "regret", "share"
RUNS = {REGRET: 200, SHARE: 20}  # shares scatter little, and runs are long
REFERENCE = "RAWUCB"  # the best published all-rounder: others are compared with it


@dataclass(frozen=True)
class League:
    """What was played, and every policy's figures on every scenario.

    Attributes:
        cells: `cells[scenario][policy]`. By regret: mean, standard_error, p95, max, nanoseconds
            (of processor time a decision). By share: share, standard_error, reward, difference to
            the recommended policy's share with low and high (95 %), keys, nanoseconds.
        entries: The scenarios by name.
        runs: Runs of each policy on each scenario.
        seed: The seed of all runs.
        seconds: How long it took.
        extra: Names of policies of a user's own among the others.
        measure: "regret" or "share".
        best_caps: By share: the best frequency cap of each scenario, chosen in hindsight.

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
    extra: tuple[str, ...] = ()
    measure: str = REGRET
    best_caps: Mapping[str, str | None] = field(default_factory=dict)

    def as_data(self, command: str = "") -> dict[str, Any]:
        """What league.json holds."""
        about = {name: entry.about for name, entry in self.entries.items()}
        if self.measure == REGRET:
            played = {"scenarios": self.cells, "recommended": CHOICES, "about": about}
        else:
            played = {
                "scenarios": {
                    name: {
                        "about": about[name],
                        "compared_with": next(iter(row)),
                        "best_cap": self.best_caps[name],
                        "policies": row,
                    }
                    for name, row in self.cells.items()
                }
            }
        return {
            "measure": self.measure,
            **played,
            "runs": self.runs,
            "seed": self.seed,
            "seconds": self.seconds,
            "command": command,
        }

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

        Raises:
            ValueError: The league measures shares.
        """
        if self.measure != REGRET:
            raise ValueError(f"ratios are of regret, but this league's measure is {self.measure}")
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
    """The policies that can play a scenario; with an audience the recommended one first."""
    if entry.scenario.audience is not None:
        return audience.contestants(entry)
    return {name: make(entry) for name, make in makers(entry).items()}


def play(
    runs: int | None = None,
    seed: int = 0,
    *,
    group: str = "league",
    scenarios: list[str] | None = None,
    extra: Extra | None = None,
    progress: Report = silent,
) -> League:
    """Play every policy on every scenario of a group, or on the named ones of it.

    Policies are simulated one by one and not with `compare`, because the processor time of each is
    measured. In groups with audiences all policies see the same rewards.

    Args:
        runs: Runs of each policy on each scenario; 200, or 20 in groups with audiences.
        seed: The seed of all runs.
        group: One of `GROUPS` (measured by regret) or of `AUDIENCES` (by shares of pi_max).
        scenarios: Names of scenarios of the group; all unless given.
        extra: Policies of your own that play beside the others, by name: each is a policy, an
            object with `select` and `update`, or a function of an `Entry` (its `scenario`, and the
            `family` that policies get) that gives what `simulate` plays, or None where it cannot
            play. One that draws random numbers is given as `lambda entry: Mine`, since `Mine` is
            then made from a seed.
        progress: Called with (what, cells done).

    Returns:
        A `League`.

    Raises:
        ValueError: A group or scenario is unknown, `runs` is below 2, or a policy of `extra` has a
            name that is taken or can play no scenario.

    >>> from rotting import league, policies
    >>> ours = {"mine": policies.UCB1(c=0.3)}
    >>> found = league.play(2, scenarios=["fall_28"], extra=ours)  # doctest: +SKIP
    """
    entries = entries_of(group, scenarios)
    measure = measure_of(group)
    runs = _checks.integer("runs", RUNS[measure] if runs is None else runs, least=2)
    playing = {name: joined(contestants(e), extra or {}, e) for name, e in entries.items()}
    check_extra(extra or {}, playing)
    for name, entry in entries.items():
        own = [playing[name][title] for title in extra or {} if title in playing[name]]
        checked = [RoundRobin(), *own] if measure == REGRET else playing[name].values()
        memory.check(checked, entry.scenario, runs, 1, summed_up=True)
    started = time.perf_counter()
    cells: dict[str, dict[str, Cell]] = {}
    caps: dict[str, str | None] = {}
    for name, entry in entries.items():
        if measure == REGRET:
            # fills the cache of what pi_max collects, so that no policy's time includes it
            simulate(RoundRobin(), entry.scenario, runs=runs, seed=seed, checkpoints=1)
        found: dict[str, tuple[Result, float]] = {}
        for title, policy in playing[name].items():
            progress(f"{name}: {title}", 0)
            found[title] = _timed(policy, entry, runs, seed, measure)
            progress(f"{name}: {title}", 1)
        if measure == REGRET:
            cells[name] = {title: _regret(*each) for title, each in found.items()}
        else:
            cells[name], caps[name] = _shares(name, found, playing[name])
    seconds = time.perf_counter() - started
    return League(cells, entries, runs, seed, seconds, tuple(extra or ()), measure, caps)


def measure_of(group: str) -> str:
    """What a group is measured by."""
    return SHARE if group in AUDIENCES else REGRET


def entries_of(group: str, scenarios: list[str] | None = None) -> dict[str, Entry]:
    """The scenarios of a group by name; all of them, or those that are named."""
    every = {**GROUPS, **AUDIENCES}
    chosen = every[_checks.known("group", group, every)]
    for name in scenarios or []:
        other = next((group for group, entries in every.items() if name in entries), None)
        if name not in chosen and other is not None:
            raise ValueError(f"scenario must be of the group {group}, but {name} is of {other}")
        _checks.known("scenario", name, chosen)
    return {name: entry for name, entry in chosen.items() if not scenarios or name in scenarios}


def matches(entries: Mapping[str, Entry], extra: Extra | None = None) -> int:
    """The number of cells of `play`: pairs of a policy and a scenario."""
    return sum(len(joined(contestants(e), extra or {}, e)) for e in entries.values())


def _timed(policy: Any, entry: Entry, runs: int, seed: int, measure: str) -> tuple[Result, float]:
    """The result, and nanoseconds of processor time a decision.

    The first run is played twice, so that compiling is not timed. In audiences the time includes
    what pi_max takes for the regret.
    """
    options: dict[str, Any] = {} if measure == REGRET else {"noise": "common"}
    simulate(policy, entry.scenario, runs=1, seed=seed, checkpoints=1, **options)
    cpu = time.process_time()
    found = simulate(policy, entry.scenario, runs=runs, seed=seed, checkpoints=1, **options)
    return found, (time.process_time() - cpu) / (runs * entry.scenario.horizon) * 1e9


def _regret(result: Result, nanoseconds: float) -> Cell:
    regret = result.final_regret
    return {
        "mean": float(regret.mean()),
        "standard_error": float(regret.std(ddof=1) / math.sqrt(result.runs)),
        "p95": float(np.quantile(regret, 0.95)),
        "max": float(regret.max()),
        "nanoseconds": nanoseconds,
    }


def _shares(
    name: str, found: Mapping[str, tuple[Result, float]], playing: Mapping[str, Policy]
) -> tuple[dict[str, Cell], str | None]:
    """The shares of all policies, each less the first's; and the best cap."""
    results = {title: result for title, (result, _) in found.items()}
    standing = Standing(name, results, next(iter(results)), audience.capped_names(playing))
    rows = {
        title: {**share._asdict(), "nanoseconds": found[title][1]}
        for title, share in standing.shares.items()
    }
    return rows, standing.best_cap
