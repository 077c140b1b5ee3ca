"""Players and what they have learnt, as a notebook shows them."""

from __future__ import annotations

from rotting._online.curves import Curves
from rotting._online.inspect import curves_of_player
from rotting._online.player import AnyPlayer
from rotting._show.curves import draw_believed, draw_curves
from rotting._show.notebook import CELL, beside, fewer, fragment, picture, said
from rotting._table import Table

_ROWS = 40  # of a table


def player_html(player: AnyPlayer) -> str:
    """The table of the arms, and their learnt curves where the policy has some."""
    arms, believed = player.table(), curves_of_player(player.core.snapshot())
    text = arms._repr_html_()
    if believed is None:
        return text
    about = "What the policy expects of each arm, over its pulls"
    drawn = picture(lambda axes: draw_believed(believed, axes), about)
    note = fewer(len(believed.arms), believed.open, "open arms", "drawn, those pulled most")
    return f"<div>{beside([f'<div>{text}</div>', drawn])}\n{said([note])}</div>"


def curves_html(curves: Curves) -> str:
    """A row an arm, and the curves with their caps."""
    whole = curves.table()
    shown = Table(whole.columns, whole.rows[:_ROWS]).dense()
    about = f"Estimated reward of each arm over showings: {curves.title}"
    return fragment(
        curves.heading,
        [shown.html(CELL), picture(lambda axes: draw_curves(curves, axes), about)],
        [fewer(len(shown.rows), len(whole.rows), "arms", "in the table; to_frame() has them all")],
    )
