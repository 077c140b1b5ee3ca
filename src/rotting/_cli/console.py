"""Output of commands: lines, tables, JSON, a progress bar that Ctrl-C stops."""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import Console

from rotting import _progress as reporting
from rotting._experiments.comparison import Comparison
from rotting._numbers import interval, p_value, signed
from rotting._printable import printable
from rotting._show.data import json_text
from rotting._signals import STOPS
from rotting._table import Column, Table


class Stopped(KeyboardInterrupt):
    """A signal stopped the work; its number is the argument."""

    @property
    def exit_code(self) -> int:
        """128 plus the signal, as shells expect."""
        return 128 + int(self.args[0])


# Set by such a signal. The exception itself can be lost: Python only reports it, and continues, if
# it is raised in a call from the compiler's C code.
interrupted = threading.Event()
_signals: list[int] = []  # received so far

out = Console(highlight=False, emoji=False)


@contextlib.contextmanager
def noting_interrupts() -> Iterator[None]:
    """Stop the work at a signal of `STOPS`, by the next report at the latest (`interrupted`)."""

    def note(signum: int, frame: Any) -> None:
        _signals.append(signum)
        interrupted.set()
        raise Stopped(signum)

    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may handle signals
        return
    # an ignored signal stays ignored: with nohup the work continues when the terminal closes
    handled = [
        number
        for number in STOPS
        if number == signal.SIGINT or signal.getsignal(number) != signal.SIG_IGN
    ]
    before = {number: signal.signal(number, note) for number in handled}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def say(text: str) -> None:
    """Print a line as it is; brackets are no markup, control characters are shown."""
    out.print(printable(text), markup=False, soft_wrap=True)


def note(lines: Sequence[str]) -> None:
    """Print lines on standard error, so that the output proper stays clean, JSON too."""
    for line in lines:
        print(printable(line), file=sys.stderr)


def print_json(data: Any) -> None:
    """Print plain data as JSON; NaN and infinity become null."""
    print(json_text(data))


def table(shown: Table) -> None:
    """Print a table as wide as the terminal, its title in bold."""
    out.print()
    if shown.title:
        out.print(printable(shown.title), style="bold", markup=False)
    untitled = Table(shown.columns, shown.rows)
    out.print(untitled.text(out.width), markup=False, soft_wrap=True)


def comparison(found: Comparison, title: str = "") -> None:
    """Print means with intervals, then wins and p-values pair by pair."""
    summary = found.summary()
    names = list(found.results)
    columns = [
        Column("policy", "text"),
        Column("mean regret", "figure"),
        Column("standard error", "figure"),
        Column("95 % interval", "interval"),
        Column("worst run", "figure"),
    ]
    rows = [
        [
            name,
            summary["mean_regret"][name],
            summary["standard_error"][name],
            summary["interval_95"][name],
            float(found[name].final_regret.max()),
        ]
        for name in names
    ]
    table(Table(columns, rows, title=title))
    if found.keys_ignored:
        say(f"Keys ignored (the audience played as one key): {', '.join(found.keys_ignored)}.")
    if summary["runs"] < 2:
        say("One run has no standard error, interval or p-value.")
    if len(names) < 2 or summary["runs"] < 2:
        return
    if found.reference is not None:
        _against(found, found.reference)
        return
    table(
        Table(
            ["pair", "wins of the first", "p-value", "corrected (Holm)"],
            [[f"{a} against {b}", *_tested(found, a, b)] for a, b in found.pairs],
            title="Paired by run",
        )
    )


def _against(found: Comparison, reference: str) -> None:
    """Print the comparison of the other policies with one of them."""
    table(
        Table(
            ["policy", "difference", "95 % interval", "wins", "p-value", "corrected (Holm)"],
            [
                [a, *_difference(*found.differences[a]), *_tested(found, a, b)]
                for a, b in found.pairs
            ],
            title=f"Regret less that of {reference}, paired by run",
        )
    )


def _tested(found: Comparison, a: str, b: str) -> list[str]:
    return [
        f"{found.wins[a][b]} of {found[a].runs}{_ties(found.ties(a, b))}",
        p_value(found.p_values[a][b]),
        p_value(found.holm[a][b]),
    ]


def _difference(mean: float, low: float, high: float) -> list[str]:
    return [signed(mean), interval((low, high))]


def _ties(count: int) -> str:
    return "" if count == 0 else f", {count} tie{'s' * (count > 1)}"


def records(rows: Sequence[dict[str, str]], as_json: bool) -> None:
    """Print records of the same fields, as a table or as JSON."""
    if as_json:
        print_json(rows)
    else:
        table(Table.of(rows))


@contextlib.contextmanager
def progress(total: int, quiet: bool = False) -> Iterator[reporting.Report]:
    """A progress bar, unless `quiet`. Its reports also stop the work after a signal."""
    with reporting.bar(total, shown=not quiet) as report:

        def advance(what: str, steps: int) -> None:
            if interrupted.is_set():
                raise Stopped(_signals[-1] if _signals else signal.SIGINT)
            report(what, steps)

        yield advance
