"""Output of commands: lines, tables, JSON, a progress bar that Ctrl-C stops."""

from __future__ import annotations

import contextlib
import math
import signal
import sys
import textwrap
import threading
from collections.abc import Iterator, Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.measure import Measurement
from rich.table import Table

from rotting import _progress as reporting
from rotting._experiments.comparison import Comparison
from rotting._printable import printable
from rotting._show.data import json_text
from rotting._signals import STOPS


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


def table(header: Sequence[str], rows: Sequence[Sequence[str]], title: str = "") -> None:
    """Print a table: the first column flush left, numbers flush right.

    Where it is too wide, headings take several lines. If that is not enough, rows are printed as
    records, one line a cell, so that no number loses its last digits.
    """
    header = [printable(name) for name in header]
    rows = [[printable(cell) for cell in row] for row in rows]
    if title:
        out.print(f"\n{printable(title)}", style="bold", markup=False)
    for folded in (False, True):
        shown = _table(header, rows, folded)
        least = Measurement.get(out, out.options.update(width=10_000), shown).minimum
        if least <= out.width:
            out.print(shown)
            return
    for row in rows:
        _record(header, row)
    out.print()


def _record(header: Sequence[str], row: Sequence[str]) -> None:
    """Print a row of a table as lines "name: value", below its first cell."""
    out.print()
    out.print(_wrapped(row[0], ""), style="bold", markup=False, soft_wrap=True)
    for name, cell in zip(header[1:], row[1:], strict=True):
        if cell:
            lines = _wrapped(cell, "  ", f"{name}: " if name else "")
            out.print(lines, markup=False, soft_wrap=True)  # printable already, but for its breaks


def _wrapped(cell: str, indent: str, name: str = "") -> str:
    """Lines of a terminal's width; a number is never broken."""
    return textwrap.fill(
        name + cell,
        max(20, out.width),
        initial_indent=indent,
        subsequent_indent=2 * indent,
        break_long_words=not _is_number(cell),
        break_on_hyphens=False,
    )


def _table(header: Sequence[str], rows: Sequence[Sequence[str]], folded: bool) -> Table:
    """A table whose numbers are never wrapped; texts are, below 24 letters only if they must."""
    shown = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for place, name in enumerate(header):
        cells = [row[place] for row in rows]
        numeric = place > 0 and all(_is_number(cell) for cell in cells)
        heading = name.split() if folded else [name]
        widest = max((len(text) for text in [*cells, *heading]), default=0)
        if numeric:
            name = textwrap.fill(name, max(1, widest))
        else:
            widest = min(24, widest)  # narrower, texts cannot be read
        shown.add_column(
            name,
            justify="right" if numeric else "left",
            overflow="fold",
            no_wrap=numeric,
            min_width=widest or None,
        )
    for row in rows:
        shown.add_row(*(escape(cell) for cell in row))
    return shown


def _is_number(text: str) -> bool:
    return not text or text[0] in "0123456789-+<."


def figure(value: float, form: str = ".2f") -> str:
    """A short number; a hyphen for NaN, such as the standard error of a single run.

    >>> figure(3.14159), figure(math.nan)
    ('3.14', '-')
    """
    return "-" if math.isnan(value) else format(value, form)


def show_p(value: float) -> str:
    """A short p-value. It is never shown as zero; a single run has none.

    >>> show_p(0.0), show_p(3e-9), show_p(0.2), show_p(math.nan)
    ('<1e-300', '3.0e-09', '0.200', '-')
    """
    if value < 1e-300:
        return "<1e-300"
    return figure(value, ".1e" if value < 0.001 else ".3f")


def comparison(found: Comparison, title: str = "") -> None:
    """Print means with intervals, then wins and p-values pair by pair."""
    summary = found.summary()
    names = list(found.results)
    table(
        ["policy", "mean regret", "standard error", "95 % interval", "worst run"],
        [
            [
                name,
                figure(summary["mean_regret"][name]),
                figure(summary["standard_error"][name]),
                _interval(*summary["interval_95"][name]),
                figure(found[name].final_regret.max()),
            ]
            for name in names
        ],
        title,
    )
    if found.keys_ignored:
        say(f"Keys ignored (the audience played as one key): {', '.join(found.keys_ignored)}.")
    if summary["runs"] < 2:
        say("One run has no standard error, interval or p-value.")
    if len(names) < 2:
        return
    if found.reference is not None:
        _against(found, found.reference)
        return
    table(
        ["pair", "wins of the first", "p-value", "corrected (Holm)"],
        [[f"{a} against {b}", *_tested(found, a, b)] for a, b in found.pairs],
        "Paired by run",
    )


def _against(found: Comparison, reference: str) -> None:
    """Print the comparison of the other policies with one of them."""
    table(
        ["policy", "difference", "95 % interval", "wins", "p-value", "corrected (Holm)"],
        [[a, *_difference(*found.differences[a]), *_tested(found, a, b)] for a, b in found.pairs],
        f"Regret less that of {reference}, paired by run",
    )


def _tested(found: Comparison, a: str, b: str) -> list[str]:
    return [
        f"{found.wins[a][b]} of {found[a].runs}{_ties(found.ties(a, b))}",
        show_p(found.p_values[a][b]),
        show_p(found.holm[a][b]),
    ]


def _difference(mean: float, low: float, high: float) -> list[str]:
    return [figure(mean, "+.2f"), _interval(low, high)]


def _interval(low: float, high: float) -> str:
    return "-" if math.isnan(low) else f"{figure(low)} to {figure(high)}"


def _ties(count: int) -> str:
    return "" if count == 0 else f", {count} tie{'s' * (count > 1)}"


def records(rows: Sequence[dict[str, str]], as_json: bool) -> None:
    """Print records of the same fields, as a table or as JSON."""
    if as_json:
        print_json(rows)
    else:
        table(list(rows[0]), [list(row.values()) for row in rows])


@contextlib.contextmanager
def progress(total: int, quiet: bool = False) -> Iterator[reporting.Report]:
    """A progress bar, unless `quiet`. Its reports also stop the work after a signal."""
    with reporting.bar(total, shown=not quiet) as report:

        def advance(what: str, steps: int) -> None:
            if interrupted.is_set():
                raise Stopped(_signals[-1] if _signals else signal.SIGINT)
            report(what, steps)

        yield advance
