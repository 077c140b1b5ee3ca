"""`rotting compare`: compares policies on the same bandits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import typer

from rotting import _checks
from rotting._catalogue.names import policy_name
from rotting._cli import completion, show
from rotting._cli.base import Address, AsJson, Backend, Engine, Force, OutFolder, command
from rotting._cli.inputs import File, NoiseKind, Runs, ScenarioName, Seed, read_inputs
from rotting.policies._base import Policy


@command("compare")
def compare_command(
    policies: Annotated[
        list[str] | None,
        typer.Argument(
            help="Policies, as ucb1 wswa:alpha=0.2; default: those of the file.",
            show_default=False,
            autocompletion=completion.policies,
        ),
    ] = None,
    scenario: ScenarioName = None,
    file: File = None,
    runs: Runs = None,
    seed: Seed = None,
    noise: NoiseKind = None,
    against: Annotated[
        str | None,
        typer.Option(help="One of the policies: compare the others only with it."),
    ] = None,
    engine: Engine = "cpu",
    backend: Backend = "threads",
    address: Address = None,
    out: OutFolder = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Compare policies on the same bandits: mean regret, wins, p-values.

    Example: rotting compare ucb1 wswa:alpha=0.2 cto --scenario av --runs 100 --out out/av
    """
    wanted = read_inputs(scenario, file, runs, seed, noise)
    named = wanted.policies(policies)
    show.play_and_show(
        named,
        wanted.scenario,
        as_json,
        out,
        force,
        runs=wanted.runs,
        seed=wanted.seed,
        noise=wanted.noise,
        against=_one_of(named, policies or [], against),
        engine=engine,
        backend=backend,
        address=address,
    )


def _one_of(named: Mapping[str, Policy], words: list[str], wanted: str | None) -> str | None:
    """The policy meant: its name in the table, its word on the command line, or its kind."""
    if wanted is None or wanted in named:
        return wanted
    typed = dict(zip(words, named, strict=True)) if words else {}
    if wanted in typed:
        return typed[wanted]
    kin = [name for name, policy in named.items() if policy.key == policy_name(wanted)]
    return kin[0] if len(kin) == 1 else _checks.known("policy to compare with", wanted, named)
