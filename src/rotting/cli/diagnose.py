"""`rotting diagnose`: does what is in a log wear out?"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rotting.cli import console, logs
from rotting.cli.base import AsJson, Force, Seed, command
from rotting.reports.folders import output_folder

if TYPE_CHECKING:
    from rotting.logs.diagnosis.diagnosis import Diagnosis
    from rotting.logs.log import Log


@command("diagnose")
def diagnose_command(
    log: logs.File = None,
    key: logs.Key = None,
    arm: logs.Arm = None,
    time: logs.Time = None,
    reward: logs.Reward = None,
    exposure: logs.Exposure = None,
    propensity: logs.Propensity = None,
    rows: logs.Rows = "all",
    window: logs.Window = None,
    incomplete: logs.Incomplete = False,
    complete: logs.Complete = False,
    smallest: Annotated[
        float, typer.Option(help="The fall that matters: with less, it does not rot.")
    ] = 0.1,
    alpha: Annotated[float, typer.Option(help="The level of all tests together.")] = 0.05,
    seed: Seed = 0,
    out: Annotated[Path | None, typer.Option("--out", help="A folder for a page.")] = None,
    force: Force = False,
    as_json: AsJson = False,
    example: logs.Example = False,
) -> None:
    """Say whether what is in a log wears out, what that costs, and what the log cannot tell.

    Example: rotting diagnose log.csv --key user --arm creative --reward clicked --out out/log
    """
    from rotting.logs.diagnosis.diagnosing import STEPS, check_settings, diagnose_log
    from rotting.logs.pages import page

    columns = (key, arm, time, reward, exposure, propensity, rows, window, incomplete, complete)
    asked = logs.Asked(log, example, *columns)
    asked.check()
    check_settings(smallest, alpha, seed)
    with contextlib.ExitStack() as stack:
        work = None if out is None else stack.enter_context(output_folder(out, force))
        table = asked.read(quiet=as_json, odd=as_json)
        with console.progress(STEPS - 1, as_json) as advance:
            found = diagnose_log(table, smallest=smallest, alpha=alpha, seed=seed, progress=advance)
        if work is not None:
            given = {"smallest": smallest, "alpha": alpha, "seed": seed, "out": out}
            line = logs.command_line("diagnose", asked.words(), given)
            page.write(work, found, line, _policy(table, found, seed, as_json))
    if as_json:
        console.print_json(found.as_data())
        return
    _show(found)
    if table.problems:
        console.say("")
    logs.say_odd(table)
    if out is not None:
        console.say("")
        console.say(f"Page: {out / 'diagnosis.html'}")


def _policy(table: Log, found: Diagnosis, seed: int, quiet: bool) -> list[str]:
    """Lines that make a policy by the log's own curves, where they fall by use."""
    from rotting.logs.diagnosis import codes
    from rotting.logs.fits.fitting import fit

    if found.overall not in (codes.ROTS, codes.BOTH):
        return []
    with logs.stage("fitting", quiet) as progress:
        return fit(table, seed=seed, progress=progress).recommended()[1]


def _show(found: Diagnosis) -> None:
    """The verdicts, wrapped to the terminal."""
    from rotting.logs.diagnosis.shape import ARMS_NOTE

    logs.heading(found.overall)
    logs.paragraph(found.headline)
    for part in found.parts.values():
        logs.heading(part.title)
        logs.paragraph(part.verdict, "  ")
        if part.name == "shape" and found.arms()[1]:
            console.table(*found.arms())
            logs.paragraph(ARMS_NOTE, "  ")
    if found.advice:
        logs.heading("What would settle it")
        logs.paragraph(found.advice, "  ")
