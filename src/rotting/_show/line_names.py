"""Names beside the ends of lines, instead of a legend that the eye has to travel to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rotting._show.ink import readable
from rotting.kernel.arrays import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_APART = 1.25  # heights of a letter between two names
_ASIDE = 10.0  # points from the end of a line to its name
_LONGEST = 32  # letters of a line of a name
_SMALLEST = 5.0  # points of a letter, where many names must have room


class End(NamedTuple):
    """Where a line ends, in the units of the vertical axis, its name and its colour."""

    height: float
    name: str
    colour: str


def shortened(text: str, most: int) -> str:
    """The text, cut if it has more letters than that.

    >>> shortened("policy", 6), shortened("policies", 6)
    ('policy', 'pol...')
    """
    return text if len(text) <= most else f"{text[: most - 3]}..."


def name_ends(axes: Axes, ends: Iterable[End], size: float = 9.0, at: float | None = None) -> None:
    """Write the names at the right of the axes, moved apart as little as they must be.

    A thin line leads from the end to its name. `at` is where the lines end, in the units of the
    horizontal axis, if not at the right of the axes. Places are found whenever the figure is drawn,
    so that limits, scales and sizes may change after this. Very many names have smaller letters.
    """
    found = sorted((end for end in ends if np.isfinite(end.height)), key=lambda end: end.height)
    room = 72.0 * axes.figure.canvas.figure.get_figheight() * axes.get_position().height
    rows = sum(end.name.count("\n") + 1 for end in found)
    size = min(size, max(_SMALLEST, room / (_APART * max(1, rows))))
    column = _Column(axes, found, size, at)
    for row, end in enumerate(found):
        axes.annotate(
            "\n".join(shortened(line, _LONGEST) for line in end.name.split("\n")),
            (0.0, 0.0),
            (0.0, 0.0),
            xycoords=_Place(column, row, False),
            textcoords=_Place(column, row, True),
            color=readable(end.colour),
            va="center",
            fontsize=size,
            linespacing=1.0,
            parse_math=False,  # a name may have dollars
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "color": end.colour,
                "linewidth": 0.7,
                "shrinkA": 1.5,
                "shrinkB": 0,
                "relpos": (0.0, 0.5),
            },
        )


class _Column:
    """Names one above another, in pixels of the figure as it is now."""

    def __init__(self, axes: Axes, ends: list[End], size: float, at: float | None) -> None:
        self.axes, self.at = axes, at
        self.heights = [end.height for end in ends]
        self.letter = size / 72.0  # inches
        self.lines = np.array([end.name.count("\n") + 1 for end in ends])

    def ends(self) -> FloatArray:
        """Where the lines end; those outside the axes, at their border."""
        box, to_pixels = self.axes.bbox, self.axes.transData
        across = self.axes.get_xlim()[1] if self.at is None else self.at
        found: FloatArray = to_pixels.transform([(across, height) for height in self.heights])
        if self.at is None:
            found[:, 0] = box.x1
        found[:, 1] = found[:, 1].clip(box.y0, box.y1)
        return found

    def names(self) -> FloatArray:
        """Where the names begin, at half of their height."""
        found = self.ends()
        dots = self.axes.figure.dpi
        gaps = _APART * self.letter * dots * (self.lines[1:] + self.lines[:-1]) / 2.0
        above = self.letter * dots * self.lines[0] / 2.0  # the axis, which may go on below names
        found[:, 1] = _apart(found[:, 1], gaps, self.axes.bbox.y0 + above, self.axes.bbox.y1)
        found[:, 0] += _ASIDE / 72.0 * dots
        return found


@dataclass(frozen=True)
class _Place:
    """The origin of a name, or of the end that it names, as Matplotlib asks for it."""

    column: _Column
    row: int
    named: bool

    def __call__(self, renderer: Any) -> Any:
        from matplotlib.transforms import Affine2D

        places = self.column.names() if self.named else self.column.ends()
        return Affine2D().translate(*places[self.row])


def _apart(wanted: FloatArray, gaps: FloatArray, bottom: float, top: float) -> FloatArray:
    """The places nearest to the wanted ones, in least squares, with these gaps, within the limits.

    If there is no room for all, gaps are smaller.

    >>> _apart(np.array([10.0, 10.0, 50.0]), np.array([8.0, 8.0]), 0.0, 100.0).tolist()
    [6.0, 14.0, 50.0]
    >>> _apart(np.array([50.0, 99.0, 99.0]), np.array([8.0, 8.0]), 0.0, 100.0).tolist()
    [50.0, 92.0, 100.0]
    >>> _apart(np.array([50.0, 50.0, 99.0]), np.array([80.0, 80.0]), 0.0, 100.0).tolist()
    [0.0, 50.0, 100.0]
    """
    from scipy.optimize import isotonic_regression

    steps = np.concatenate(([0.0], np.cumsum(gaps)))
    steps *= min(1.0, (top - bottom) / max(float(steps[-1]), 1e-9))
    places: FloatArray = isotonic_regression(wanted - steps).x
    return places.clip(bottom, top - steps[-1]) + steps
