"""The league: every policy on every scenario, with nothing tuned per scenario."""

from rotting.league.playing import League, geometric_mean, play
from rotting.league.scenarios import CONTESTS, GROUPS, HELD_OUT, SCENARIOS, Entry

__all__ = [
    "CONTESTS",
    "GROUPS",
    "HELD_OUT",
    "SCENARIOS",
    "Entry",
    "League",
    "geometric_mean",
    "play",
]
