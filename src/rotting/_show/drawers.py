"""Which function draws which type: the entries of `rotting._display`.

A drawer is imported when it is first used: Matplotlib takes long to import.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from rotting import _display
from rotting._experiments.comparison import Comparison
from rotting._experiments.results import Result
from rotting._experiments.tuning import Tuning
from rotting._online.curves import Curves
from rotting._online.player import AnyPlayer
from rotting.bandits import Scenario
from rotting.models import Family, Interval, Model

# module and function, below `rotting._show`
PLOTS: dict[type, str] = {
    Model: "means.mean_curves",
    Family: "means.mean_curves",
    Interval: "means.mean_curves",
    Scenario: "means.mean_curves",
    Result: "plots.regret_curves",
    Comparison: "plots.regret_curves",
    Tuning: "plots.grid_curve",
    Curves: "curves.draw_curves",
}
FRAGMENTS: dict[type, str] = {
    Model: "notebook_bandits.model_html",
    Family: "notebook_bandits.family_html",
    Interval: "notebook_bandits.interval_html",
    Scenario: "notebook_bandits.scenario_html",
    Result: "notebook_results.result_html",
    Comparison: "notebook_results.comparison_html",
    Tuning: "notebook_results.tuning_html",
    Curves: "notebook_players.curves_html",
    AnyPlayer: "notebook_players.player_html",
}


def _late(place: str) -> Callable[..., Any]:
    """The drawer at this place, imported by its first call."""
    module, _, name = place.partition(".")

    def draw(*args: Any, **options: Any) -> Any:
        return getattr(importlib.import_module(f"rotting._show.{module}"), name)(*args, **options)

    return draw


for _kind, _place in PLOTS.items():
    _display.plot.register(_kind, _late(_place))
for _kind, _place in FRAGMENTS.items():
    _display.html.register(_kind, _late(_place))
