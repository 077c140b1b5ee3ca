"""`rotting league`: plays every policy on every scenario."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rotting._catalogue import names as catalogue
from rotting._cli import completion, console
from rotting._cli.base import AsJson, Force, Seed, command
from rotting._show.folders import output_folder
from rotting.bandits import Scenario
from rotting.policies._base import Policy

if TYPE_CHECKING:
    from rotting.league import Entry


@command("league")
def league_command(
    runs: Annotated[
        int | None,
        typer.Option(
            "--runs", "-r", help="Runs of a policy on a scenario.", show_default="200; audiences 20"
        ),
    ] = None,
    seed: Seed = 0,
    group: Annotated[
        str,
        typer.Option(
            help="Group of scenarios: league, held_out, adversarial, contests, openings, or for "
            "audiences audience, audience_settings, audience_drawn.",
        ),
    ] = "league",
    scenario: Annotated[
        list[str] | None,
        typer.Option("--scenario", "-s", help="Only these scenarios of it; may be repeated."),
    ] = None,
    own: Annotated[
        list[str] | None,
        typer.Option(
            "--with",
            help="A further policy, as wswa:alpha=0.4; may be repeated.",
            autocompletion=completion.policies,
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", help="Folder for the results.")] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Play all policies on a fixed set of scenarios, to see which one to use.

    Example: rotting league --runs 200 --out out/league
    """
    from rotting.league import _play, _report

    entries = _play.entries_of(group, scenario)
    runs = _play.RUNS[_play.measure_of(group)] if runs is None else runs
    folder = out or Path("out/league" if group == "league" else f"out/league-{group}")
    words = _words(runs, seed, group, scenario or [], own or [])
    extra = _extra(own or [], entries)
    total = _play.matches(entries, extra)
    with output_folder(folder, force) as work, console.progress(total, as_json) as advance:
        found = _play.play(
            runs, seed, group=group, scenarios=scenario, extra=extra, progress=advance
        )
        _report.write(found, work, words)
    if as_json:
        console.print_json(found.as_data(words))
        return
    console.table(_report.standing_table(found))
    console.say(f"{found.seconds:.0f} s. Page: {folder / 'league.html'}")


def _extra(own: list[str], entries: Mapping[str, Entry]) -> dict[str, Any]:
    """Makers of policies by name: parameters that are not given come from each scenario.

    A policy is not played where it needs a family that the scenario lacks. Errors are raised before
    any work.
    """

    def scenario_of(entry: Entry) -> Scenario:
        return dataclasses.replace(entry.scenario, belief=entry.family)

    def maker(text: str) -> Callable[[Entry], Policy | None]:
        def make(entry: Entry) -> Policy | None:
            try:
                return catalogue.parse_policy(text, scenario_of(entry))
            except catalogue.NoFamilyError:
                return None

        return make

    found: dict[str, Any] = {}
    for text in own:
        name = _named(text, [scenario_of(entry) for entry in entries.values()])
        if name in found:
            raise ValueError(f"policies must differ, got {text} twice")
        found[name] = maker(text)
    return found


def _named(text: str, scenarios: list[Scenario]) -> str:
    """The name of a policy, from the first scenario that it can play."""
    for place, scenario in enumerate(scenarios, start=1):
        try:
            return next(iter(catalogue.parse_policies([text], scenario)))
        except catalogue.NoFamilyError:
            if place == len(scenarios):
                raise
    raise AssertionError("a group has scenarios")


def _words(runs: int, seed: int, group: str, scenarios: list[str], own: list[str]) -> str:
    words = f"rotting league --runs {runs} --seed {seed}"
    words += "" if group == "league" else f" --group {group}"
    words += "".join(f" --scenario {name}" for name in scenarios)
    return words + "".join(f" --with {shlex.quote(text)}" for text in own)
