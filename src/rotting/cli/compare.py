"""`rotting compare`: several policies on the same bandits."""

from __future__ import annotations

from typing import Annotated

import typer

from rotting.catalogue import names as catalogue
from rotting.cli import console, show
from rotting.cli.base import (
    Address,
    AsJson,
    Backend,
    Engine,
    Force,
    NoiseKind,
    OutFolder,
    Runs,
    ScenarioName,
    Seed,
    command,
)


@command("compare")
def compare_command(
    policies: Annotated[list[str], typer.Argument(help="Policies, as ucb1 wswa:alpha=0.2.")],
    scenario: ScenarioName = "non_parametric",
    runs: Runs = 100,
    seed: Seed = 0,
    noise: NoiseKind = "independent",
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
    chosen = catalogue.parse_scenario(scenario)
    named = catalogue.parse_policies(policies, chosen)
    console.note(catalogue.filled_in(policies, chosen))
    show.play_and_show(
        named,
        chosen,
        as_json,
        out,
        force,
        runs=runs,
        seed=seed,
        noise=noise,
        engine=engine,
        backend=backend,
        address=address,
    )
