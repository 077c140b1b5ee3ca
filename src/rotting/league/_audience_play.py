"""Plays the audience league: shares of pi_max, paired by run, and the cost of a decision."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from rotting import _checks
from rotting._engines import memory
from rotting._experiments.results import Result
from rotting._experiments.shares import Standing
from rotting._experiments.simulation import simulate
from rotting._progress import Report, silent
from rotting.league._audience_contestants import capped_names, contestants
from rotting.league._audience_scenarios import AUDIENCES
from rotting.league._contestants import Extra, check_extra, joined
from rotting.league._entry import Entry

RUNS = 20  # enough: shares vary little, and runs are long


@dataclass(frozen=True)
class AudienceLeague:
    """The results: a standing for each scenario, and nanoseconds a decision."""

    standings: dict[str, Standing]
    nanoseconds: dict[str, dict[str, float]]
    entries: Mapping[str, Entry]
    runs: int
    seed: int
    seconds: float

    def as_data(self, command: str) -> dict[str, Any]:
        """The contents of audience_league.json."""
        return {
            "scenarios": {name: self._scenario(name) for name in self.standings},
            "runs": self.runs,
            "seed": self.seed,
            "seconds": self.seconds,
            "command": command,
        }

    def _scenario(self, name: str) -> dict[str, Any]:
        data = self.standings[name].as_data()
        cost = self.nanoseconds[name]
        return {
            "about": self.entries[name].about,
            "compared_with": data["compared_with"],
            "best_cap": data["best_cap"],
            "policies": {
                policy: {**row, "nanoseconds": cost[policy]}
                for policy, row in data["policies"].items()
            },
        }


class Beaten(NamedTuple):
    """A policy that is significantly better than the recommended one."""

    scenario: str
    by: str
    difference: float
    low: float  # the 95 % interval of the difference
    high: float


def beaten(data: Mapping[str, Any]) -> list[Beaten]:
    """The policies that beat the recommended one, from the data of a league.

    Of all caps only the best in hindsight counts.
    """
    return [
        Beaten(scenario, name, cell["difference"], cell["low"], cell["high"])
        for scenario, found in data["scenarios"].items()
        for name, cell in found["policies"].items()
        if cell["low"] is not None and cell["low"] > 0.0
        if not is_cap(name) or name == found["best_cap"]
    ]


def is_cap(name: str) -> bool:
    """Whether a policy of the league is a frequency cap, by its name."""
    return "(cap=" in name


def play(
    runs: int = RUNS,
    seed: int = 0,
    *,
    group: str = "audience",
    scenarios: list[str] | None = None,
    extra: Extra | None = None,
    progress: Report = silent,
) -> AudienceLeague:
    """Play the contestants on every scenario of a group of `AUDIENCES`, or on the named ones.

    `extra` are policies of your own beside them, as in the league without audiences. All policies
    see the same rewards. `progress` is called with (what, cells done).
    """
    runs = _checks.integer("runs", runs, least=2)
    entries = entries_of(group, scenarios)
    playing = {name: joined(contestants(e), extra or {}, e) for name, e in entries.items()}
    check_extra(extra or {}, playing)
    for name, entry in entries.items():
        memory.check(playing[name].values(), entry.scenario, runs, 1, summed_up=True)
    started = time.perf_counter()
    standings: dict[str, Standing] = {}
    nanoseconds: dict[str, dict[str, float]] = {}
    for name, entry in entries.items():
        results: dict[str, Result] = {}
        nanoseconds[name] = {}
        for title, policy in playing[name].items():
            progress(f"{name}: {title}", 0)
            results[title], nanoseconds[name][title] = _timed(policy, entry, runs, seed)
            progress(f"{name}: {title}", 1)
        first = next(iter(results))  # the recommended policy
        standings[name] = Standing(name, results, first, capped_names(playing[name]))
    seconds = time.perf_counter() - started
    return AudienceLeague(standings, nanoseconds, entries, runs, seed, seconds)


def entries_of(group: str, scenarios: list[str] | None = None) -> dict[str, Entry]:
    """The scenarios of a group by name, or the named ones of them."""
    chosen = AUDIENCES[_checks.known("group", group, AUDIENCES)]
    for name in scenarios or []:
        _checks.known("scenario", name, chosen)
    return {name: entry for name, entry in chosen.items() if not scenarios or name in scenarios}


def matches(entries: Mapping[str, Entry], extra: Extra | None = None) -> int:
    """How many cells `play` fills: pairs of a policy and a scenario."""
    return sum(len(joined(contestants(e), extra or {}, e)) for e in entries.values())


def _timed(policy: Any, entry: Entry, runs: int, seed: int) -> tuple[Result, float]:
    """The result, and nanoseconds of processor time a decision, pi_max's for the regret included.

    The first run is played twice, so that compiling is not timed.
    """
    simulate(policy, entry.scenario, runs=1, seed=seed, checkpoints=1, noise="common")
    cpu = time.process_time()
    found = simulate(policy, entry.scenario, runs=runs, seed=seed, checkpoints=1, noise="common")
    return found, (time.process_time() - cpu) / (runs * entry.scenario.horizon) * 1e9
