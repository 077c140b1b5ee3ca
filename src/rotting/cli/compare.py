"""`rotting compare`: several policies on the same bandits."""

from __future__ import annotations

from typing import Annotated

import typer

from rotting.cli import completion, show
from rotting.cli.asked import File, NoiseKind, Runs, ScenarioName, Seed, asked
from rotting.cli.base import Address, AsJson, Backend, Engine, Force, OutFolder, command


@command("compare")
def compare_command(
    policies: Annotated[
        list[str] | None,
        typer.Argument(
            help="Policies, as ucb1 wswa:alpha=0.2; the file's, unless given.",
            show_default=False,
            autocompletion=completion.policies,
        ),
    ] = None,
    scenario: ScenarioName = None,
    file: File = None,
    runs: Runs = None,
    seed: Seed = None,
    noise: NoiseKind = None,
    engine: Engine = "cpu",
    backend: Backend = "threads",
    address: Address = None,
    out: OutFolder = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Play several policies on the same bandits: means, wins, p-values.

    Example: rotting compare ucb1 wswa:alpha=0.2 cto --scenario av --runs 100 --out out/av
    """
    wanted = asked(scenario, file, runs, seed, noise)
    show.play_and_show(
        wanted.policies(policies),
        wanted.scenario,
        as_json,
        out,
        force,
        runs=wanted.runs,
        seed=wanted.seed,
        noise=wanted.noise,
        engine=engine,
        backend=backend,
        address=address,
    )
