"""A table: columns with kinds, shown as text, HTML, Markdown, TeX or CSV, or as a data frame.

Cells hold values; the kind of their column says how they are written (`_numbers`). Text never
loses a number: where the terminal is too narrow for all columns, the others follow in a table
below, and in a very narrow one each row becomes lines "heading: value".
"""

from __future__ import annotations

import csv
import importlib
import io
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

from rotting import _checks, _numbers
from rotting._printable import printable

if TYPE_CHECKING:
    from rich.table import Table as RichTable

LINES = 60  # columns of a terminal below which rows are written as lines
_WIDEST = 24  # characters of a text that are not folded
_SCROLL = '<div style="overflow-x: auto; max-width: 100%">'
_TABULAR = '<table style="font-variant-numeric: tabular-nums; margin: .4rem 0">'
_SIDES = {
    "text": "text-align: left",
    "prose": "text-align: left; vertical-align: top; white-space: normal",
    "number": "text-align: right; white-space: nowrap",
}
_ROWS = {"bold": "font-weight: bold", "faded": "opacity: 0.6"}
_TEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"$<$",
    ">": r"$>$",
    **{sign: "\\" + sign for sign in "&%$#_{}"},
}


def _each(write: Callable[[Any], str]) -> Callable[[Sequence[Any]], list[str]]:
    return lambda values: [write(value) for value in values]


def _word(value: Any) -> str:
    return _numbers.NONE if value is None else printable(str(value))


# how the values of a column are written
KINDS: Mapping[str, Callable[[Sequence[Any]], list[str]]] = {
    "text": _each(_word),
    "prose": _each(_word),
    "number": _each(_word),  # written already
    "figure": _numbers.figures,
    "count": _each(_numbers.count),
    "percent": _each(_numbers.percent),
    "signed": _each(_numbers.signed),
    "p": _each(_numbers.p_value),
    "interval": _each(_numbers.interval),
}
_FLOATS = ("figure", "percent", "signed", "p")


class Column(NamedTuple):
    """A column: its heading, its kind (one of `KINDS`), its name in CSV and frames."""

    heading: str
    kind: str = "number"
    name: str = ""

    @property
    def side(self) -> str:
        return _SIDES.get(self.kind, _SIDES["number"])

    @property
    def is_text(self) -> bool:
        return self.kind in ("text", "prose")


class Cell(NamedTuple):
    """A value with a second one beside it, in parentheses, and perhaps a mark.

    The mark is a class of the style of pages: "yes" (agrees), "no" (differs), "same".
    """

    value: Any
    beside: str = ""
    mark: str = ""


class Table:
    """Rows of values below columns.

    Args:
        columns: The columns; a string is the heading of one, the first of texts, others of numbers
            that are written already.
        rows: A value for each column; a `Cell` has a second one beside it.
        title: A line above the table as text.
        styles: "bold" or "faded" for some rows, by place.
        rules: The places of rows below which LaTeX draws a line.

    >>> table = Table(["policy", Column("regret", "figure")], [["UCB1", 50.0], ["CTO", 3.14159]])
    >>> print(table.markdown())
    | policy | regret |
    | :--- | ---: |
    | UCB1 | 50.00 |
    | CTO | 3.14 |
    """

    def __init__(
        self,
        columns: Iterable[Column | str],
        rows: Iterable[Sequence[Any]],
        *,
        title: str = "",
        styles: Mapping[int, str] | None = None,
        rules: Iterable[int] = (),
    ) -> None:
        self.columns = [
            Column(each, "number" if place else "text") if isinstance(each, str) else each
            for place, each in enumerate(columns)
        ]
        self.rows = [list(row) for row in rows]
        self.title, self.styles, self.rules = title, dict(styles or {}), frozenset(rules)
        if any(len(row) != len(self.columns) for row in self.rows):
            raise ValueError(f"rows must have {len(self.columns)} cells, one for each column")

    @classmethod
    def of(cls, rows: Sequence[Mapping[str, Any]], title: str = "") -> Table:
        """A table of records that have the same fields; what is a number is a figure."""
        names = list(rows[0]) if rows else []
        numbers = {
            name
            for name in names
            if all(isinstance(row[name], float) or row[name] is None for row in rows)
        }
        kinds = [Column(name, "figure" if name in numbers else "text") for name in names]
        return cls(kinds, [[row[name] for name in names] for row in rows], title=title)

    @property
    def headings(self) -> list[str]:
        return [printable(column.heading) for column in self.columns]

    def cells(self) -> list[list[str]]:
        """The rows as texts."""
        written = [self._written(place, column.kind) for place, column in enumerate(self.columns)]
        return [list(row) for row in zip(*written, strict=True)] if self.rows else []

    def _written(self, place: int, kind: str) -> list[str]:
        values = [row[place] for row in self.rows]
        plain = [value.value if isinstance(value, Cell) else value for value in values]
        return [
            f"{text} ({printable(value.beside)})"
            if isinstance(value, Cell) and value.beside
            else text
            for text, value in zip(KINDS[kind](plain), values, strict=True)
        ]

    def dense(self) -> Table:
        """The same without the columns in which there is nothing but hyphens."""
        cells = self.cells()
        kept = [
            place
            for place in range(len(self.columns))
            if any(row[place] not in ("", _numbers.NONE) for row in cells)
        ]
        return Table(
            [self.columns[place] for place in kept],
            [[row[place] for place in kept] for row in self.rows],
            title=self.title,
            styles=self.styles,
            rules=self.rules,
        )

    def text(self, width: int | None = None) -> str:
        """Lines for a terminal, of its width unless one is given."""
        from rich.console import Console

        console = Console(highlight=False, emoji=False, color_system=None, width=width)
        cells = self.cells()
        lines = textwrap.wrap(printable(self.title), console.width) if self.title else []
        for block in self._blocks(cells, console):
            if lines and block is not None:
                lines.append("")
            if block is None:
                lines += [line for row in cells for line in self._record(row, console.width)]
            else:
                lines += _lines(block, console)
        return "\n".join(lines)

    __str__ = text

    def _blocks(self, cells: list[list[str]], console: Any) -> list[RichTable | None]:
        """Tables that fit, one below the other; None for rows written as lines."""
        places = list(range(len(self.columns)))
        for tight in range(3):  # as it is, headings folded, columns closer together
            whole = self._drawn(cells, places, tight)
            if _least(whole, console) <= console.width:
                return [whole]
        if console.width < LINES:
            return [None]
        blocks: list[RichTable | None] = []
        left = places[1:]
        while left:
            taken = 1
            while taken < len(left) and self._fits(cells, [0, *left[: taken + 1]], console):
                taken += 1
            if taken == 1 and not self._fits(cells, [0, left[0]], console):
                return [None]
            blocks.append(self._drawn(cells, [0, *left[:taken]], 1))
            left = left[taken:]
        return blocks

    def _fits(self, cells: list[list[str]], places: list[int], console: Any) -> bool:
        return _least(self._drawn(cells, places, 1), console) <= int(console.width)

    def _drawn(self, cells: list[list[str]], places: list[int], tight: int) -> RichTable:
        """Some columns as rich's table: numbers are never wrapped, texts hardly."""
        from rich import box
        from rich.cells import cell_len
        from rich.table import Table as RichTable
        from rich.text import Text

        drawn = RichTable(
            box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 0 if tight > 1 else 1, 0, 0)
        )
        headings = self.headings
        for place in places:
            heading, texts = headings[place], [row[place] for row in cells]
            text = self.columns[place].is_text
            parts = heading.split() if tight else [heading]
            widest = max(map(cell_len, [*texts, *parts]), default=0)
            if text:
                widest = min(_WIDEST, widest)
            drawn.add_column(
                Text(textwrap.fill(heading, max(1, widest)) if tight else heading),
                justify="left" if text else "right",
                overflow="fold",
                no_wrap=not text,
                min_width=widest or None,
            )
        for row in cells:
            drawn.add_row(*(Text(row[place]) for place in places))
        return drawn

    def _record(self, row: list[str], width: int) -> list[str]:
        """A row as lines "heading: value" below its first cell; a number is never broken."""
        lines = ["", *_wrapped(row[0], "", width)]
        for heading, column, cell in zip(self.headings[1:], self.columns[1:], row[1:], strict=True):
            if cell:
                name = f"{heading}: " if heading else ""
                lines += _wrapped(name + cell, "  ", width, column.is_text)
        return lines

    def html(self, letters: int | None = None) -> str:
        """A table that scrolls if it is too wide; `letters` cuts longer texts.

        All styles are in the elements: a notebook has no style sheet of ours.
        """
        head = "".join(
            self._html_cell("th", column, column.heading, "", letters) for column in self.columns
        )
        lines = [_SCROLL + _TABULAR, f"<thead><tr>{head}</tr></thead>", "<tbody>"]
        for place, texts in enumerate(self.cells()):
            style = self.styles.get(place)
            cells = (
                self._html_cell("td", column, text, value, letters)
                for column, text, value in zip(self.columns, texts, self.rows[place], strict=True)
            )
            styled = f' style="{_ROWS[style]}"' if style else ""
            lines.append(f"<tr{styled}>{''.join(cells)}</tr>")
        return "\n".join([*lines, "</tbody></table></div>"])

    @staticmethod
    def _html_cell(tag: str, column: Column, text: str, value: Any, letters: int | None) -> str:
        small = mark = ""
        if isinstance(value, Cell):
            mark = f' class="{escape(value.mark)}"' if value.mark else ""
            if value.beside:
                beside = f" ({printable(value.beside)})"
                text, small = text.removesuffix(beside), f" <small>{escape(beside[1:])}</small>"
        text = printable(text)
        if letters is not None and len(text) > letters:
            text = text[: letters - 3] + "..."
        return f'<{tag}{mark} style="{column.side}">{escape(text)}{small}</{tag}>'

    def markdown(self) -> str:
        """A table for Markdown."""
        sides = [":---" if column.is_text else "---:" for column in self.columns]
        lines = [self.headings, sides, *self.cells()]
        return "\n".join(
            f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines
        )

    def tex(self, about: Iterable[str] = ()) -> str:
        """A plain tabular for LaTeX, no package needed; `about` becomes comments above it."""
        letters = "".join("l" if column.is_text else "r" for column in self.columns)
        lines = [
            *(f"% {line}" for line in about),
            rf"\begin{{tabular}}{{{letters}}}",
            r"\hline",
            " & ".join(escaped_tex(heading) for heading in self.headings) + r" \\ \hline",
        ]
        for place, row in enumerate(self.cells()):
            cells = (
                escaped_tex(cell) if column.is_text else _tex_number(cell)
                for column, cell in zip(self.columns, row, strict=True)
            )
            lines.append(" & ".join(cells) + r" \\")
            if place in self.rules:
                lines.append(r"\hline")
        if len(self.rows) - 1 not in self.rules:
            lines.append(r"\hline")
        return "\n".join([*lines, r"\end{tabular}"]) + "\n"

    def csv(self) -> str:
        """The values themselves, with the columns' names; empty where there is none."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(column.name or column.heading for column in self.columns)
        for row in self.rows:
            plain = (value.value if isinstance(value, Cell) else value for value in row)
            writer.writerow("" if value is None or value != value else value for value in plain)
        return out.getvalue()

    def to_frame(self, library: str = "pandas") -> Any:
        """A data frame of pandas or of polars ("polars")."""
        columns = {
            column.name or column.heading: [row[place] for row in self.rows]
            for place, column in enumerate(self.columns)
        }
        floats = [c.name or c.heading for c in self.columns if c.kind in _FLOATS]
        return frame_of(columns, floats, library)


def frame_of(
    columns: Mapping[str, Any], numbers: Sequence[str] = (), library: str = "pandas"
) -> Any:
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


def escaped_tex(text: str) -> str:
    """A text as LaTeX prints it.

    >>> print(escaped_tex("wSWA_2 & 95 %"))
    wSWA\\_2 \\& 95 \\%
    """
    return "".join(_TEX.get(sign, sign) for sign in printable(text))


def _tex_number(text: str) -> str:
    """Numbers of a cell in mathematics, so that minus signs are no hyphens."""
    if text == _numbers.NONE:
        return "--"
    number = re.compile(r"(?<![\w.])[-+]?\d[\d.,]*(?:e[-+]\d+)?(?!\w)")
    parts = text.split("<1e-5")
    return r"$<10^{-5}$".join(number.sub(r"$\g<0>$", escaped_tex(part)) for part in parts)


def _least(drawn: RichTable, console: Any) -> int:
    from rich.measure import Measurement

    return int(Measurement.get(console, console.options.update(width=10_000), drawn).minimum)


def _lines(drawn: RichTable, console: Any) -> list[str]:
    with console.capture() as captured:
        console.print(drawn)
    lines = [line.rstrip() for line in captured.get().splitlines() if line.strip()]
    return [line.removeprefix(" ") for line in lines]  # of the box, which has no left edge


def _wrapped(text: str, indent: str, width: int, breaks: bool = True) -> list[str]:
    return textwrap.wrap(
        text,
        max(20, width),
        initial_indent=indent,
        subsequent_indent=2 * indent,
        break_long_words=breaks,
        break_on_hyphens=False,
    )
