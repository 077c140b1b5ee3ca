"""What the league plays: a scenario, and what a user would know of it."""

from __future__ import annotations

from dataclasses import dataclass

from rotting.bandits import Scenario
from rotting.models import Family


@dataclass(frozen=True)
class Entry:
    """A scenario and what policies are told about it.

    `family` is what parametric policies believe, `constants` whether they believe that arms keep
    constants.
    """

    about: str
    scenario: Scenario
    family: Family | None = None
    constants: bool = False
