"""The picture of a replay: a dot with its interval for each policy, and the log's own play."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from rotting._printable import printable
from rotting._show.ink import BLUE, QUIET, RED, readable
from rotting._show.line_names import shortened
from rotting._show.plots import new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from rotting.logs._replay.estimates import Estimate
    from rotting.logs._replay.result import Replay

ABOUT = "Mean reward by policy"
_ROW, _LEAST = 0.42, 1.9  # inches: height of a policy, least height of all
_WIDEST = 29  # letters of a name


def height_of(rows: int) -> float:
    """The height of a picture of `rows` policies, in inches."""
    return max(_LEAST, _ROW * rows + 1.0)


def dots(replay: Replay, axes: Axes | None = None) -> Axes:
    """A dot a policy with its interval, bounds behind it, and the log's own play as a line."""
    found = list(replay)
    if axes is None:
        axes = new_figure(4.8, height_of(len(found)))[1][0]
    for place, each in enumerate(found):
        if each.bounds is not None:
            axes.plot(each.bounds, (place, place), color=QUIET, linewidth=5, zorder=1)
        axes.errorbar(
            each.reward.mean,
            place,
            xerr=_around(each.reward),
            color=BLUE,
            marker="o",
            markersize=6,
            capsize=3,
            linestyle="none",
            zorder=3,
        )
    if replay.kind != "bounds":
        _mark_logged(replay, axes)
    names = [shortened(printable(each.name), _WIDEST) for each in found]
    axes.set_yticks(range(len(found)), names, parse_math=False)
    axes.set_ylim(len(found) - 0.4, -0.7)
    axes.set_xlabel("mean reward a decision")
    axes.grid(axis="x", color="#e4e4e4", linewidth=0.6)
    axes.set_axisbelow(True)
    return axes


def _mark_logged(replay: Replay, axes: Axes) -> None:
    axes.axvline(replay.logged.mean, color=RED, linestyle="--", linewidth=1.2, zorder=2)
    axes.annotate(
        "the log's own play",
        (replay.logged.mean, -0.7),
        (4, -3),
        textcoords="offset points",
        va="top",
        color=readable(RED),
        fontsize=9,
    )


def _around(value: Estimate) -> Any:
    if not math.isfinite(value.low):
        return None
    return [[max(0.0, value.mean - value.low)], [max(0.0, value.high - value.mean)]]
