"""`rotting reproduce`: reproduces a paper's simulations."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rotting import _checks, papers
from rotting._cli import completion, console
from rotting._cli.base import Address, AsJson, Backend, Engine, Force, Seed, command
from rotting._provenance import duration
from rotting._show.folders import output_folder


@command("reproduce")
def reproduce_command(
    paper: Annotated[
        str,
        typer.Argument(
            help=f"The paper: {' or '.join(papers.names())}.",
            autocompletion=completion.papers_named,
        ),
    ] = "levine2017",
    runs: Annotated[
        int | None,
        typer.Option(
            "--runs",
            "-r",
            help="Runs of the evaluation.",
            show_default="as in the paper",
        ),
    ] = None,
    seed: Seed = 0,
    swucb_b: Annotated[
        float | None,
        typer.Option(
            "--swucb-b",
            help="For levine2017: the constant B of SWUCB, not stated in the paper.",
            show_default="2, the usual value",
        ),
    ] = None,
    engine: Engine = "cpu",
    backend: Backend = "threads",
    address: Address = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder for the report; default: out/PAPER.")
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Reproduce the simulations of a paper: report, figure, table, raw results.

    Example: rotting reproduce levine2017 --runs 100 --out out/levine2017
    """
    chosen = papers.find(paper)
    runs = chosen.runs if runs is None else _checks.integer("runs", runs, least=2)
    settings = {} if swucb_b is None else {"swucb_b": _checks.number("swucb-b", swucb_b, above=0)}
    _check_settings(paper, settings)
    folder = out or Path("out") / paper
    words = f"rotting reproduce {paper} --runs {runs} --seed {seed}"
    words += "".join(f" --{name.replace('_', '-')} {value:g}" for name, value in settings.items())
    if engine == "cuda":
        from rotting._engines.cuda import engine as cuda

        cuda.require()  # before any work
        words += " --engine cuda"
    total = chosen.steps(runs)
    with output_folder(folder, force) as work, console.progress(total, as_json) as advance:
        found = chosen.reproduce(
            runs=runs,
            seed=seed,
            report=advance,
            engine=engine,
            backend=backend,
            address=address,
            **settings,
        )
        advance("writing the report", 0)
        chosen.write(found, work, words)
    if as_json:
        console.print_json(chosen.as_data(found, words))
        return
    shown = chosen.show(found)
    for table in shown.tables:
        console.table(table)
    for line in shown.lines:
        console.say(line)
    took = duration(found.seconds, found.gpu_seconds)
    console.say(f"Played in {took}. Report: {folder / 'report.html'}")


def _check_settings(paper: str, settings: dict[str, float]) -> None:
    """Refuse settings of other papers."""
    for name in settings.keys() - papers.find(paper).settings.keys():
        takers = [each for each in papers.names() if name in papers.find(each).settings]
        option = name.replace("_", "-")
        raise ValueError(f"{option} is a setting of {', '.join(takers)}, got it with {paper}")
