"""`rotting league`: every policy on every scenario, on the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rotting import checks
from rotting.cli import console
from rotting.cli.base import AsJson, Force, Seed, command
from rotting.reports.folders import output_folder


@command("league")
def league_command(
    runs: Annotated[
        int | None,
        typer.Option(
            "--runs", "-r", help="Runs of each cell.", show_default="200; 20 of an audience"
        ),
    ] = None,
    seed: Seed = 0,
    group: Annotated[
        str,
        typer.Option(
            help="league, held_out (unseen by design), adversarial, contests, openings; of "
            "audiences: audience, audience_settings, audience_drawn.",
        ),
    ] = "league",
    scenario: Annotated[
        list[str] | None, typer.Option("--scenario", "-s", help="Only these of its scenarios.")
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", help="The folder to write.")] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Play all policies over a fixed set of scenarios: which one should you use?

    Example: rotting league --runs 200 --out out/league
    """
    from rotting.league import AUDIENCES, GROUPS

    checks.known("group", group, [*GROUPS, *AUDIENCES])
    folder = out or Path("out/league" if group == "league" else f"out/league-{group}")
    play = _audiences if group in AUDIENCES else _bandits
    play(runs, seed, group, scenario, folder, force, as_json)


def _words(runs: int, seed: int, group: str, scenario: list[str] | None) -> str:
    words = f"rotting league --runs {runs} --seed {seed}"
    words += "" if group == "league" else f" --group {group}"
    return words + "".join(f" --scenario {name}" for name in scenario or [])


def _bandits(
    runs: int | None,
    seed: int,
    group: str,
    scenario: list[str] | None,
    folder: Path,
    force: bool,
    as_json: bool,
) -> None:
    from rotting.league import playing, report

    runs = playing.RUNS if runs is None else runs
    words = _words(runs, seed, group, scenario)
    total = playing.matches(playing.entries_of(group, scenario))
    with output_folder(folder, force) as work, console.progress(total, as_json) as advance:
        found = playing.play(runs, seed, group=group, scenarios=scenario, progress=advance)
        report.write(found, work, words)
    if as_json:
        console.print_json(report.as_data(found, words))
        return
    console.table(*report.standing_rows(found), f"{len(found.cells)} scenarios, {runs} runs each")
    console.say(f"{found.seconds:.0f} s. Page: {folder / 'league.html'}")


def _audiences(
    runs: int | None,
    seed: int,
    group: str,
    scenario: list[str] | None,
    folder: Path,
    force: bool,
    as_json: bool,
) -> None:
    from rotting.league import audience_playing as playing
    from rotting.league import audience_report as report

    runs = playing.RUNS if runs is None else runs
    total = playing.matches(playing.entries_of(group, scenario))
    with output_folder(folder, force) as work, console.progress(total, as_json) as advance:
        found = playing.play(runs, seed, group=group, scenarios=scenario, progress=advance)
        data = found.as_data(_words(runs, seed, group, scenario))
        report.write(data, work)
    if as_json:
        console.print_json(data)
        return
    title = f"{len(found.standings)} scenarios, {runs} runs each: share of pi_max, differences"
    console.table(*report.standing_rows(data), title)
    console.say(f"{found.seconds:.0f} s. Page: {folder / 'audience_league.html'}")
