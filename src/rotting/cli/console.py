"""What commands print with: lines, tables, JSON, a progress bar that Ctrl-C stops."""

from __future__ import annotations

import contextlib
import json
import math
import signal
import textwrap
import threading
from collections.abc import Iterator, Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.measure import Measurement
from rich.table import Table

from rotting import progress as reporting
from rotting.experiments.comparison import Comparison

# Set by Ctrl-C. The exception itself can get lost: raised in a call from the compiler's C code,
# Python only reports it and goes on.
interrupted = threading.Event()

out = Console(highlight=False)


@contextlib.contextmanager
def noting_interrupts() -> Iterator[None]:
    """Set `interrupted` at a Ctrl-C too, so that the next report stops the work at the latest."""

    def note(signum: int, frame: Any) -> None:
        interrupted.set()
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may handle signals
        return
    before = signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def say(text: str) -> None:
    """Print a line as it is; brackets are no markup."""
    out.print(text, markup=False, soft_wrap=True)


def print_json(data: Any) -> None:
    """Print plain data as JSON; NaN and infinity become null."""
    print(json.dumps(_finite(data), indent=1))


def _finite(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: _finite(value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [_finite(value) for value in data]
    return None if isinstance(data, float) and not math.isfinite(data) else data


def table(header: Sequence[str], rows: Sequence[Sequence[str]], title: str = "") -> None:
    """Print a table: the first column flush left, numbers flush right.

    Where it is too wide, headings take several lines. If that is not enough it is printed as it is:
    a number must not lose its last digits.
    """
    if title:
        out.print(f"\n{title}", style="bold", markup=False)
    for folded in (False, True):
        shown = _table(header, rows, folded)
        least = Measurement.get(out, out.options.update(width=10_000), shown).minimum
        if least <= out.width:
            break
    else:
        shown.width = least
    out.print(shown, crop=False)


def _table(header: Sequence[str], rows: Sequence[Sequence[str]], folded: bool) -> Table:
    """A table whose numbers are never wrapped, and whose first column is hardly."""
    shown = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for place, name in enumerate(header):
        cells = [row[place] for row in rows]
        numeric = place > 0 and all(_is_number(cell) for cell in cells)
        widest = max((len(cell) for cell in cells), default=0)
        if numeric:
            widest = max([widest, *(len(part) for part in (name.split() if folded else [name]))])
            name = textwrap.fill(name, max(1, widest))
        else:
            widest = min(24, widest) if place == 0 else 0
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
    return not text or text[0] in "0123456789-+<." or text == "nan"


def show_p(value: float) -> str:
    """A p-value, short; no p-value is zero.

    >>> show_p(0.0), show_p(3e-9), show_p(0.2)
    ('<1e-300', '3.0e-09', '0.200')
    """
    if value < 1e-300:
        return "<1e-300"
    return f"{value:.3f}" if value >= 0.001 else f"{value:.1e}"


def comparison(found: Comparison, title: str = "") -> None:
    """Print means with intervals, then wins and p-values pair by pair."""
    summary = found.summary()
    names = list(found.results)
    table(
        ["policy", "mean regret", "standard error", "95 % interval", "worst run"],
        [
            [
                name,
                f"{summary['mean_regret'][name]:.2f}",
                f"{summary['standard_error'][name]:.2f}",
                "{:.2f} to {:.2f}".format(*summary["interval_95"][name]),
                f"{found[name].final_regret.max():.2f}",
            ]
            for name in names
        ],
        title,
    )
    if len(names) < 2:
        return
    pairs = [(a, b) for k, a in enumerate(names) for b in names[k + 1 :]]
    table(
        ["pair", "wins of the first", "p-value", "corrected (Holm)"],
        [
            [
                f"{a} against {b}",
                f"{found.wins[a][b]} of {found[a].runs}{_ties(found.ties(a, b))}",
                show_p(found.p_values[a][b]),
                show_p(found.holm[a][b]),
            ]
            for a, b in pairs
        ],
        "Paired by run",
    )


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
    """A bar on the terminal, unless `quiet`; what it yields also stops the work after a Ctrl-C."""
    with reporting.bar(total, shown=not quiet) as report:

        def advance(what: str, steps: int) -> None:
            if interrupted.is_set():
                raise KeyboardInterrupt
            report(what, steps)

        yield advance
