"""`rotting league`: plays every policy on every scenario."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rotting import _checks
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
    from rotting.league import AUDIENCES, GROUPS

    _checks.known("group", group, [*GROUPS, *AUDIENCES])
    folder = out or Path("out/league" if group == "league" else f"out/league-{group}")
    play = _audiences if group in AUDIENCES else _bandits
    play(runs, seed, group, scenario, own or [], folder, force, as_json)


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


def _words(runs: int, seed: int, group: str, scenario: list[str] | None, own: list[str]) -> str:
    words = f"rotting league --runs {runs} --seed {seed}"
    words += "" if group == "league" else f" --group {group}"
    words += "".join(f" --scenario {name}" for name in scenario or [])
    return words + "".join(f" --with {shlex.quote(text)}" for text in own)


def _bandits(
    runs: int | None,
    seed: int,
    group: str,
    scenario: list[str] | None,
    own: list[str],
    folder: Path,
    force: bool,
    as_json: bool,
) -> None:
    from rotting.league import _play, _report

    runs = _play.RUNS if runs is None else runs
    words = _words(runs, seed, group, scenario, own)
    entries = _play.entries_of(group, scenario)
    extra = _extra(own, entries)
    total = _play.matches(entries, extra)
    with output_folder(folder, force) as work, console.progress(total, as_json) as advance:
        found = _play.play(
            runs, seed, group=group, scenarios=scenario, extra=extra, progress=advance
        )
        _report.write(found, work, words)
    if as_json:
        console.print_json(_report.as_data(found, words))
        return
    console.table(*_report.standing_rows(found), f"{len(found.cells)} scenarios, {runs} runs each")
    console.say(f"{found.seconds:.0f} s. Page: {folder / 'league.html'}")


def _audiences(
    runs: int | None,
    seed: int,
    group: str,
    scenario: list[str] | None,
    own: list[str],
    folder: Path,
    force: bool,
    as_json: bool,
) -> None:
    from rotting.league import _audience_play as _play
    from rotting.league import _audience_report as _report

    runs = _play.RUNS if runs is None else runs
    entries = _play.entries_of(group, scenario)
    extra = _extra(own, entries)
    total = _play.matches(entries, extra)
    with output_folder(folder, force) as work, console.progress(total, as_json) as advance:
        found = _play.play(
            runs, seed, group=group, scenarios=scenario, extra=extra, progress=advance
        )
        data = found.as_data(_words(runs, seed, group, scenario, own))
        _report.write(data, work)
    if as_json:
        console.print_json(data)
        return
    title = f"{len(found.standings)} scenarios, {runs} runs each: share of pi_max, differences"
    console.table(*_report.standing_rows(data), title)
    console.say(f"{found.seconds:.0f} s. Page: {folder / 'audience_league.html'}")
