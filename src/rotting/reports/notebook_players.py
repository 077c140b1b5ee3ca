"""Players and what they have learnt, as a notebook shows them."""

from __future__ import annotations

from rotting.online.curves import Curves
from rotting.online.inspect import Believed
from rotting.online.table import Table
from rotting.reports.curves import draw_believed, draw_curves
from rotting.reports.notebook import beside, fewer, fragment, picture, said, table

_ROWS = 40  # of a table


def player_html(arms: Table, believed: Believed | None) -> str:
    """The table of the arms, and what the policy believes of their pulls."""
    text = arms._repr_html_()
    if believed is None:
        return text
    about = "What the policy expects of each arm, over its pulls"
    drawn = picture(lambda axes: draw_believed(believed, axes), about)
    note = fewer(len(believed.arms), believed.open, "open arms", "drawn, those pulled most")
    return f"<div>{beside([f'<div>{text}</div>', drawn])}\n{said([note])}</div>"


def curves_html(curves: Curves) -> str:
    """A row an arm, and the curves with their caps."""
    header, *rows = curves.cells()
    shown = [dict(zip(header, row, strict=True)) for row in rows[:_ROWS]]
    about = f"Estimated reward of each arm over showings: {curves.title}"
    return fragment(
        curves.heading,
        [table(shown), picture(lambda axes: draw_curves(curves, axes), about)],
        [fewer(len(shown), len(rows), "arms", "in the table; to_frame() has them all")],
    )
