"""The application, the options that commands share, and the report of a user's mistake."""

from __future__ import annotations

import contextlib
import functools
import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, ParamSpec

import typer

from rotting._cli import completion, console, narrow, notices
from rotting._engines.cluster import BACKENDS
from rotting._experiments.simulation import ENGINES
from rotting._printable import printable
from rotting._provenance import VERSION
from rotting._show.folders import check_place

P = ParamSpec("P")


app = typer.Typer(
    cls=narrow.Group,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Rotting bandits: choosing among options whose reward falls each time they are used.",
)

Runs = Annotated[int, typer.Option("--runs", "-r", help="Runs of each policy.")]
Seed = Annotated[int, typer.Option(help="The same seed gives the same results.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Engine = Annotated[
    str,
    typer.Option(
        help="cpu, cuda (an NVIDIA GPU), or reference (plain Python, slow).",
        autocompletion=completion.words(*ENGINES),
    ),
]
Backend = Annotated[
    str,
    typer.Option(
        help="threads on this machine, or a dask or ray cluster.",
        autocompletion=completion.words(*BACKENDS),
    ),
]
Address = Annotated[str | None, typer.Option(help="Address of the cluster, as tcp://host:8786.")]
Force = Annotated[
    bool, typer.Option("--force", help="Replace files in a folder that is not empty.")
]
OutFolder = Annotated[
    Path | None, typer.Option("--out", help="Folder for the results and a picture.")
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
        bool, typer.Option("--verbose", help="Report slow steps, such as compiling a policy.")
    ] = False,
    modules: Annotated[
        list[str] | None,
        typer.Option(
            "--import",
            metavar="MODULE",
            help="A module of your own, imported first: its policies and models have names.",
        ),
    ] = None,
) -> None:
    """Set up what all commands share."""
    context.with_resource(notices.shown(verbose))
    _import(modules or [])


def _import(modules: list[str]) -> None:
    """Import a user's modules, as Python would in the working folder."""
    if modules:
        sys.path.insert(0, "")
    for name in modules:
        try:
            importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name is None or not f"{name}.".startswith(f"{error.name}."):
                raise  # a module that the user's own imports
            _complain(f"--import must name a module that Python finds from here, got {name!r}")
            raise typer.Exit(2) from None


def command(
    name: str, group: typer.Typer = app
) -> Callable[[Callable[P, None]], Callable[P, None]]:
    """Register a function as a command, guarded."""

    def register(function: Callable[P, None]) -> Callable[P, None]:
        about = _unwrapped(function.__doc__ or "")
        group.command(name, cls=narrow.Command, help=about)(guarded(function))
        return function

    return register


def _unwrapped(text: str) -> str:
    """A text with each paragraph in one line, for the terminal to wrap.

    >>> _unwrapped("One of\\n    two lines.\\n\\n    Another.")
    'One of two lines.\\n\\nAnother.'
    """
    return "\n\n".join(" ".join(part.split()) for part in text.split("\n\n"))


def guarded(function: Callable[P, None]) -> Callable[P, None]:
    """The function, with a user's mistake reported in one line and by a non-zero exit code."""

    @functools.wraps(function)
    def safe(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            with console.noting_interrupts():
                place = kwargs.get("out")
                if isinstance(place, Path):
                    check_place("out", place)
                function(*args, **kwargs)
        except (ValueError, OSError) as error:
            _complain(str(error))
            raise typer.Exit(2) from None
        except MemoryError as error:  # most cases are refused before any work: `_engines.memory`
            _complain(f"memory must suffice, but does not: {error}")
            raise typer.Exit(2) from None
        except KeyboardInterrupt as stop:
            with contextlib.suppress(OSError):  # the terminal may be closed
                _complain("stopped")
            code = stop.exit_code if isinstance(stop, console.Stopped) else 130
            raise typer.Exit(code) from None

    return safe


def _complain(text: str) -> None:
    print(f"rotting: {printable(' '.join(text.split()))}", file=sys.stderr, flush=True)
