"""`rotting tune`: a grid search over a policy's parameters."""

from __future__ import annotations

import math
from typing import Annotated, Any

import typer

from rotting.catalogue import names as catalogue
from rotting.cli import console, show
from rotting.cli.base import AsJson, NoiseKind, Runs, ScenarioName, Seed, command
from rotting.experiments.tuning import tune
from rotting.progress import in_steps


@command("tune")
def tune_command(
    policy: Annotated[str, typer.Argument(help="A policy, as wswa or swucb:B=1.")],
    grid: Annotated[list[str], typer.Argument(help="Values to try, as alpha=0.2,0.4,0.6.")],
    scenario: ScenarioName = "non_parametric",
    runs: Runs = 100,
    seed: Seed = 0,
    noise: NoiseKind = "independent",
    as_json: AsJson = False,
) -> None:
    """Try parameters on a grid and show which has the least mean regret.

    Example: rotting tune wswa alpha=0.2,0.4,0.6,0.8,1 --scenario av
    """
    chosen = catalogue.parse_scenario(scenario)
    values = dict(_grid_values(part) for part in grid)
    first = ",".join(f"{name}={choices[0]}" for name, choices in values.items())
    text = policy + ("," if ":" in policy else ":") + first
    made = catalogue.parse_policy(text, chosen)
    console.note(catalogue.filled_in([text], chosen))
    settings = math.prod(len(choices) for choices in values.values())
    with console.progress(settings * runs, quiet=as_json) as advance:
        found = tune(
            made,
            values,
            chosen,
            runs=runs,
            seed=seed,
            noise=noise,
            progress=in_steps(advance, made.title),
        )
    if as_json:
        console.print_json({"policy": found.best.key, "chosen": found.chosen, "rows": found.rows()})
        return
    rows = [
        [
            *(f"{row[name]}" for name in values),
            f"{row['mean_regret']:.2f}",
            f"{row['standard_error']:.2f}",
            "<- least" if setting is found.chosen else "",
        ]
        for setting, row in zip(found.settings, found.rows(), strict=True)
    ]
    header = [*values, "mean regret", "standard error", ""]
    console.table(header, rows, f"{made.title} on {show.title(chosen, runs, seed)}")
    console.say(f"Least mean regret: {found.best.short_label}")


def _grid_values(part: str) -> tuple[str, list[Any]]:
    name, equals, values = part.partition("=")
    if not name or not equals or not values:
        raise ValueError(f"grid must read like alpha=0.2,0.4, got {part!r}")
    return name, [catalogue.read_value(value) for value in values.split(",")]
