"""Figures from results. Nothing here computes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rotting.results import Result

# Okabe & Ito's colours, told apart by the colour-blind; dashes tell them apart in print
_COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#000000", "#999999")
_DASHES: tuple[Any, ...] = ("-", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)))


def regret_curves(
    results: Mapping[str, Result],
    path: str | os.PathLike[str],
    title: str = "",
    logarithmic: bool = False,
) -> Path:
    """Draw mean regret against t, with bands of two standard errors, and save the figure.

    The format follows from the file's ending (.png, .svg, .pdf).
    """
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    target = Path(path)
    figure, axes = pyplot.subplots(figsize=(7.5, 4.5), layout="constrained")
    for place, (name, result) in enumerate(results.items()):
        mean, error = result.mean_regret, result.standard_error
        colour = _COLOURS[place % len(_COLOURS)]
        dashes = _DASHES[(place // len(_COLOURS) + place) % len(_DASHES)]
        axes.plot(result.checkpoints, mean, color=colour, linestyle=dashes, label=name)
        axes.fill_between(result.checkpoints, mean - 2 * error, mean + 2 * error, color=colour,
                          alpha=0.2, linewidth=0)  # fmt: skip
    if logarithmic:
        axes.set_yscale("log")
    axes.set_xlabel("round t")
    axes.set_ylabel("mean regret (band: two standard errors)")
    axes.set_title(title)
    axes.spines[["top", "right"]].set_visible(False)
    axes.margins(x=0)
    axes.legend(frameon=False)
    figure.savefig(target, dpi=160)
    pyplot.close(figure)
    return target
