"""The league: every policy on every scenario, with nothing tuned per scenario."""

from rotting.league.adversarial import ADVERSARIAL
from rotting.league.audience_scenarios import AUDIENCES
from rotting.league.entry import Entry
from rotting.league.openings import OPENINGS
from rotting.league.playing import League, geometric_mean, play
from rotting.league.scenarios import CONTESTS, GROUPS, HELD_OUT, SCENARIOS

__all__ = [
    "ADVERSARIAL",
    "AUDIENCES",
    "CONTESTS",
    "GROUPS",
    "HELD_OUT",
    "OPENINGS",
    "SCENARIOS",
    "Entry",
    "League",
    "geometric_mean",
    "play",
]
