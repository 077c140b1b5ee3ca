"""What players have learnt of their arms, drawn as curves over pulls or showings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from rotting._online.curves import Curves
from rotting._online.inspect import Believed
from rotting._online.table import name_of
from rotting._show.ink import COLOURS, QUIET
from rotting._show.line_names import End, name_ends
from rotting._show.plots import few_ticks, new_figure
from rotting.kernel.arrays import FloatArray, IntArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_WIDEST = 24  # characters of a label


def draw_curves(curves: Curves, axes: Axes | None = None) -> Axes:
    """One line an arm with its band, named at its end; a dot where the cap is.

    More arms than there are colours: the best have one, by their first showing, the rest are grey.
    """
    panel = new_figure()[1][0] if axes is None else axes
    caps = curves.cap
    names = [
        name_of(arm)[:_WIDEST] + ("" if caps[arm] is None else f" (cap {caps[arm]})")
        for arm in curves.arms
    ]
    dots = {
        place: (cap, float(curves.estimate[place, cap - 1]))
        for place, arm in enumerate(curves.arms)
        if (cap := caps[arm])
    }
    bands = (curves.estimate, curves.low, curves.high)
    _draw(panel, names, np.arange(1, curves.most + 1), bands, dots)
    panel.set_xlabel("showing to the same key (bands: 95 %; dots: caps)")
    panel.set_title(curves.title)
    return panel


def draw_believed(found: Believed, axes: Axes) -> Axes:
    """The same for some arms of a player; a dot where the next pull of an arm is."""
    names = [name_of(arm)[:_WIDEST] for arm in found.arms]
    dots = {
        place: (n, float(np.interp(n, found.numbers, found.estimate[place])))
        for place, n in enumerate(found.upcoming or ())
        if n <= found.numbers[-1]
    }
    _draw(axes, names, found.numbers, (found.estimate, found.low, found.high), dots)
    what = "showing to a new key" if found.upcoming is None else "pull (dots: the next one)"
    banded = np.isfinite(found.low).any()
    axes.set_xlabel(f"{what}{', bands: 95 %' if banded else ''}")
    return axes


def _draw(
    axes: Axes,
    names: Sequence[str],
    numbers: IntArray,
    bands: tuple[FloatArray, FloatArray, FloatArray],
    dots: Mapping[int, tuple[int, float]],
) -> None:
    """Lines with their bands; dots are points by the place of an arm."""
    first = np.nan_to_num(bands[0][:, 0], nan=-np.inf)
    best = np.argsort(-first, kind="stable")[: len(COLOURS)].tolist()
    ends: list[End] = []
    for place, name in enumerate(names):
        estimate, low, high = (band[place] for band in bands)
        colour = COLOURS[best.index(place)] if place in best else QUIET
        width, above = (1.6, 3.0) if place in best else (0.8, 1.0)
        axes.plot(numbers, estimate, color=colour, linewidth=width, zorder=above)
        if place not in best:
            continue
        axes.fill_between(numbers, low, high, color=colour, alpha=0.15, linewidth=0)
        if place in dots:
            axes.plot(*dots[place], "o", color=colour, markersize=5, zorder=4)
        if np.isfinite(estimate[-1]):
            ends.append(End(float(estimate[-1]), name, colour))
    axes.set_ylabel("estimated reward")
    axes.set_xlim(1, max(2, int(numbers[-1])))
    axes.set_ylim(bottom=min(0.0, axes.get_ylim()[0]))
    few_ticks(axes)
    name_ends(axes, ends)
