"""`rotting audience`: compares policies for audiences, where arms wear out for each key."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rotting import _checks
from rotting._catalogue import names as catalogue
from rotting._cli import completion, console, show
from rotting._cli.base import AsJson, Force, Runs, Seed, command
from rotting._engines.plan import check_audience
from rotting._experiments.final import Learnt
from rotting._experiments.shares import Standing
from rotting._show.folders import output_folder
from rotting.bandits import Scenario
from rotting.policies._base import Policy

SCENARIO = "power_2k_10"
_ENGINES = ("cpu", "reference")  # the engines for audiences


@command("audience")
def audience_command(
    policies: Annotated[
        list[str] | None,
        typer.Argument(
            help="Policies, as ucb1 capped:cap=3.",
            show_default="pooled ones, caps, the recommended",
            autocompletion=completion.policies,
        ),
    ] = None,
    scenario: Annotated[
        str,
        typer.Option(
            "--scenario",
            "-s",
            help="A scenario with an audience.",
            autocompletion=completion.audiences,
        ),
    ] = SCENARIO,
    runs: Runs = 20,
    seed: Seed = 0,
    engine: Annotated[
        str,
        typer.Option(
            help="cpu, or reference (plain Python, slow).",
            autocompletion=completion.words(*_ENGINES),
        ),
    ] = "cpu",
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder for a page with the results.")
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Compare policies where arms wear out for each user separately: shares, caps, curves.

    Example: rotting audience --scenario step_2k_10 --runs 20 --out out/audience
    """
    from rotting._show import audience as report
    from rotting.league import _audience_contestants as contestants

    runs = _checks.integer("runs", runs, 1, _checks.EXACT)
    chosen = _with_audience(scenario)
    named = catalogue.parse_policies(policies, chosen) if policies else contestants.usual(chosen)
    for policy in named.values():  # before the first is played
        check_audience(policy)
    console.note(catalogue.filled_in(policies or [], chosen))
    ours = contestants.recommended_for(chosen).title
    reference = ours if ours in named else next(iter(named))
    options = {"runs": runs, "seed": seed, "noise": "common", "engine": engine}

    def played() -> tuple[Standing, Learnt]:
        results = show.play(named, chosen, as_json, **options).results  # type: ignore[arg-type]
        standing = Standing(scenario, results, reference, contestants.capped_names(named))
        return standing, _learnt(named, reference, chosen, seed, engine != "reference")

    if out is None:
        standing, learnt = played()
    else:
        with output_folder(out, force) as work:
            standing, learnt = played()
            words = " ".join(["rotting audience", *(policies or []), "--scenario", scenario])
            words += f" --runs {runs} --seed {seed}"
            showings = f"{show.counted(runs)} of {chosen.horizon:,} showings"
            about = f"{catalogue.scenarios()[chosen.name].about}; {showings}"
            report.write(work, standing, about=about, learnt=learnt, command=words)
    if as_json:
        console.print_json(report.as_data(standing, learnt))
        return
    _show(standing, learnt, show.title(chosen, runs, seed))
    if out is not None:
        console.say(f"Page: {out / 'audience.html'}")


def _show(standing: Standing, learnt: Learnt, title: str) -> None:
    from rotting._show import audience as report

    console.table(report.share_table(standing, title))
    console.say(" ".join([report.about_shares(standing), report.cap_line(standing)]).strip())
    if learnt.kept:
        console.table(report.curve_table(learnt))
        console.say(report.about_caps())


def _with_audience(name: str) -> Scenario:
    found = catalogue.parse_scenario(name)
    if found.crowd is None:
        raise ValueError(f"scenario must be one with an audience, as {SCENARIO}, got {name!r}")
    return found


def _learnt(
    named: dict[str, Policy], reference: str, scenario: Scenario, seed: int, compiled: bool
) -> Learnt:
    """The curves after the first run, of the reference or of the first policy that has curves."""
    from rotting._experiments.final import curves_of, final_state
    from rotting._online.curves import keeps_curves

    order = [reference, *named]
    shown = next((name for name in order if keeps_curves(named[name])), reference)
    final = final_state(named[shown], scenario, seed=seed, compiled=compiled)
    return Learnt(shown, curves_of(final))
