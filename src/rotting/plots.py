"""Pictures of results, models, bounds and audiences; the colour that each policy has everywhere.

Importing this module does not import Matplotlib; drawing does.
"""

from rotting._show.audience_plots import curve_panel, share_dots
from rotting._show.bounds import draw_bounds
from rotting._show.ink import (
    BLACK,
    BLUE,
    COLOURS,
    GREEN,
    GREY,
    ORANGE,
    PINK,
    QUIET,
    RED,
    SKY,
    Ink,
    ink,
    inks,
    readable,
)
from rotting._show.line_names import End, name_ends
from rotting._show.means import mean_curves
from rotting._show.plots import grid_curve, new_figure, regret_curves, save_figure

__all__ = [
    "BLACK",
    "BLUE",
    "COLOURS",
    "GREEN",
    "GREY",
    "ORANGE",
    "PINK",
    "QUIET",
    "RED",
    "SKY",
    "End",
    "Ink",
    "curve_panel",
    "draw_bounds",
    "grid_curve",
    "ink",
    "inks",
    "mean_curves",
    "name_ends",
    "new_figure",
    "readable",
    "regret_curves",
    "save_figure",
    "share_dots",
]
