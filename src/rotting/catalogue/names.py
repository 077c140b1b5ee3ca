"""Policies by name, as the command line and experiment files know them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from rotting import checks
from rotting.bandits import Bernoulli, DrawnArms, Gaussian, RandomArms, Scenario
from rotting.catalogue.scenarios import describe_scenarios as describe_scenarios
from rotting.catalogue.scenarios import make_scenario as make_scenario
from rotting.catalogue.scenarios import parse_scenario as parse_scenario
from rotting.catalogue.scenarios import scenarios as scenarios
from rotting.catalogue.words import first_line as first_line
from rotting.catalogue.words import read_value as read_value
from rotting.catalogue.words import split as split
from rotting.parameters import may_be_unknown
from rotting.policies.base import POLICIES, Policy


def parse_policy(text: str, scenario: Scenario) -> Policy:
    """A policy from words such as "ucb1" or "wswa:alpha=0.2,restart=keep".

    >>> parse_policy("wswa:alpha=0.2", parse_scenario("av")).label
    'wSWA(alpha=0.2, sigma=0.4472135954999579)'
    >>> parse_policy("steadyucb:sigma=unknown", parse_scenario("av")).label
    'SteadyUCB(sigma=None)'
    """
    key, settings = split("policy", text)
    return make_policy(key, settings, scenario)


def parse_policies(texts: Sequence[str], scenario: Scenario) -> dict[str, Policy]:
    """Policies by name; the names show what was given, not what the scenario adds.

    >>> list(parse_policies(["ucb1", "wswa:alpha=0.2"], parse_scenario("av")))
    ['UCB1', 'wSWA(alpha=0.2)']
    """
    named: dict[str, Policy] = {}
    for text in texts:
        policy = parse_policy(text, scenario)
        given = text.partition(":")[2].replace(",", ", ")
        name = f"{policy.title}({given})" if given else policy.title
        if name in named:
            raise ValueError(f"policies must differ, got {text} twice")
        named[name] = policy
    return named


def make_policy(key: str, settings: Mapping[str, Any], scenario: Scenario) -> Policy:
    """A policy by key; sigma and the family, where it needs them, are the scenario's if not given.

    `filled_in` says which were not given.
    """
    found = _found(key, settings, scenario)
    policy: Policy = POLICIES[key](**settings, **{name: each.value for name, each in found.items()})
    return policy


class _Found(NamedTuple):
    """What a scenario says of a parameter, and the words for it."""

    value: Any
    words: str


def filled_in(
    asked: Sequence[str | tuple[str, Mapping[str, Any]]], scenario: Scenario
) -> list[str]:
    """A line for each parameter that the scenario fills in; policies in words, or with settings.

    >>> filled_in(["wswa:alpha=0.2", ("rawucb", {})], parse_scenario("clicks"))
    ['sigma = 0.5 filled in from Bernoulli rewards: wSWA, RAW-UCB']
    """
    lines: dict[str, list[str]] = {}
    for each in asked:
        key, settings = split("policy", each) if isinstance(each, str) else each
        for found in _found(key, settings, scenario).values():
            titles = lines.setdefault(found.words, [])
            if POLICIES[key].title not in titles:
                titles.append(POLICIES[key].title)
    return [f"{words}: {', '.join(titles)}" for words, titles in lines.items()]


def _found(key: str, settings: Mapping[str, Any], scenario: Scenario) -> dict[str, _Found]:
    """What the scenario says of the parameters that a policy needs and that are not given."""
    kind: Any = POLICIES[checks.known("policy", key, POLICIES)]
    fields = {field.name: field for field in dataclasses.fields(kind)}
    for name in settings:
        checks.known(f"parameter of {key}", name, fields)
    found: dict[str, _Found] = {}
    for name, field in fields.items():
        if name in settings or field.default is not dataclasses.MISSING:
            continue
        if name == "sigma":
            from_scenario = _sigma(scenario, may_be_unknown(kind, name))
        else:
            from_scenario = _family(scenario) if name == "family" else None
        if from_scenario is None and name == "family":
            raise ValueError(
                f"family of {key} must be given, in Python or an experiment file; scenarios with "
                "random arms (av, anv) have one"
            )
        if from_scenario is None:
            unknown = f"; {name}=unknown is allowed" if may_be_unknown(kind, name) else ""
            raise ValueError(f"{name} of {key} must be given{unknown}")
        found[name] = from_scenario
    return found


def _sigma(scenario: Scenario, may_be_unknown: bool) -> _Found | None:
    """The noise's sigma; unknown for Bernoulli rewards where a policy can do without.

    Policies that cannot are told 1/2, the least for which all Bernoulli rewards are sub-Gaussian.
    Where click rates are low that is far too much, so it is not told to others.
    """
    noise = scenario.noise
    if isinstance(noise, Gaussian) and not callable(noise.sigma):
        return _Found(noise.sigma, f"sigma = {noise.sigma:.4g} filled in from Gaussian rewards")
    if not isinstance(noise, Bernoulli):
        return None
    if may_be_unknown:
        return _Found(None, "sigma left unknown for Bernoulli rewards")
    return _Found(0.5, "sigma = 0.5 filled in from Bernoulli rewards")


def _family(scenario: Scenario) -> _Found | None:
    """What is believed of the scenario's arms, or the family that they are drawn from."""
    if scenario.belief is not None:
        return _Found(scenario.belief, "family filled in from the scenario")
    if isinstance(scenario.arms, RandomArms) and not isinstance(scenario.arms, DrawnArms):
        return _Found(scenario.arms.family, "family filled in from the scenario's random arms")
    return None


def describe_policies() -> list[dict[str, str]]:
    """Every registered policy: its key, parameters and a line about it."""
    return [
        {"policy": key, "parameters": ", ".join(_parameters(kind)), "about": first_line(kind)}
        for key, kind in sorted(POLICIES.items())
    ]


def _parameters(kind: Any) -> list[str]:
    return [
        field.name if field.default is dataclasses.MISSING else f"{field.name}={field.default}"
        for field in dataclasses.fields(kind)
    ]
