"""The command line: `rotting COMMAND`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

import rotting
from rotting import plots
from rotting.papers import levine2017

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Rotting bandits: choosing among options whose reward falls each time they are used.",
)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"rotting {rotting.__version__}")
        raise typer.Exit


@app.callback()
def common(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """What all commands share."""


@app.command()
def demo(
    runs: Annotated[int, typer.Option(help="How many runs of each policy.")] = 100,
    seed: Annotated[int, typer.Option(help="The same seed gives the same figures.")] = 0,
    out: Annotated[Path, typer.Option(help="Where to put the picture.")] = Path("out/demo.png"),
) -> None:
    """Play the paper's non-parametric scenario with all its policies: a table and a picture.

    Example: rotting demo --runs 100 --out out/demo.png
    """
    console = Console()
    scenario = levine2017.non_parametric()
    if out.suffix not in (".png", ".svg", ".pdf"):
        raise ValueError(f"out must end in .png, .svg or .pdf, got {str(out)!r}")
    out.parent.mkdir(parents=True, exist_ok=True)
    table = Table("policy", "final regret", "standard error")
    for column in table.columns[1:]:
        column.justify = "right"
    results = {}
    for name, policy in levine2017.reported_policies("non_parametric").items():
        result = rotting.simulate(policy, scenario, runs=runs, seed=seed, progress=True)
        results[name] = result
        mean, error = result.mean_regret[-1], result.standard_error[-1]
        table.add_row(policy.label, f"{mean:.1f}", f"{error:.1f}")
    console.print(f"{scenario.name}: T = {scenario.horizon}, {runs} runs, seed {seed}")
    console.print(table)
    plots.regret_curves(results, out, title="Two arms, one of them rots at its 7,500th pull")
    console.print(f"Regret curves: {out}")


def main() -> None:
    """Run the command line; a user's mistake is one line and a non-zero exit."""
    try:
        app()
    except (ValueError, OSError) as error:
        print(f"rotting: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("rotting: stopped", file=sys.stderr)
        sys.exit(130)
