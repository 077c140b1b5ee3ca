"""Scenarios by name: those of papers, of the league and of audiences."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, NamedTuple

from rotting import _checks, papers
from rotting._catalogue.spelling import spelt
from rotting._catalogue.words import first_line, split
from rotting.bandits import Scenario


class Named(NamedTuple):
    """A scenario, a line about it, and its group or paper."""

    scenario: Scenario
    about: str
    source: str


# headings of the groups in a list of scenarios
HEADINGS = {
    "league": "League",
    "held_out": "Held out from the league",
    "adversarial": "Adversarial: made to hurt",
    "contests": "Contests of others",
    "openings": "Arms that come and go",
    "audience_settings": "Audiences: the twelve settings",
    "audience": "Audiences: the league",
    "audience_drawn": "Audiences: drawn at random",
}


def scenarios() -> dict[str, Named]:
    """The named scenarios: those of papers, then the league's groups, then audiences.

    >>> {"av", "clicks", "other_clicks", "candy_cane"} <= set(scenarios())
    True
    """
    from rotting.league import (
        AUDIENCES,
        GROUPS,
    )  # imported late: a paper's reproduction does not need it

    found: dict[str, Named] = {}
    for paper in papers.names():
        for name, make in papers.find(paper).scenarios.items():
            _add(found, name, Named(make(), first_line(make), paper))
    for group, entries in {**GROUPS, **AUDIENCES}.items():
        for title, entry in entries.items():
            name = typeable(title)
            if name in found and found[name].scenario == entry.scenario:
                continue  # the league plays scenarios of papers, too
            scenario = dataclasses.replace(
                entry.scenario, name=entry.scenario.name or name, belief=entry.family
            )
            _add(found, name, Named(scenario, entry.about, group))
    return found


def _add(found: dict[str, Named], name: str, named: Named) -> None:
    if name in found:
        raise ValueError(
            f"scenario {name!r} of {named.source} must have another name: {found[name].source} "
            "has one of that name"
        )
    found[name] = named


def typeable(title: str) -> str:
    """A name without spaces, as typed on the command line.

    >>> typeable("ten falls")
    'ten_falls'
    """
    return title.replace(" ", "_")


def parse_scenario(text: str) -> Scenario:
    """A scenario from words, as "av" or "av:horizon=3000".

    >>> parse_scenario("av:horizon=3000").horizon
    3000
    """
    name, settings = split("scenario", text)
    return make_scenario(name, settings)


def make_scenario(name: str, settings: Mapping[str, Any]) -> Scenario:
    """A named scenario; the only setting is its horizon.

    >>> make_scenario("ANV", {"horizon": 100}).name
    'levine2017 ANV'
    """
    known = scenarios()
    wanted = spelt(typeable(name), known)
    listed = "`rotting scenarios`"
    scenario = known[_checks.known("scenario", wanted, known, most=3, see=listed)].scenario
    for key in settings:
        _checks.known("setting of a scenario", key, ["horizon"])
    return dataclasses.replace(scenario, **settings)


def heading(group: str) -> str:
    """The heading of a group or paper.

    >>> heading("levine2017"), heading("held_out")
    ('Paper: levine2017', 'Held out from the league')
    """
    return HEADINGS.get(group, f"Paper: {group}" if group in papers.names() else group)


def size_of(scenario: Scenario) -> str:
    """The size of a scenario in words.

    >>> size_of(parse_scenario("av")), size_of(parse_scenario("power_2k_10"))
    ('K = 10, T = 30000', 'K = 10, T = 200000, 2000 keys')
    """
    keys = "" if scenario.audience is None else f", {scenario.audience.keys} keys"
    return f"K = {scenario.arm_count}, T = {scenario.horizon}{keys}"


def describe_scenarios() -> list[dict[str, str]]:
    """Every named scenario: its name, size, a line about it, and its group or paper."""
    return [
        {
            "scenario": name,
            "size": size_of(named.scenario),
            "about": named.about,
            "group": named.source,
        }
        for name, named in scenarios().items()
    ]
