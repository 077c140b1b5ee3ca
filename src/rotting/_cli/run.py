"""`rotting run`: an experiment described in a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rotting._catalogue.experiment_file import EXAMPLE, read_experiment
from rotting._cli import console, show
from rotting._cli.base import AsJson, Force, command


@command("run")
def run_command(
    file: Annotated[
        Path | None, typer.Argument(help="An experiment file (TOML).", show_default=False)
    ] = None,
    example: Annotated[bool, typer.Option("--example", help="Print an example file.")] = False,
    force: Force = False,
    as_json: AsJson = False,
    seed: Annotated[int | None, typer.Option(help="Instead of the file's seed.")] = None,
) -> None:
    """Run an experiment described in a file: scenario, policies, runs, seed, outputs.

    Example: rotting run --example > experiment.toml; rotting run experiment.toml
    """
    if example:
        print(EXAMPLE, end="")
        return
    if file is None:
        raise ValueError("file must be given; rotting run --example prints one to start from")
    asked = read_experiment(file)
    console.note(asked.filled_in)
    show.play_and_show(
        asked.policies,
        asked.scenario,
        as_json,
        Path(asked.folder),
        force,
        runs=asked.runs,
        seed=asked.seed if seed is None else seed,
        noise=asked.noise,
    )
