"""Figure 1 and the grid searches, drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rotting._experiments.comparison import Comparison
from rotting._experiments.tuning import Tuning
from rotting._show import plots
from rotting._show.ink import BLUE, GREEN, ORANGE, RED
from rotting.papers.levine2017 import _measured, _published, _setups

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
    """A grid search: mean regret against the parameter, with our choice and the paper's marked."""
    parameter, _ = _published.GRIDS[name]
    reported = getattr(_setups.reported_policies(setup)[name], parameter)
    marks = {"ours": tuning.chosen[parameter], "paper": reported}
    figure, (axes,) = plots.new_figure(4, 2.8)
    title = f"{_published.SETUPS[setup]}: {name}"
    plots.draw_grid(axes, tuning.rows(), parameter, marks, title)
    return figure


CONSTANT_IN_WORDS = (
    "Wins of SWUCB over UCB1 and DUCB, of 100 trajectories, against its constant B: the paper's "
    "four counts are all explained by chance in a narrow band just below B = 2, and at B = 2 only "
    "those of ANV are."
)


def constant_of_swucb() -> Figure:
    """SWUCB's wins against B sqrt(xi), and the band in which chance explains the paper's."""
    rows = [row for row in _measured.scan() if row["B"] >= _FIRST]
    low, high = (b * _ROOT for b in _measured.band())
    figure, (axes,) = plots.new_figure(plots.WIDTH, 4.2)
    axes.axvspan(low, high, color="#cfe3d4", zorder=0, label="chance explains all four")
    usual = _setups.USUAL_B * _ROOT
    axes.axvline(usual, color="#777777", linestyle=":", linewidth=1.5, label="the usual B = 2")
    values = [row["B"] * _ROOT for row in rows]
    pairs = [("av", "UCB1"), ("av", "DUCB"), ("anv", "UCB1"), ("anv", "DUCB")]
    for (setup, column), ink in zip(pairs, (RED, ORANGE, BLUE, GREEN), strict=True):
        pair = _measured.name_of((setup, "SWUCB", column))
        wins = [100 * row["wins"][pair] for row in rows]
        name = f"{_published.SETUPS[setup]}, over {column}"
        dashes = "-" if column == "UCB1" else "--"
        axes.plot(values, wins, color=ink, linestyle=dashes, linewidth=1.8, label=name)
        paper = _measured.paper_wins(pair)
        error = 100 * _measured.ERRORS * (paper / 100 * (1 - paper / 100) / _published.RUNS) ** 0.5
        place = 0.5 * (low + high) + (0.003 if column == "DUCB" else -0.003)
        axes.errorbar(place, paper, yerr=error, color=ink, marker="o", capsize=3, linestyle="none")
    axes.set_xlabel("B sqrt(xi)  (dots: the paper's counts, 99 %)")
    axes.set_ylabel("wins of SWUCB, of 100")
    axes.set_ylim(-3, 103)
    axes.legend(loc="lower left", fontsize=8)
    return figure


_FIRST, _ROOT = 1.5, 0.5**0.5
