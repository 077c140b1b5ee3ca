"""What a player thinks of its arms: a row an arm, as plain data, as a frame, or to look at."""

from __future__ import annotations

import importlib
import math
import textwrap
from collections.abc import Iterator, Sequence
from html import escape
from typing import Any, NamedTuple

import numpy as np

from rotting import _checks
from rotting._printable import printable

_SHOWN = 40  # rows of a longer table that are shown
_WIDEST = 24  # characters of a label in a terminal; more of it is folded

# columns in the order in which they are given up where a terminal is too narrow
_GIVEN_UP = ("waiting", "observed", "chosen", "mean", "padding", "open", "pulls", "estimate")


class Row(NamedTuple):
    """An arm. None: not known, or the policy does not say."""

    arm: Any  # its label
    pulls: int  # decisions for it, and pulls of history
    observed: int  # rewards that have come
    mean: float | None  # of all those rewards
    estimate: float | None  # what the policy expects of the next one
    padding: float | None  # what it adds to that for not being sure
    index: float | None  # type: ignore[assignment]  # what it compares
    open: bool  # False: retired
    chosen: int  # the number of the decision in which it was chosen last, from 1; 0: never
    waiting: int  # decisions for it whose rewards are waited for


_HEADINGS = {"open": "state", "chosen": "last chosen"}


class Table:
    """The arms of a player at one moment. Rows come in the order of the arms, or by label.

    >>> from rotting import policies
    >>> player = policies.UCB1().online(["red", "blue"], compiled=False)
    >>> player.update(player.select(), reward=1.0)
    >>> table = player.table()
    >>> table["red"].mean, [row.pulls for row in table]
    (1.0, [1, 0])
    """

    __slots__ = ("_places", "rows", "title")

    def __init__(self, title: str, rows: Sequence[Row]) -> None:
        self.title, self.rows = title, tuple(rows)
        self._places = {row.arm: place for place, row in enumerate(self.rows)}

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __getitem__(self, label: Any) -> Row:
        """The row of an arm, by its label; `rows` has them by place."""
        return self.rows[self._places[label]]

    def to_frame(self, library: str = "pandas") -> Any:
        """A data frame of pandas or of polars ("polars"), a row an arm."""
        columns = {name: [getattr(row, name) for row in self.rows] for name in Row._fields}
        return frame_of(columns, _FLOATS, library)

    def __str__(self) -> str:
        from rich.console import Console

        console = Console(highlight=False, emoji=False, color_system=None)
        names = list(Row._fields)
        given_up: list[str] = []
        for name in _GIVEN_UP:
            if self._width(names, console) <= console.width:
                break
            names.remove(name)
            given_up.append(_HEADINGS.get(name, name))
        below = [self._more()] if self._more() else []
        below += [f"Too narrow for: {', '.join(given_up)}."] if given_up else []
        around = [textwrap.fill(text, console.width) for text in (printable(self.title), *below)]
        return "\n".join([around[0], *_lines(self._drawn(names), console), *around[1:]])

    __repr__ = __str__

    def _width(self, names: list[str], console: Any) -> int:
        from rich.measure import Measurement

        options = console.options.update(width=10_000)
        return int(Measurement.get(console, options, self._drawn(names)).minimum)

    def _drawn(self, names: list[str]) -> Any:
        """A table for a terminal: labels flush left, numbers flush right and never cut."""
        from rich import box
        from rich.cells import cell_len
        from rich.table import Table as Drawn
        from rich.text import Text

        drawn = Drawn(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
        columns = [_column(self._shown(), name) for name in names]
        for name, cells in zip(names, columns, strict=True):
            heading = _HEADINGS.get(name, name)
            text = name in _TEXTS
            widest = max(map(cell_len, [heading, *cells]))
            drawn.add_column(
                heading,
                justify="left" if text else "right",
                overflow="fold",
                no_wrap=not text,
                min_width=min(widest, _WIDEST) if text else widest,
            )
        for row in zip(*columns, strict=True):
            drawn.add_row(*map(Text, row))
        return drawn

    def _repr_html_(self) -> str:
        """For notebooks: their own colours, light or dark."""
        heads = "".join(
            f'<th style="text-align: {_side(name)}">{_HEADINGS.get(name, name)}</th>'
            for name in Row._fields
        )
        shown = self._shown()
        columns = [_column(shown, name) for name in Row._fields]
        cells = zip(*columns, strict=True)
        lines = [
            f"<p>{escape(printable(self.title))}</p>",
            '<div style="overflow-x: auto"><table style="font-variant-numeric: tabular-nums">',
            f"<thead><tr>{heads}</tr></thead>",
            "<tbody>",
            *map(_html, shown, cells),
            "</tbody></table></div>",
        ]
        lines += [f"<p>{escape(self._more())}</p>"] if self._more() else []
        return "\n".join(lines)

    def _shown(self) -> list[Row]:
        """All rows, or of a long table those of the arms that were pulled most."""
        if len(self.rows) <= _SHOWN:
            return list(self.rows)
        most = sorted(range(len(self.rows)), key=lambda place: -self.rows[place].pulls)
        return [self.rows[place] for place in sorted(most[:_SHOWN])]

    def _more(self) -> str:
        if len(self.rows) <= _SHOWN:
            return ""
        return f"{_SHOWN} of {len(self.rows):,} arms, those pulled most; to_frame() has them all."


_FLOATS = ("mean", "estimate", "padding", "index")
_TEXTS = ("arm", "open")


def frame_of(columns: dict[str, list[Any]], numbers: Sequence[str], library: str) -> Any:
    """A data frame of pandas or polars with these columns; some are floats, whatever they hold."""
    _checks.choice("library", library, ("pandas", "polars"))
    if library == "polars":
        try:
            polars = importlib.import_module(library)
        except ImportError as error:
            raise ImportError("this frame needs polars: pip install polars") from error
        floats = dict.fromkeys(numbers, polars.Float64)
        return polars.DataFrame(columns, schema_overrides=floats)
    try:
        import pandas
    except ImportError as error:
        raise ImportError("a frame needs pandas: pip install 'rotting[frames]'") from error
    return pandas.DataFrame(columns).astype(dict.fromkeys(numbers, float))


def figure(value: float | None) -> str:
    """A number in four digits, never in less than it takes to tell it from zero.

    >>> figure(0.123456), figure(-20.0), figure(1234567.0), figure(1e-7), figure(None)
    ('0.1235', '-20', '1234567', '1e-07', '-')
    """
    if value is None or math.isnan(value):
        return "-"
    return f"{value:.0f}" if 1e3 <= abs(value) < 1e9 else f"{value:.4g}"


def name_of(label: Any) -> str:
    """A label to be read: words as they are, anything else as Python writes it."""
    return printable(str(label)) if isinstance(label, str) else quoted(label)


def quoted(label: Any) -> str:
    """A label in a sentence: words in quotes, NumPy's scalars as Python's."""
    return printable(repr(label.item() if isinstance(label, np.generic) else label))


def _column(rows: Sequence[Row], name: str) -> list[str]:
    """The cells of a column; its numbers have as many decimals as the largest needs."""
    values = [getattr(row, name) for row in rows]
    if name == "arm":
        return [name_of(value) for value in values]
    if name == "open":
        return ["open" if value else "retired" for value in values]
    if name == "chosen":
        return [str(value) if value else "never" for value in values]
    if name not in _FLOATS:
        return [str(value) for value in values]
    largest = max((abs(value) for value in values if value), default=1.0)
    if not 1e-4 <= largest < 1e9:
        return [figure(value) for value in values]
    decimals = max(0, 3 - math.floor(math.log10(largest)))
    return ["-" if value is None else f"{value:.{decimals}f}" for value in values]


def _side(name: str) -> str:
    return "left" if name in _TEXTS else "right"


def _html(row: Row, cells: Sequence[str]) -> str:
    faded = "" if row.open else ' style="opacity: 0.6"'
    shown = (
        f'<td style="text-align: {_side(name)}">{escape(cell)}</td>'
        for name, cell in zip(Row._fields, cells, strict=True)
    )
    return f"<tr{faded}>{''.join(shown)}</tr>"


def _lines(drawn: Any, console: Any) -> list[str]:
    with console.capture() as captured:
        console.print(drawn)
    return [line.rstrip() for line in captured.get().splitlines() if line.strip()]
