"""`rotting simulate`: one policy on a scenario."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rotting.catalogue import names as catalogue
from rotting.cli import console, show
from rotting.cli.base import (
    Address,
    AsJson,
    Backend,
    Engine,
    NoiseKind,
    Runs,
    ScenarioName,
    Seed,
    command,
)


@command("simulate")
def simulate_command(
    policy: Annotated[str, typer.Argument(help="A policy, as wswa:alpha=0.2.")],
    scenario: ScenarioName = "non_parametric",
    runs: Runs = 100,
    seed: Seed = 0,
    noise: NoiseKind = "independent",
    engine: Engine = "cpu",
    backend: Backend = "threads",
    address: Address = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Save the result to this .npz file.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
    as_json: AsJson = False,
) -> None:
    """Play one policy on a scenario and show its regret.

    Example: rotting simulate wswa:alpha=0.2 --scenario non_parametric --runs 100
    """
    chosen = catalogue.parse_scenario(scenario)
    named = catalogue.parse_policies([policy], chosen)
    if out is not None:
        _check_result_file(out, force)
    console.note(catalogue.filled_in([policy], chosen))
    found = show.play(
        named,
        chosen,
        as_json,
        runs=runs,
        seed=seed,
        noise=noise,
        engine=engine,
        backend=backend,
        address=address,
    )
    (result,) = found.results.values()
    if out is not None:
        result.save(out)
    if as_json:
        summary = {**found.summary(), "provenance": result.provenance}
        of_pairs = ("wins", "p_values", "p_values_holm")
        console.print_json({key: summary[key] for key in summary if key not in of_pairs})
        return
    console.comparison(found, show.title(chosen, runs, seed))
    if out is not None:
        console.say(f"Saved: {out}")


def _check_result_file(path: Path, force: bool) -> None:
    if path.suffix != ".npz":
        raise ValueError(f"out must end in .npz, got {str(path)!r}")
    if not path.parent.is_dir():
        raise ValueError(f"out must be in a folder that exists, got {str(path)!r}")
    if path.exists() and not force:
        raise ValueError(f"out must be a new file, but {path} exists; use --force to replace it")
