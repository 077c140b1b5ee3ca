"""Names beside the ends of lines, instead of a legend that the eye has to travel to."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rotting.arrays import FloatArray
from rotting.reports.ink import readable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_APART = 1.25  # heights of a letter between two names
_FAR = 0.6  # of that: a name moved further has a thin line to where it belongs


class End(NamedTuple):
    """Where a line ends, in the units of the vertical axis, its name and its colour."""

    height: float
    name: str
    colour: str


def name_ends(axes: Axes, ends: Iterable[End], size: float = 9.0) -> None:
    """Write the names at the right of the axes, moved apart as little as they must be.

    To be called when the limits of the axes are final.
    """
    found = sorted((end for end in ends if np.isfinite(end.height)), key=lambda end: end.height)
    if not found:
        return
    figure = axes.figure.canvas.figure
    points = 72.0 * figure.get_figheight() * axes.get_position().height
    left = axes.get_xlim()[0]
    to_share = axes.transData + axes.transAxes.inverted()
    wanted = np.array([to_share.transform((left, end.height))[1] for end in found]) * points
    places = _apart(wanted, _APART * size, points)
    for end, place, height in zip(found, places, wanted, strict=True):
        moved = abs(place - height) > _FAR * _APART * size
        axes.annotate(
            end.name,
            (1.0, height / points),
            (16 if moved else 5, place - height),
            xycoords="axes fraction",
            textcoords="offset points",
            color=readable(end.colour),
            va="center",
            fontsize=size,
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "color": end.colour,
                "linewidth": 0.6,
                "shrinkA": 0,
                "shrinkB": 0,
                "relpos": (0.0, 0.5),
            }
            if moved
            else None,
        )


def _apart(wanted: FloatArray, gap: float, top: float) -> FloatArray:
    """The places nearest to the wanted ones, in least squares, that are `gap` apart, and below top.

    >>> _apart(np.array([10.0, 10.0, 50.0]), 8.0, 100.0).tolist()
    [6.0, 14.0, 50.0]
    """
    from scipy.optimize import isotonic_regression

    steps = gap * np.arange(wanted.size)
    places: FloatArray = isotonic_regression(wanted - steps).x + steps
    return places - max(0.0, float(places[-1]) - top)
