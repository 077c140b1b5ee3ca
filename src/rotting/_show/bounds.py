"""The regret bounds against the horizon, and simulated regret against rounds, on log axes."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from rotting._experiments.results import Result
from rotting._numbers import count
from rotting._show.ink import QUIET, ink, inks
from rotting._show.line_names import End, name_ends
from rotting._show.plots import drawing
from rotting.theory._advice import Advice
from rotting.theory._bounds import best_alpha, swa_regret_bound, wswa_regret_bound

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ALPHA = re.compile(r"\balpha=([0-9.eE+-]+)")


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
    with drawing(path, axes, 5.6, 4.2) as panel:
        _draw(panel, advice, measured, alpha)
    return panel


def _about_measured(advice: Advice, measured: Mapping[str, Result]) -> list[str]:
    """What the axis below is: a horizon for bounds, a round of one run for what was measured."""
    if not measured:
        return ["horizon T"]
    horizons = sorted({int(result.checkpoints[-1]) for result in measured.values()})
    lines = [
        "bounds: horizon T; measured: round t",
        f"of runs made for T = {' and '.join(f'{t:,}' for t in horizons)}",
    ]
    alphas = {
        name: f"alpha = {float(found[1]):.3g}"
        for name, result in measured.items()
        if (found := _ALPHA.search(str(result.provenance.get("parameters", ""))))
    }
    for said in dict.fromkeys(alphas.values()):
        lines.append(f"{', '.join(n for n in alphas if alphas[n] == said)} measured with {said}")
    if "D-CTO" in measured and any(g.algorithm == "D-CTO_UCB" for g in advice.guarantees):
        lines.append("D-CTO, measured, is not D-CTO_UCB, which has the theorem")
    return lines


def _draw(axes: Axes, advice: Advice, measured: Mapping[str, Result], alpha: float | None) -> None:
    alpha = best_alpha(advice.max_mean) if alpha is None else alpha
    horizons = np.unique(
        np.geomspace(10, min(1e17, max(1e7, 100.0 * advice.horizon)), 120).astype(np.int64)
    )
    trivial = horizons * advice.max_mean
    axes.plot(horizons, trivial, color="#666666")
    ends = [End(float(trivial[-1]), "trivial bound", "#666666")]
    order = advice.sigma * np.sqrt(advice.arms * horizons)
    axes.plot(horizons, order, color=QUIET, linestyle=":")
    ends.append(End(float(order[-1]), "least worst case\n(its order; later work)", QUIET))
    for name, bound in {"SWA": swa_regret_bound, "wSWA": wswa_regret_bound}.items():
        values = [
            bound(advice.arms, int(t), advice.sigma, alpha, advice.max_mean) for t in horizons
        ]
        axes.plot(horizons, values, color=ink(name).colour, linestyle="--")
        ends.append(End(values[-1], f"{name} bound", ink(name).colour))
    said = []
    for given in advice.guarantees[2:]:
        if math.isinf(given.useful_from):
            continue
        said.append(f"{given.algorithm}: no bound before T = {count(given.useful_from)}")
        if given.useful_from <= horizons[-1]:
            axes.axvline(given.useful_from, color=ink(given.algorithm).colour, linestyle="--")
    seen = []
    for name, drawn in inks(measured).items():
        shown = measured[name].mean_regret > 0
        rounds, regret = measured[name].checkpoints[shown], measured[name].mean_regret[shown]
        axes.plot(rounds, regret, **drawn.line)
        if shown.any():
            seen.append(End(float(regret[-1]), f"{name}, measured", drawn.colour))
    axes.axvline(advice.horizon, color=QUIET, linewidth=0.8)
    axes.set(xscale="log", yscale="log", ylabel="regret")
    axes.set_xlabel("\n".join([*_about_measured(advice, measured), *said]))
    axes.set_ylim(bottom=1.0)
    axes.minorticks_off()
    axes.margins(x=0)
    name_ends(axes, ends)
    name_ends(axes, seen, at=float(advice.horizon))
