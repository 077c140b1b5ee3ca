"""`rotting demo`: a table and a picture in a few seconds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rotting._cli import console, show
from rotting._cli.base import AsJson, Runs, Seed, command
from rotting._experiments.comparison import compare
from rotting._experiments.simulation import must_compile
from rotting._show import plots
from rotting.papers import levine2017


@command("demo")
def demo(
    runs: Runs = 100,
    seed: Seed = 0,
    out: Annotated[Path, typer.Option(help="File for the picture.")] = Path("out/demo.png"),
    as_json: AsJson = False,
) -> None:
    """Compare the paper's policies on its non-parametric scenario: a table and a picture.

    Example: rotting demo --runs 100 --out out/demo.png
    """
    plots.picture_file("out", out)
    scenario = levine2017.non_parametric()
    policies = levine2017.reported_policies("non_parametric")
    if not as_json and any(must_compile(policy, scenario) for policy in policies.values()):
        # compiling takes ten seconds: something to look at before
        first = compare(policies, scenario, runs=1, seed=seed, engine="reference")
        console.comparison(first, f"{show.title(scenario, 1, seed)}: a first look, not compiled")
        console.say(f"Compiling, once; then {show.counted(runs)} ...")
    found = show.play(policies, scenario, as_json, runs=runs, seed=seed)
    out.parent.mkdir(parents=True, exist_ok=True)
    plots.regret_curves(found.results, out, title="Two arms, one of them rots after 7,500 pulls")
    if as_json:
        console.print_json(found.summary())
        return
    console.comparison(found, show.title(scenario, runs, seed))
    console.say(f"Regret curves: {out}")
