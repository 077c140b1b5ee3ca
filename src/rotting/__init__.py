"""Rotting bandits: choosing among options whose reward falls each time they are used."""

import importlib
from typing import Any, cast

from rotting import _provenance, bandits, models, policies, stats
from rotting._experiments.comparison import Comparison, compare
from rotting._experiments.results import Result
from rotting._experiments.simulation import simulate
from rotting._experiments.tuning import Tuning, tune
from rotting._online.audience import AudiencePlayer
from rotting._online.curves import Curves
from rotting._online.decision_types import (
    Assigned,
    AssignedShowing,
    Decision,
    Decisions,
    Showing,
    Showings,
)
from rotting._online.lift import Lift
from rotting._online.player import Player
from rotting._show import drawers as _drawers  # noqa: F401  # registers what draws what
from rotting.bandits import (
    Arm,
    Audience,
    Bernoulli,
    Gaussian,
    HalfLife,
    NoNoise,
    RandomArms,
    Scenario,
    Window,
)

__version__ = _provenance.VERSION


def scenario(text: str) -> Scenario:
    """A named scenario, perhaps with another horizon.

    Args:
        text: The name, and settings after a colon; `rotting scenarios` lists the names.

    Returns:
        A `Scenario`.

    Raises:
        ValueError: The name is unknown; the message suggests the nearest. Or a setting is wrong.

    >>> scenario("fall_08:horizon=3000").horizon
    3000
    """
    found = importlib.import_module("rotting._catalogue.scenarios").parse_scenario(text)
    return cast(Scenario, found)


def __getattr__(name: str) -> Any:
    """Modules that few users need, or that need another library, are imported on first use."""
    if name == "logs":
        return importlib.import_module("rotting.logs")
    if name == "Client":
        return importlib.import_module("rotting.client").Client
    raise AttributeError(f"module 'rotting' has no attribute {name!r}")


__all__ = [
    "Arm",
    "Assigned",
    "AssignedShowing",
    "Audience",
    "AudiencePlayer",
    "Bernoulli",
    "Comparison",
    "Curves",
    "Decision",
    "Decisions",
    "Gaussian",
    "HalfLife",
    "Lift",
    "NoNoise",
    "Player",
    "RandomArms",
    "Result",
    "Scenario",
    "Showing",
    "Showings",
    "Tuning",
    "Window",
    "bandits",
    "compare",
    "models",
    "policies",
    "scenario",
    "simulate",
    "stats",
    "tune",
]
