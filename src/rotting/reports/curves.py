"""The learnt curves of an audience's arms, drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rotting.online.curves import Curves
from rotting.online.table import name_of
from rotting.reports.ink import COLOURS, QUIET
from rotting.reports.naming import End, name_ends
from rotting.reports.plots import new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_WIDEST = 24  # characters of a label


def draw_curves(curves: Curves, axes: Axes | None = None) -> Axes:
    """One line an arm with its band, named at its end; a dot where the cap is.

    More arms than there are colours: the best have one, by their first showing, the rest are grey.
    """
    panel = new_figure()[1][0] if axes is None else axes
    showings = np.arange(1, curves.most + 1)
    first = np.nan_to_num(curves.estimate[:, 0], nan=-np.inf)
    best = np.argsort(-first, kind="stable")[: len(COLOURS)].tolist()
    caps = curves.cap
    ends: list[End] = []
    for place, arm in enumerate(curves.arms):
        estimate = curves.estimate[place]
        colour = COLOURS[best.index(place)] if place in best else QUIET
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
            ends.append(End(float(estimate[-1]), said, colour))
    panel.set_xlabel("showing to the same key (bands: 95 %; dots: caps)")
    panel.set_ylabel("estimated reward")
    panel.set_title(curves.title)
    panel.set_xlim(1, max(2, curves.most))
    panel.set_ylim(bottom=min(0.0, panel.get_ylim()[0]))
    name_ends(panel, ends)
    return panel
