"""`rotting simulate`: simulates one policy."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rotting._cli import completion, console, show
from rotting._cli.base import Address, AsJson, Backend, Engine, command
from rotting._cli.inputs import File, Inputs, NoiseKind, Runs, ScenarioName, Seed, read_inputs
from rotting.policies._base import Policy


@command("simulate")
def simulate_command(
    policy: Annotated[
        str | None,
        typer.Argument(
            help="A policy, as wswa:alpha=0.2, or a policy's name in the file.",
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
    out: Annotated[
        Path | None, typer.Option("--out", help="Save the result in this .npz file.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
    as_json: AsJson = False,
) -> None:
    """Simulate one policy on a scenario and show its regret.

    Example: rotting simulate wswa:alpha=0.2 --scenario non_parametric --runs 100
    """
    wanted = read_inputs(scenario, file, runs, seed, noise)
    named = _one_policy(wanted, policy)
    if out is not None:
        _check_result_file(out, force)
    found = show.play(
        named,
        wanted.scenario,
        as_json,
        runs=wanted.runs,
        seed=wanted.seed,
        noise=wanted.noise,
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
    console.comparison(found, show.title(wanted.scenario, wanted.runs, wanted.seed))
    if out is not None:
        console.say(f"Saved: {out}")


def _one_policy(wanted: Inputs, policy: str | None) -> dict[str, Policy]:
    named = wanted.policies([policy] if policy else None)
    if len(named) > 1:
        raise ValueError(f"policy must be one of the file's, as {', '.join(map(repr, named))}")
    return named


def _check_result_file(path: Path, force: bool) -> None:
    if path.suffix != ".npz":
        raise ValueError(f"out must end in .npz, got {str(path)!r}")
    if path.is_dir():
        raise ValueError(f"out must be a file, but {path} is a folder")
    if not path.parent.is_dir():
        raise ValueError(f"out must be in a folder that exists, got {str(path)!r}")
    if path.exists() and not force:
        raise ValueError(f"out must be a new file, but {path} exists; use --force to replace it")
