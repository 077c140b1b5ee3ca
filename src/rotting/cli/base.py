"""What all commands share: the application, its options, and how a mistake is reported."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, ParamSpec

import typer

from rotting.cli import console, notices
from rotting.provenance import VERSION

P = ParamSpec("P")

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Rotting bandits: choosing among options whose reward falls each time they are used.",
)

ScenarioName = Annotated[
    str, typer.Option("--scenario", "-s", help="A scenario, as av or av:horizon=3000.")
]
Runs = Annotated[int, typer.Option("--runs", "-r", help="How many runs of each policy.")]
Seed = Annotated[int, typer.Option(help="The same seed gives the same results.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for machines.")]
NoiseKind = Annotated[
    str, typer.Option(help="independent (as in the paper) or common to all policies.")
]
Engine = Annotated[
    str, typer.Option(help="cpu, cuda (an NVIDIA GPU), or reference (plain Python, slow).")
]
Backend = Annotated[
    str, typer.Option(help="threads of this machine, or a dask or ray cluster of many.")
]
Address = Annotated[str | None, typer.Option(help="The cluster's address, as tcp://host:8786.")]
Force = Annotated[bool, typer.Option("--force", help="Replace files in a folder that holds some.")]
OutFolder = Annotated[
    Path | None, typer.Option("--out", help="A folder for results and a picture.")
]


def _version(wanted: bool) -> None:
    if wanted:
        print(f"rotting {VERSION}")
        raise typer.Exit


@app.callback()
def common(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Say what takes long, as compiling a policy.")
    ] = False,
) -> None:
    """What all commands share."""
    context.with_resource(notices.shown(verbose))


def command(name: str) -> Callable[[Callable[P, None]], Callable[P, None]]:
    """Make a function a command; a user's mistake is one line and a non-zero exit."""

    def register(function: Callable[P, None]) -> Callable[P, None]:
        @functools.wraps(function)
        def safe(*args: P.args, **kwargs: P.kwargs) -> None:
            try:
                with console.noting_interrupts():
                    function(*args, **kwargs)
            except (ValueError, OSError) as error:
                print(f"rotting: {' '.join(str(error).split())}", file=sys.stderr)
                raise typer.Exit(2) from None
            except KeyboardInterrupt:
                print("rotting: stopped", file=sys.stderr)
                raise typer.Exit(130) from None

        app.command(name)(safe)
        return function

    return register
