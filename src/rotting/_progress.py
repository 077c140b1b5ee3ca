"""Progress of simulations: per-run reports, steps of a larger whole, and a bar on the terminal."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from rotting._printable import printable

# progress(done, runs): `done` of a simulation's runs are finished
Progress = Callable[[int, int], None]

# report(what, steps): `steps` more of a larger whole are done; `what` is in work
Report = Callable[[str, int], None]


def silent(what: str, steps: int) -> None:
    """A report that does nothing."""


def in_steps(report: Report, what: str, size: int = 1) -> Progress:
    """The progress of consecutive simulations as steps of a whole, `size` steps a run.

    >>> progress = in_steps(lambda what, steps: print(what, steps), "grid", size=10)
    >>> for done in (3, 4, 2, 4):  # a simulation of four runs, and another one
    ...     progress(done, 4)
    grid 30
    grid 10
    grid 20
    grid 20
    """
    before = 0

    def progress(done: int, runs: int) -> None:
        nonlocal before
        report(what, (done - before) * size)
        before = 0 if done == runs else done

    return progress


@contextlib.contextmanager
def bar(total: int, shown: bool = True) -> Iterator[Report]:
    """A bar of `total` steps on standard error, if that is a terminal; yields its `Report`."""
    if not shown:
        yield silent
        return
    from rich.console import Console

    console = Console(stderr=True, highlight=False)
    if not console.is_terminal:
        yield silent
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    percentage = TextColumn("{task.percentage:3.0f} %")
    what_is_done = TextColumn("{task.description}", markup=False)  # brackets in names are no markup
    columns = (what_is_done, BarColumn(), percentage, TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as drawn:
        task = drawn.add_task("", total=total)
        yield lambda what, steps: drawn.update(task, description=printable(what), advance=steps)
