"""The learnt curves of an audience's arms, drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rotting.online.curves import Curves
from rotting.online.table import name_of
from rotting.reports.plots import COLOURS, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_OTHERS = "#BBBBBB"
_WIDEST = 24  # characters of a label


def draw_curves(curves: Curves, axes: Axes | None = None) -> Axes:
    """One line an arm with its band, named at its end; a dot where the cap is.

    More arms than there are colours: the best have one, by their first showing, the rest are grey.
    """
    panel = new_figure(7.5, 4.5)[1][0] if axes is None else axes
    showings = np.arange(1, curves.most + 1)
    first = np.nan_to_num(curves.estimate[:, 0], nan=-np.inf)
    best = np.argsort(-first, kind="stable")[: len(COLOURS)].tolist()
    caps = curves.cap
    ends: list[tuple[float, str, str]] = []
    for place, arm in enumerate(curves.arms):
        estimate = curves.estimate[place]
        colour = COLOURS[best.index(place)] if place in best else _OTHERS
        width, above = (1.6, 3.0) if place in best else (0.8, 1.0)
        panel.plot(showings, estimate, color=colour, linewidth=width, zorder=above)
        if place not in best:
            continue
        low, high = curves.low[place], curves.high[place]
        panel.fill_between(showings, low, high, color=colour, alpha=0.15, linewidth=0)
        cap = caps[arm]
        if cap:
            panel.plot(cap, estimate[cap - 1], "o", color=colour, markersize=5, zorder=4)
        if np.isfinite(estimate[-1]):
            said = name_of(arm)[:_WIDEST] + (f" (cap {cap})" if cap is not None else "")
            ends.append((float(estimate[-1]), said, colour))
    panel.set_xlabel("showing to the same key")
    panel.set_ylabel("estimated reward")
    panel.set_title(curves.title)
    panel.set_xlim(1, max(2, curves.most))
    panel.set_ylim(bottom=min(0.0, panel.get_ylim()[0]))
    _name(panel, ends)
    return panel


def _name(panel: Any, ends: list[tuple[float, str, str]]) -> None:
    """Names beside the ends of the lines, moved apart where they would touch."""
    bottom, top = panel.get_ylim()
    apart = 0.05 * (top - bottom)
    before = -np.inf
    for height, said, colour in sorted(ends):
        before = max(height, before + apart)
        panel.annotate(
            said,
            (1.0, before),
            xycoords=("axes fraction", "data"),
            xytext=(5, 0),
            textcoords="offset points",
            color=colour,
            va="center",
            fontsize=8,
            annotation_clip=False,
        )
