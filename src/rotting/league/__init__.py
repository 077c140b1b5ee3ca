"""The league: every policy on every scenario, with no parameter tuned for a scenario."""

from rotting.league._adversarial import ADVERSARIAL
from rotting.league._audience_scenarios import AUDIENCES
from rotting.league._candy import FAMILY as CANDY_FAMILY
from rotting.league._candy import candy_cane
from rotting.league._entry import Entry
from rotting.league._openings import OPENINGS
from rotting.league._play import League, geometric_mean, play
from rotting.league._scenarios import CONTESTS, GROUPS, HELD_OUT, SCENARIOS

__all__ = [
    "ADVERSARIAL",
    "AUDIENCES",
    "CANDY_FAMILY",
    "CONTESTS",
    "GROUPS",
    "HELD_OUT",
    "OPENINGS",
    "SCENARIOS",
    "Entry",
    "League",
    "candy_cane",
    "geometric_mean",
    "play",
]
