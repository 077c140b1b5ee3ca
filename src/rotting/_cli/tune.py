"""`rotting tune`: a grid search over a policy's parameters."""

from __future__ import annotations

import math
from typing import Annotated, Any

import typer

from rotting import _checks
from rotting._catalogue import names as catalogue
from rotting._cli import completion, console, show
from rotting._cli.base import AsJson, command
from rotting._cli.inputs import File, Inputs, NoiseKind, Runs, ScenarioName, Seed, read_inputs
from rotting._experiments.tuning import tune
from rotting._progress import in_steps
from rotting._table import Column, Table
from rotting.policies._base import Policy


@command("tune")
def tune_command(
    policy: Annotated[
        str | None,
        typer.Argument(
            help="A policy, as wswa or swucb:B=1; default: from the file's table tune.",
            show_default=False,
            autocompletion=completion.policies,
        ),
    ] = None,
    grid: Annotated[
        list[str] | None,
        typer.Argument(help="Values to try, as alpha=0.2,0.4,0.6.", show_default=False),
    ] = None,
    scenario: ScenarioName = None,
    file: File = None,
    runs: Runs = None,
    seed: Seed = None,
    noise: NoiseKind = None,
    as_json: AsJson = False,
) -> None:
    """Try a grid of parameters, and show which gives the least mean regret.

    Example: rotting tune wswa alpha=0.2,0.4,0.6,0.8,1 --scenario av
    """
    wanted = read_inputs(scenario, file, runs, seed, noise)
    made, values = _wanted_grid(wanted, policy, grid)
    runs = _checks.integer("runs", wanted.runs, least=1)
    settings = math.prod(len(choices) for choices in values.values())
    with console.progress(settings * runs, quiet=as_json) as advance:
        found = tune(
            made,
            values,
            wanted.scenario,
            runs=runs,
            seed=wanted.seed,
            noise=wanted.noise,
            progress=in_steps(advance, made.title),
        )
    if as_json:
        console.print_json({"policy": found.best.key, "chosen": found.chosen, "rows": found.rows()})
        return
    rows = [
        [
            *(f"{row[name]}" for name in values),
            row["mean_regret"],
            row["standard_error"],
            "<- least" if setting is found.chosen else "",
        ]
        for setting, row in zip(found.settings, found.rows(), strict=True)
    ]
    columns = [
        *(Column(name, "number" if place else "text") for place, name in enumerate(values)),
        Column("mean regret", "figure"),
        Column("standard error", "figure"),
        Column("", "text"),
    ]
    title = f"{made.title} on {show.title(wanted.scenario, runs, wanted.seed)}"
    console.table(Table(columns, rows, title=title))
    if found.results[0].note:
        console.say(f"{made.title}: {found.results[0].note} (the audience played as one key).")
    console.say(f"Least mean regret: {found.best.short_label}")


def _wanted_grid(
    wanted: Inputs, policy: str | None, grid: list[str] | None
) -> tuple[Policy, dict[str, list[Any]]]:
    """The policy and the values to try, from the command line or from [tune] of the file."""
    if policy is None:
        if wanted.file is None or wanted.file.tuning is None:
            raise ValueError("policy must be given, as wswa, or a file with [tune]")
        return wanted.file.tuning
    if not grid:
        raise ValueError(f"grid must be given after {policy}, as alpha=0.2,0.4")
    values: dict[str, list[Any]] = {}
    for name, choices in map(_grid_values, grid):
        if name in values:
            raise ValueError(f"grid must set {name} once, got it twice")
        values[name] = choices
    if wanted.file is not None and policy in wanted.file.policies:
        return wanted.file.policies[policy], values
    first = ",".join(f"{name}={choices[0]}" for name, choices in values.items())
    joined = policy + ("," if ":" in policy else ":") + first
    made = catalogue.parse_policy(joined, wanted.scenario)
    console.note(catalogue.filled_in([joined], wanted.scenario))
    return made, values


def _grid_values(part: str) -> tuple[str, list[Any]]:
    name, equals, values = part.partition("=")
    if not name or not equals or not values:
        raise ValueError(f"grid must read like alpha=0.2,0.4, got {part!r}")
    return name, [catalogue.read_value(value) for value in values.split(",")]
