"""An entry of the league: a scenario, and the prior knowledge that policies have of it."""

from __future__ import annotations

from dataclasses import dataclass

from rotting.bandits import Scenario
from rotting.models import Family


@dataclass(frozen=True)
class Entry:
    """A scenario of the league, and the prior knowledge that policies have of it.

    Attributes:
        about: A line about the scenario.
        scenario: The scenario.
        family: The family that parametric policies assume, which may be wrong; None: they do not
            play.
        constants: Whether they assume that arms fall to constants.

    >>> from rotting import league
    >>> entry = league.SCENARIOS["wrong_theta"]
    >>> entry.about
    'the true thetas, 0.45 and 0.6, are not in the family'
    """

    about: str
    scenario: Scenario
    family: Family | None = None
    constants: bool = False
