"""Figure 1 and the grid searches, drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rotting.experiments.comparison import Comparison
from rotting.experiments.tuning import Tuning
from rotting.papers.levine2017 import published, setups
from rotting.reports import plots

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLES = {
    "non_parametric": "Non-parametric (NP)",
    "av": "Parametric, vanishing (AV)",
    "anv": "Parametric, not vanishing (ANV)",
}


def figure_1(comparisons: dict[str, Comparison]) -> Figure:
    """The paper's Figure 1: three panels of mean regret, with 95 % bands."""
    figure, panels = plots.new_figure(plots.WIDTH, 7.2, panels=3, rows=3)
    for axes, (setup, comparison) in zip(panels, comparisons.items(), strict=True):
        plots.draw_regret(axes, comparison.results, TITLES[setup])
    for axes in panels[:-1]:
        axes.set_xlabel("")
    return figure


def panel(setup: str, comparison: Comparison) -> Figure:
    """One panel of Figure 1, for narrow screens."""
    figure, (axes,) = plots.new_figure(5, 3.8)
    plots.draw_regret(axes, comparison.results, TITLES[setup])
    return figure


def grid_panel(setup: str, name: str, tuning: Tuning) -> Figure:
    """One grid search: mean regret against the parameter, our choice and the paper's marked."""
    parameter, _ = published.GRIDS[name]
    reported = getattr(setups.reported_policies(setup)[name], parameter)
    marks = {"ours": tuning.chosen[parameter], "paper": reported}
    figure, (axes,) = plots.new_figure(4, 2.8)
    title = f"{published.SETUPS[setup]}: {name}"
    plots.draw_grid(axes, tuning.rows(), parameter, marks, title)
    return figure
