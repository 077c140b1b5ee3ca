"""`rotting reproduce`: a paper's simulations, run again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rotting import checks, papers
from rotting.cli import completion, console
from rotting.cli.base import Address, AsJson, Backend, Engine, Force, Seed, command
from rotting.provenance import duration
from rotting.reports.folders import output_folder


@command("reproduce")
def reproduce_command(
    paper: Annotated[
        str,
        typer.Argument(
            help=f"Which paper: {' or '.join(papers.names())}.",
            autocompletion=completion.papers_named,
        ),
    ] = "levine2017",
    runs: Annotated[
        int | None,
        typer.Option(
            "--runs",
            "-r",
            help="Trajectories of the evaluation.",
            show_default="as many as in the paper",
        ),
    ] = None,
    seed: Seed = 0,
    engine: Engine = "cpu",
    backend: Backend = "threads",
    address: Address = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="The folder to write; out/PAPER if not given.")
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Reproduce a paper's simulations: report, figure, table, raw results.

    Example: rotting reproduce levine2017 --runs 100 --out out/levine2017
    """
    chosen = papers.find(paper)
    runs = chosen.runs if runs is None else checks.integer("runs", runs, least=2)
    folder = out or Path("out") / paper
    words = f"rotting reproduce {paper} --runs {runs} --seed {seed}"
    if engine == "cuda":
        from rotting.engines.cuda import engine as cuda

        cuda.require()  # before any work
        words += " --engine cuda"
    total = chosen.steps(runs)
    with output_folder(folder, force) as work, console.progress(total, as_json) as advance:
        found = chosen.reproduce(
            runs=runs, seed=seed, report=advance, engine=engine, backend=backend, address=address
        )
        advance("writing the report", 0)
        chosen.write(found, work, words)
    if as_json:
        console.print_json(chosen.as_data(found, words))
        return
    shown = chosen.show(found)
    for table in shown.tables:
        console.table(table.header, table.rows, table.title)
    for line in shown.lines:
        console.say(line)
    took = duration(found.seconds, found.gpu_seconds)
    console.say(f"Played in {took}. Report: {folder / 'report.html'}")
