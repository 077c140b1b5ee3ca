"""`rotting diagnose`: tests whether rewards in a log fall with use."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rotting._cli import console, log_options
from rotting._cli.base import AsJson, Force, Seed, command
from rotting._show.folders import output_folder
from rotting._table import Table

if TYPE_CHECKING:
    from rotting.logs._diagnosis.diagnosis import Diagnosis
    from rotting.logs._log import Log


@command("diagnose")
@log_options.with_columns
def diagnose_command(
    log: log_options.File = None,
    *,
    smallest: Annotated[
        float, typer.Option(help="The smallest fall that matters, as a share of first showings.")
    ] = 0.1,
    alpha: Annotated[float, typer.Option(help="Level of all tests together.")] = 0.05,
    seed: Seed = 0,
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder for a page with the results.")
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
    example: log_options.Example = False,
    **columns: Any,
) -> None:
    """Test whether rewards in a log fall with use, what that costs, and what remains open.

    Example: rotting diagnose log.csv --key user --arm creative --reward clicked --out out/log
    """
    from rotting.logs._diagnosis.diagnosing import STEPS, check_settings, diagnose_log
    from rotting.logs._pages import page

    named = log_options.named_log(log, example, columns)
    check_settings(smallest, alpha, seed)
    with contextlib.ExitStack() as stack:
        work = None if out is None else stack.enter_context(output_folder(out, force))
        table = named.read(quiet=as_json, odd=as_json)
        with console.progress(STEPS - 1, as_json) as advance:
            found = diagnose_log(table, smallest=smallest, alpha=alpha, seed=seed, progress=advance)
        if work is not None:
            given = {"smallest": smallest, "alpha": alpha, "seed": seed, "out": out}
            line = log_options.command_line("diagnose", named.words(), given)
            page.write(work, found, line, _policy(table, found, seed, as_json))
    if as_json:
        console.print_json(found.as_data())
        return
    _show(found)
    if table.problems:
        console.say("")
    log_options.say_odd(table)
    if out is not None:
        console.say("")
        console.say(f"Page: {out / 'diagnosis.html'}")


def _policy(table: Log, found: Diagnosis, seed: int, quiet: bool) -> list[str]:
    """Lines that make a policy from the log's curves, if rewards fall with use; else none."""
    from rotting.logs._diagnosis import codes
    from rotting.logs._fits.fitting import fit

    if found.overall not in (codes.ROTS, codes.BOTH):
        return []
    with log_options.stage("fitting", quiet) as progress:
        return fit(table, seed=seed, progress=progress).recommended()[1]


def _show(found: Diagnosis) -> None:
    """Print the verdicts, wrapped to the terminal."""
    from rotting.logs._diagnosis.shape import ARMS_NOTE

    log_options.heading(found.overall)
    log_options.paragraph(found.headline)
    for part in found.parts.values():
        log_options.heading(part.title)
        log_options.paragraph(part.verdict, "  ")
        if part.name == "shape" and found.arms()[1]:
            console.table(Table(*found.arms()))
            log_options.paragraph(ARMS_NOTE, "  ")
    if found.advice:
        log_options.heading("What would settle it")
        log_options.paragraph(found.advice, "  ")
