"""Which function draws which type: the entries of `rotting.display`.

Each drawer is imported when it is first used: Matplotlib takes long to import.
"""

from __future__ import annotations

from typing import Any

from rotting import display
from rotting.bandits import Scenario
from rotting.experiments.comparison import Comparison
from rotting.experiments.results import Result
from rotting.experiments.tuning import Tuning
from rotting.models import Family, Interval, Model
from rotting.online.curves import Curves
from rotting.online.player import AnyPlayer


@display.plot.register(Model)
@display.plot.register(Family)
@display.plot.register(Interval)
@display.plot.register(Scenario)
def _(shown: Any, axes: Any = None, pulls: int | None = None) -> Any:
    from rotting.reports.means import mean_curves

    return mean_curves(shown, pulls=pulls, axes=axes)


@display.plot.register(Result)
@display.plot.register(Comparison)
def _(shown: Any, axes: Any = None) -> Any:
    from rotting.reports.plots import regret_curves

    return regret_curves(shown, axes=axes)


@display.plot.register
def _(shown: Tuning, axes: Any = None) -> Any:
    from rotting.reports.plots import grid_curve

    return grid_curve(shown, axes=axes)


@display.plot.register
def _(shown: Curves, axes: Any = None) -> Any:
    from rotting.reports.curves import draw_curves

    return draw_curves(shown, axes)


@display.html.register
def _(shown: Model) -> str:
    from rotting.reports.notebook_bandits import model_html

    return model_html(shown)


@display.html.register
def _(shown: Family) -> str:
    from rotting.reports.notebook_bandits import family_html

    return family_html(shown)


@display.html.register
def _(shown: Interval) -> str:
    from rotting.reports.notebook_bandits import interval_html

    return interval_html(shown)


@display.html.register
def _(shown: Scenario) -> str:
    from rotting.reports.notebook_bandits import scenario_html

    return scenario_html(shown)


@display.html.register
def _(shown: Result) -> str:
    from rotting.reports.notebook_results import result_html

    return result_html(shown)


@display.html.register
def _(shown: Comparison) -> str:
    from rotting.reports.notebook_results import comparison_html

    return comparison_html(shown)


@display.html.register
def _(shown: Tuning) -> str:
    from rotting.reports.notebook_results import tuning_html

    return tuning_html(shown)


@display.html.register
def _(shown: Curves) -> str:
    from rotting.reports.notebook_players import curves_html

    return curves_html(shown)


@display.html.register
def _(shown: AnyPlayer) -> str:
    from rotting.online.inspect import curves_of_player
    from rotting.reports.notebook_players import player_html

    return player_html(shown.table(), curves_of_player(shown.core.snapshot()))
