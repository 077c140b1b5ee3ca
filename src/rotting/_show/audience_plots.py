"""Pictures of an audience: shares of pi_max by policy, and an arm's curve with what is believed."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np

from rotting._experiments.final import Curve
from rotting._experiments.shares import Standing
from rotting._show.ink import BLACK, BLUE, RED
from rotting._show.plots import BAND, drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ROW, _LEAST = 0.3, 2.6  # inches of height a policy, and of the whole


def share_dots(
    standing: Standing,
    path: str | os.PathLike[str] | None = None,
    *,
    axes: Axes | None = None,
) -> Axes:
    """Draw every policy's share of pi_max's reward, a dot with a 95 % interval; return the axes.

    The reference has a line through all rows; policies that ignore keys have hollow dots. `path`
    and `axes` are those of `plots.regret_curves`.
    """
    found, reference = standing.shares, standing.reference
    with drawing(path, axes, 5.4, max(_LEAST, _ROW * len(found) + 1.1)) as panel:
        for place, (name, each) in enumerate(found.items()):
            colour = BLUE if name == reference else BLACK
            panel.errorbar(
                each.share,
                place,
                xerr=None if np.isnan(each.standard_error) else BAND * each.standard_error,
                color=colour,
                marker="o",
                markersize=5,
                markerfacecolor="white" if each.keys == "ignored" else colour,
                capsize=2.5,
                linestyle="none",
            )
        panel.axvline(found[reference].share, color=BLUE, linewidth=0.8, alpha=0.5)
        panel.set_yticks(range(len(found)), list(found), parse_math=False)
        panel.set_ylim(len(found) - 0.5, -0.5)
        panel.set_xlabel("share of pi_max's reward, 95 % intervals (hollow: keys ignored)")
        panel.grid(axis="x", color="#dddddd", linewidth=0.6)
        panel.set_axisbelow(True)
        return panel


def curve_panel(
    curve: Curve,
    path: str | os.PathLike[str] | None = None,
    *,
    top: float | None = None,
    title: str = "",
    axes: Axes | None = None,
) -> Axes:
    """Draw an arm's curve over its showings, what is believed of it, and the learnt cap.

    The cap is a line where the curve falls below what another arm is worth by then.
    `top` is where the vertical axis ends, the same for all arms that are to be compared.
    """
    with drawing(path, axes, 3.6, 2.7) as panel:
        numbers = np.arange(1, curve.truth.size + 1)
        panel.plot(numbers, curve.truth, color=BLACK, linewidth=1.2, label="true")
        if curve.estimate is not None:
            panel.plot(numbers, curve.estimate, "--", color=BLUE, label="believed")
        if curve.low is not None and curve.high is not None:
            panel.fill_between(numbers, curve.low, curve.high, color=BLUE, alpha=0.2, linewidth=0)
        if curve.cap is not None and curve.cap.rival is not None and curve.cap.showings:
            panel.axhline(
                curve.cap.rival, color=RED, linestyle=":", linewidth=1, label="the next arm"
            )
            panel.axvline(curve.cap.showings + 0.5, color=RED, linewidth=1)
        panel.set_xlabel("showing to one user")
        panel.set_ylabel("mean reward")
        panel.set_title(title, fontsize=9)
        panel.set_ylim(min(0.0, float(curve.truth.min())), top)
        panel.set_xlim(1, max(2, curve.truth.size))
        panel.legend(frameon=False, fontsize=8, loc="upper right")
        return panel
