"""Policies and scenarios by name, as the command line and experiment files know them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rotting import checks, papers
from rotting.bandits import Bernoulli, Gaussian, RandomArms, Scenario
from rotting.policies.base import POLICIES, Policy


def scenarios() -> dict[str, Callable[[], Scenario]]:
    """The named scenarios of all papers.

    >>> "av" in scenarios()
    True
    """
    found: dict[str, Callable[[], Scenario]] = {}
    for paper in papers.names():
        for name, make in papers.find(paper).scenarios.items():
            if name in found:
                raise ValueError(
                    f"scenario {name!r} of {paper} must have another name: an earlier "
                    "paper has one of that name"
                )
            found[name] = make
    return found


def parse_scenario(text: str) -> Scenario:
    """A scenario from words such as "av" or "av:horizon=3000".

    >>> parse_scenario("av:horizon=3000").horizon
    3000
    """
    name, settings = split("scenario", text)
    return make_scenario(name, settings)


def make_scenario(name: str, settings: Mapping[str, Any]) -> Scenario:
    """A named scenario, perhaps with another horizon."""
    known = scenarios()
    scenario = known[checks.known("scenario", name, known)]()
    for key in settings:
        checks.known("setting of a scenario", key, ["horizon"])
    return dataclasses.replace(scenario, **settings)


def parse_policy(text: str, scenario: Scenario) -> Policy:
    """A policy from words such as "ucb1" or "wswa:alpha=0.2,restart=keep".

    >>> parse_policy("wswa:alpha=0.2", parse_scenario("av")).label
    'wSWA(alpha=0.2, sigma=0.4472135954999579)'
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

    The sigma of Bernoulli rewards is 1/2, the least for which they are all sub-Gaussian.
    """
    kind: Any = POLICIES[checks.known("policy", key, POLICIES)]
    fields = {field.name: field for field in dataclasses.fields(kind)}
    for name in settings:
        checks.known(f"parameter of {key}", name, fields)
    given = dict(settings)
    for name, field in fields.items():
        if name in given or field.default is not dataclasses.MISSING:
            continue
        found = _from_scenario(name, scenario)
        if found is None and name == "family":
            raise ValueError(
                f"family of {key} must be given, in Python or an experiment file; scenarios with "
                "random arms (av, anv) have one"
            )
        if found is None:
            raise ValueError(f"{name} of {key} must be given")
        given[name] = found
    policy: Policy = kind(**given)
    return policy


def _from_scenario(name: str, scenario: Scenario) -> Any:
    if name == "sigma" and isinstance(scenario.noise, Gaussian):
        return scenario.noise.sigma if not callable(scenario.noise.sigma) else None
    if name == "sigma" and isinstance(scenario.noise, Bernoulli):
        return 0.5
    if name == "family" and isinstance(scenario.arms, RandomArms):
        return scenario.arms.family
    return None


def split(what: str, text: str) -> tuple[str, dict[str, Any]]:
    """A name and its settings from words; `what` is what a refusal calls them.

    >>> split("policy", "wswa:alpha=0.2,restart=keep")
    ('wswa', {'alpha': 0.2, 'restart': 'keep'})
    """
    name, _, rest = text.partition(":")
    settings: dict[str, Any] = {}
    for part in filter(None, rest.split(",")):
        key, equals, value = part.partition("=")
        if not equals or not key or not value:
            raise ValueError(f"{what} must read like name:parameter=value, got {text!r}")
        if key in settings:
            raise ValueError(f"{what} must set {key} once, got {text!r}")
        settings[key] = read_value(value)
    return name, settings


def read_value(text: str) -> int | float | str:
    """A whole number, a number, or a word.

    >>> [read_value(word) for word in ("4000", "4e3", "keep")]
    [4000, 4000.0, 'keep']
    """
    for reader in (int, float):
        try:
            return reader(text)
        except ValueError:
            continue
    return text


def describe_policies() -> list[dict[str, str]]:
    """Every registered policy: its key, parameters and a line about it."""
    return [
        {"policy": key, "parameters": ", ".join(_parameters(kind)), "about": first_line(kind)}
        for key, kind in sorted(POLICIES.items())
    ]


def describe_scenarios() -> list[dict[str, str]]:
    """Every named scenario: its key, size and a line about it."""
    found = []
    for key, make in scenarios().items():
        scenario = make()
        size = f"K = {scenario.arm_count}, T = {scenario.horizon}"
        found.append({"scenario": key, "size": size, "about": first_line(make)})
    return found


def _parameters(kind: Any) -> list[str]:
    return [
        field.name if field.default is dataclasses.MISSING else f"{field.name}={field.default}"
        for field in dataclasses.fields(kind)
    ]


def first_line(thing: Any) -> str:
    """The first sentence of a docstring."""
    return " ".join((thing.__doc__ or "").strip().split("\n\n")[0].split())
