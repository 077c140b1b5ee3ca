"""`rotting run`: the experiment of a file."""

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
        Path | None, typer.Argument(help="An experiment file in TOML.", show_default=False)
    ] = None,
    example: Annotated[bool, typer.Option("--example", help="Print an example file.")] = False,
    force: Force = False,
    as_json: AsJson = False,
    seed: Annotated[int | None, typer.Option(help="Overrides the seed of the file.")] = None,
) -> None:
    """Run the experiment of a file: its scenario, policies, runs, seed and outputs.

    Example: rotting run --example > experiment.toml; rotting run experiment.toml
    """
    if example:
        print(EXAMPLE, end="")
        return
    if file is None:
        raise ValueError("file must be given; rotting run --example prints one to start from")
    experiment = read_experiment(file)
    console.note(experiment.filled_in)
    show.play_and_show(
        experiment.policies,
        experiment.scenario,
        as_json,
        Path(experiment.folder),
        force,
        runs=experiment.runs,
        seed=experiment.seed if seed is None else seed,
        noise=experiment.noise,
    )
