"""Shell completion: policies and their parameters, scenarios, papers.

Parameters are completed in zsh and fish only: bash ends a word at a colon.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from typing import Any

from rotting import papers
from rotting._catalogue import names as catalogue
from rotting.policies._base import POLICIES

Complete = Callable[[str], list[str]]


def policies(incomplete: str) -> list[str]:
    """Names of policies; after a name and a colon, its parameters.

    >>> policies("wsw"), policies("wswa:a"), policies("wswa:alpha=0.2,r")
    (['wswa'], ['wswa:alpha='], ['wswa:alpha=0.2,restart='])
    """
    name, colon, given = incomplete.partition(":")
    if not colon or name not in POLICIES:
        return _starting(incomplete, sorted(POLICIES))
    before, comma, _ = given.rpartition(",")
    kind: Any = POLICIES[name]
    parameters = [f"{field.name}=" for field in dataclasses.fields(kind)]
    return _starting(incomplete, [f"{name}:{before}{comma}{each}" for each in parameters])


def replayed(incomplete: str) -> list[str]:
    """Policies for a replay: "recommended", and all names.

    >>> replayed("rec"), replayed("wsw")
    (['recommended'], ['wswa'])
    """
    return [*_starting(incomplete, ["recommended"]), *policies(incomplete)]


def scenarios(incomplete: str) -> list[str]:
    """Names of scenarios.

    >>> scenarios("non")
    ['non_parametric']
    """
    return _starting(incomplete, catalogue.scenarios())


def audiences(incomplete: str) -> list[str]:
    """Names of scenarios with an audience.

    >>> audiences("power_2")
    ['power_2k_10', 'power_20k_10', 'power_2k_40']
    """
    found = {name: named.scenario for name, named in catalogue.scenarios().items()}
    return _starting(incomplete, [name for name, each in found.items() if each.crowd is not None])


def papers_named(incomplete: str) -> list[str]:
    """Names of papers.

    >>> papers_named("lev")
    ['levine2017']
    """
    return _starting(incomplete, papers.names())


def words(*allowed: str) -> Complete:
    """Completion of a few fixed words.

    >>> words("independent", "common")("in")
    ['independent']
    """
    return lambda incomplete: _starting(incomplete, allowed)


def _starting(incomplete: str, names: Iterable[str]) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]
