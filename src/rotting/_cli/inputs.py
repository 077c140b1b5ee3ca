"""What a command plays, from its options and from an experiment file with `--file`.

`rotting run` plays a file as it is. `simulate`, `compare` and `tune` take scenario, runs, seed,
noise and named policies from a file; options override it, but a scenario may be given only once.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from rotting import _checks
from rotting._catalogue import names as catalogue
from rotting._catalogue.experiment_file import ExperimentFile, read_experiment
from rotting._cli import completion, console
from rotting._experiments.simulation import NOISES
from rotting.bandits import Scenario
from rotting.policies._base import Policy

SCENARIO, RUNS, SEED, NOISE = "non_parametric", 100, 0, "independent"

File = Annotated[
    Path | None,
    typer.Option("--file", "-f", help="An experiment file for scenario, runs, seed, noise."),
]
ScenarioName = Annotated[
    str | None,
    typer.Option(
        "--scenario",
        "-s",
        help="A scenario, as av or av:horizon=3000.",
        show_default=f"{SCENARIO}, or the file's",
        autocompletion=completion.scenarios,
    ),
]
Runs = Annotated[
    int | None,
    typer.Option(
        "--runs", "-r", help="Runs of each policy.", show_default=f"{RUNS}, or the file's"
    ),
]
Seed = Annotated[
    int | None,
    typer.Option(
        help="The same seed gives the same results.", show_default=f"{SEED}, or the file's"
    ),
]
NoiseKind = Annotated[
    str | None,
    typer.Option(
        help="independent (as in the paper), or common to all policies.",
        show_default=f"{NOISE}, or the file's",
        autocompletion=completion.words(*NOISES),
    ),
]


@dataclass(frozen=True)
class Inputs:
    """A scenario and how it is played, with the file if there is one."""

    scenario: Scenario
    runs: int
    seed: int
    noise: str
    file: ExperimentFile | None

    def policies(self, words: list[str] | None) -> dict[str, Policy]:
        """Policies by words, or by their names in the file; without words all of the file."""
        named = {} if self.file is None else self.file.policies
        if not words:
            if not named:
                raise ValueError("policy must be given, as wswa:alpha=0.2, or a file with policies")
            console.note(self.file.filled_in if self.file else [])
            return named
        found: dict[str, Policy] = {}
        for word in words:
            one = {word: named[word]} if word in named else self._parsed(word)
            if found.keys() & one.keys():
                raise ValueError(f"policies must differ, got {word} twice")
            found |= one
        own = [word for word in words if word not in named]
        console.note(catalogue.filled_in(own, self.scenario))
        return found

    def _parsed(self, word: str) -> dict[str, Policy]:
        return catalogue.parse_policies([word], self.scenario)


def read_inputs(
    scenario: str | None, file: Path | None, runs: int | None, seed: int | None, noise: str | None
) -> Inputs:
    """The inputs from the options, and from the file where an option is not given."""
    if file is None:
        read = None
        chosen = catalogue.parse_scenario(SCENARIO if scenario is None else scenario)
        usual = (RUNS, SEED, NOISE)
    else:
        if scenario is not None:
            raise ValueError(
                f"scenario must not be given together with file, got {scenario!r} and {file}"
            )
        read = read_experiment(file, need_policies=False)
        chosen, usual = read.scenario, (read.runs, read.seed, read.noise)
    return Inputs(
        chosen,
        _checks.integer("runs", usual[0] if runs is None else runs, 1, _checks.EXACT),
        usual[1] if seed is None else seed,
        usual[2] if noise is None else noise,
        read,
    )
