"""Plays policies on a scenario with a progress bar, and shows the comparison."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rotting._cli import console
from rotting._engines import memory
from rotting._experiments.comparison import Comparison, compare
from rotting._experiments.results import GREEDY, measure_of
from rotting._show import comparison as files
from rotting._show.folders import output_folder
from rotting.bandits import Scenario
from rotting.policies._base import Policy


def play(
    policies: Mapping[str, Policy], scenario: Scenario, quiet: bool, *, runs: int, **options: Any
) -> Comparison:
    """Compare policies, with a bar unless `quiet`. Options are those of `simulate`."""
    memory.check(policies.values(), scenario, runs, summed_up=True)
    with console.progress(runs * len(policies), quiet) as advance:
        return compare(policies, scenario, runs=runs, report=advance, **options)


def play_and_show(
    policies: Mapping[str, Policy],
    scenario: Scenario,
    as_json: bool,
    out: Path | None,
    force: bool,
    **options: Any,
) -> None:
    """Compare policies, print the result, and write a folder if `out` names one."""
    if out is None:
        found = play(policies, scenario, as_json, **options)
    else:
        with output_folder(out, force) as work:
            found = play(policies, scenario, as_json, **options)
            files.write(found, work)
    if as_json:
        console.print_json(found.summary())
        return
    console.comparison(found, title(scenario, options["runs"], options["seed"]))
    if out is not None:
        console.say(f"Results and picture: {out}")


def title(scenario: Scenario, runs: int, seed: int) -> str:
    """A title line: scenario, size, runs, seed, measure."""
    name = scenario.name or "scenario"
    size = f"K = {scenario.arm_count}, T = {scenario.horizon}"
    if scenario.crowd is not None:
        size += f", {scenario.crowd.keys} keys"
    measure = f", {measure_of(GREEDY)}" if scenario.greedy else ""
    return f"{name}: {size}, {counted(runs)}, seed {seed}{measure}"


def counted(runs: int) -> str:
    """A number of runs in words.

    >>> counted(1), counted(100)
    ('1 run', '100 runs')
    """
    return "1 run" if runs == 1 else f"{runs} runs"
