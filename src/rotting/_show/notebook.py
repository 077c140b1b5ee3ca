"""What objects show of themselves in a notebook: a heading, a table, a small picture, a few words.

The fragments have no style sheet and no script. Texts take the notebook's own colours, light or
dark; pictures stand on white.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable
from html import escape
from typing import TYPE_CHECKING

from rotting._printable import printable
from rotting._show.line_names import shortened
from rotting._show.plots import new_figure, svg_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH, HEIGHT = 4.2, 2.8  # inches
LETTERS = 22  # of a name in a picture
CELL = 70  # letters of a cell of a table
_RULE = re.compile(r'<style type="text/css">\*{([^}"]*)}</style>')
_BESIDE = "display: flex; flex-wrap: wrap; gap: 1rem; align-items: flex-start"
_PAPER = (
    "margin: 0; padding: 4px; background: #fff; border-radius: 6px; width: fit-content; "
    "max-width: 100%; box-sizing: border-box"
)


def fragment(
    heading: str, pieces: Iterable[str], notes: Iterable[str] = (), *, lead: str = ""
) -> str:
    """The whole: pieces stand side by side where there is room; empty notes are left out.

    `lead` is a note that comes before the pieces.
    """
    title = f"<p><strong>{escape(clipped(heading, 2 * CELL))}</strong></p>\n{said([lead])}"
    return f"<div>{title}{beside(pieces)}\n{said(notes)}</div>"


def beside(pieces: Iterable[str]) -> str:
    """Pieces of HTML side by side where there is room, else one below the other."""
    return f'<div style="{_BESIDE}">\n' + "\n".join(filter(None, pieces)) + "\n</div>"


def said(notes: Iterable[str]) -> str:
    """A paragraph for each note that is not empty."""
    return "".join(f"<p>{escape(printable(note))}</p>\n" for note in notes if note)


def picture(
    draw: Callable[[Axes], object], about: str, width: float = WIDTH, height: float = HEIGHT
) -> str:
    """What `draw` draws into new axes; `about` says it to those who do not see it.

    A notebook's own settings of Matplotlib are put aside: letters of a dark style would be white
    on white.
    """
    import matplotlib.style

    with matplotlib.style.context("default"), warnings.catch_warnings():
        # names may be written in letters that the font lacks; the table beside has them
        warnings.filterwarnings("ignore", "Glyph .* missing", UserWarning)
        figure, (axes,) = new_figure(width, height)
        axes.xaxis.label.set_fontsize(9)
        axes.yaxis.label.set_fontsize(9)
        draw(axes)
        return on_paper(svg_text(figure), about)


def on_paper(svg: str, about: str) -> str:
    """A picture that fits the width of the cell, on white paper."""
    # Matplotlib's rule for all lines of a picture would hold for the whole notebook
    lines = _RULE.search(svg)
    style = "display: block; max-width: 100%; height: auto" + (f"; {lines[1]}" if lines else "")
    fitted = _RULE.sub("", svg).replace("<svg ", f'<svg style="{style}" ', 1)
    label = escape(printable(about))
    return f'<figure style="{_PAPER}" role="img" aria-label="{label}">{fitted}</figure>'


def clipped(text: str, most: int = LETTERS) -> str:
    """A text cut to `most` letters, all of them safe to print."""
    return shortened(printable(text[: most + 1]), most)


def fewer(shown: int, count: int, what: str, where: str) -> str:
    """A note that not all is shown, if it is not.

    >>> fewer(12, 200, "arms", "in the table")
    '12 of 200 arms are in the table.'
    """
    return "" if shown >= count else f"{shown:,} of {count:,} {what} are {where}."


def short_names(names: Iterable[str], most: int = LETTERS) -> dict[str, str]:
    """A short form of each name that no other has.

    >>> short_names(["a" * 9, "a" * 10, "b"], most=6)
    {'aaaaaaaaa': 'aaa...', 'aaaaaaaaaa': 'aaa... 2', 'b': 'b'}
    """
    found: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        short = unique = clipped(name, most)
        number = 1
        while unique in taken:
            number += 1
            unique = f"{short} {number}"
        taken.add(unique)
        found[name] = unique
    return found
