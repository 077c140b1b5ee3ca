"""The regret bounds and simulated regret against the horizon, drawn on log axes."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from rotting.experiments.results import Result
from rotting.reports.plots import COLOURS, drawing
from rotting.theory.advice import Advice, number
from rotting.theory.bounds import best_alpha, swa_regret_bound, wswa_regret_bound

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_bounds(
    advice: Advice,
    measured: Mapping[str, Result],
    path: str | os.PathLike[str] | None = None,
    alpha: float | None = None,
    *,
    axes: Axes | None = None,
) -> Axes:
    """Draw the bounds over a range of horizons, with the mean regret that was measured.

    Returns the axes; `path` and `axes` are those of `plots.regret_curves`.
    """
    with drawing(path, axes, 8.0, 5.0) as panel:
        _draw(panel, advice, measured, alpha)
    return panel


def _draw(axes: Axes, advice: Advice, measured: Mapping[str, Result], alpha: float | None) -> None:
    alpha = best_alpha(advice.max_mean) if alpha is None else alpha
    horizons = np.unique(
        np.geomspace(10, min(1e17, max(1e7, 100.0 * advice.horizon)), 120).astype(np.int64)
    )
    axes.plot(horizons, horizons * advice.max_mean, color="#666666", label="trivial bound")
    order = advice.sigma * np.sqrt(advice.arms * horizons)
    axes.plot(
        horizons,
        order,
        color="#bbbbbb",
        linestyle=":",
        label="order of the least worst case (later work)",
    )
    for place, (name, bound) in enumerate(
        {"SWA": swa_regret_bound, "wSWA": wswa_regret_bound}.items()
    ):
        values = [
            bound(advice.arms, int(t), advice.sigma, alpha, advice.max_mean) for t in horizons
        ]
        axes.plot(horizons, values, color=COLOURS[place], linestyle="--", label=f"{name} bound")
    for place, given in enumerate(advice.guarantees[2:], start=2):
        if math.isinf(given.useful_from):
            continue
        label = f"{given.algorithm}: nothing before T = {number(given.useful_from)}"
        if given.useful_from <= horizons[-1]:
            axes.axvline(given.useful_from, color=COLOURS[place], linestyle="--", label=label)
        else:
            axes.plot([], [], color=COLOURS[place], linestyle="--", label=label)
    for place, (name, result) in enumerate(measured.items(), start=3):
        shown = result.mean_regret > 0
        axes.plot(
            result.checkpoints[shown],
            result.mean_regret[shown],
            color=COLOURS[place % len(COLOURS)],
            label=f"{name}, measured",
        )
    axes.axvline(advice.horizon, color="#999999", linewidth=0.8)
    axes.set(xscale="log", yscale="log", xlabel="horizon T", ylabel="regret")
    axes.set_ylim(bottom=0.1)
    axes.legend(frameon=False, fontsize=8)
