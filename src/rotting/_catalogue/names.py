"""Policies by name, for the command line and experiment files."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from rotting import _checks
from rotting._catalogue.rests import read_rest
from rotting._catalogue.scenarios import describe_scenarios as describe_scenarios
from rotting._catalogue.scenarios import make_scenario as make_scenario
from rotting._catalogue.scenarios import parse_scenario as parse_scenario
from rotting._catalogue.scenarios import scenarios as scenarios
from rotting._catalogue.spelling import spelt
from rotting._catalogue.words import first_line as first_line
from rotting._catalogue.words import read_value as read_value
from rotting._catalogue.words import split as split_words
from rotting.bandits import Bernoulli, DrawnArms, Gaussian, RandomArms, Scenario
from rotting.parameters import may_be_unknown
from rotting.policies._base import POLICIES, Policy

_USUAL = {"alpha": 0.2, "gamma": 0.999, "tau": 4000, "cap": 3}  # examples of values, for messages
HELD = "thompson"  # the default of the policy that another one holds


def split(what: str, text: str) -> tuple[str, dict[str, Any]]:
    """A name and its settings from words; a refusal calls them `what`.

    The name of a policy is its key, however it is spelt.

    >>> split("policy", "D-CTO_UCB:sigma=0.5,delta=0.1")
    ('dcto_ucb', {'sigma': 0.5, 'delta': 0.1})
    """
    name, settings = split_words(what, text)
    return (policy_name(name) if what == "policy" else name), settings


def policy_name(name: str) -> str:
    """The key of a policy, from a name in any case or as in a paper.

    >>> policy_name("wSWA"), policy_name("D-CTO_SIM-UCB"), policy_name("other")
    ('wswa', 'dcto', 'other')
    """
    return spelt(name, POLICIES)


def parse_policy(text: str, scenario: Scenario) -> Policy:
    """A policy from words, as "ucb1" or "wswa:alpha=0.2,restart=keep".

    >>> parse_policy("wswa:alpha=0.2", parse_scenario("av")).label
    'wSWA(alpha=0.2, sigma=0.4472135954999579)'
    >>> parse_policy("steadyucb:sigma=unknown", parse_scenario("av")).label
    'SteadyUCB(sigma=None)'
    >>> parse_policy("capped:cap=3,inner=ucb1,inner.c=0.5", parse_scenario("av")).label
    'Capped(inner=UCB1(c=0.5), cap=3)'
    """
    key, settings = split("policy", text)
    return make_policy(key, settings, scenario)


def parse_policies(texts: Sequence[str], scenario: Scenario) -> dict[str, Policy]:
    """Policies by name. Names show the given parameters, not those from the scenario.

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
    """A policy by key; a sigma or family that it needs and that is not given is the scenario's.

    `filled_in` lists those. The policy that another one holds, `inner`, is given by its name, by a
    table of settings with its name as `policy`, or by settings such as `inner.c`; `rest` is a text
    such as "window:86400".
    """
    found = _found(key, settings, scenario)
    held = _held(key, settings)
    given = {name: value for name, value in settings.items() if not name.startswith(_INNER)}
    if held is not None:
        given["inner"] = make_policy(*held, scenario)
    if isinstance(given.get("rest"), str):
        given["rest"] = read_rest(given["rest"])
    policy: Policy = _kind(key)(**given, **{name: each.value for name, each in found.items()})
    return policy


def _kind(key: Any) -> Any:
    try:
        name = _checks.known("policy", policy_name(key), POLICIES, see="`rotting policies`")
        return POLICIES[name]
    except ValueError as error:
        raise ValueError(f"{error} (one of your own must be imported first)") from None


_INNER = "inner."  # before the settings of a policy that another one holds


def _held(key: str, settings: Mapping[str, Any]) -> tuple[str, dict[str, Any]] | None:
    """Name and settings of the policy that this one holds; None if there is none, or it is made."""
    kind: Any = _kind(key)
    inner = settings.get("inner", {})
    if "inner" not in {f.name for f in dataclasses.fields(kind)} or isinstance(inner, Policy):
        return None
    if not isinstance(inner, (str, Mapping)):
        raise ValueError(f"inner of {key} must be the name of a policy or a table, got {inner!r}")
    own = {"policy": inner} if isinstance(inner, str) else dict(inner)
    own |= {k.removeprefix(_INNER): v for k, v in settings.items() if k.startswith(_INNER)}
    name = own.pop("policy", HELD)
    if not isinstance(name, str):
        raise ValueError(f"inner of {key} must name a policy, got {name!r}")
    return name, own


class NoFamilyError(ValueError):
    """A policy needs a family, and neither settings nor scenario have one."""


class _Found(NamedTuple):
    """A parameter's value from the scenario, and the note on it."""

    value: Any
    words: str


def filled_in(
    policies: Sequence[str | tuple[str, Mapping[str, Any]]], scenario: Scenario
) -> list[str]:
    """A note on each parameter that the scenario fills in; policies are words, or (key, settings).

    >>> filled_in(["wswa:alpha=0.2", ("rawucb", {})], parse_scenario("clicks"))
    ['sigma = 0.5 filled in from Bernoulli rewards: wSWA, RAW-UCB']
    """
    lines: dict[str, list[str]] = {}
    for each in policies:
        held: Any = split("policy", each) if isinstance(each, str) else each
        while held is not None:
            key, settings = held
            for found in _found(key, settings, scenario).values():
                titles = lines.setdefault(found.words, [])
                if _kind(key).title not in titles:
                    titles.append(_kind(key).title)
            held = _held(key, settings)
            if held is not None and "inner" not in settings:
                words = f"inner = {_kind(held[0]).title} filled in, since none is named"
                lines.setdefault(words, []).append(_kind(key).title)
    return [f"{words}: {', '.join(titles)}" for words, titles in lines.items()]


def _found(key: str, settings: Mapping[str, Any], scenario: Scenario) -> dict[str, _Found]:
    """The parameters that a policy needs, that are not given, and that the scenario has."""
    kind: Any = _kind(key)
    fields = {field.name: field for field in dataclasses.fields(kind)}
    for name in settings:
        own = name.partition(".")[0] if name.startswith(_INNER) else name
        _checks.known(f"parameter of {key}", own, fields)
    found: dict[str, _Found] = {}
    for name, field in fields.items():
        optional = field.default is not dataclasses.MISSING
        if name in settings or name == "inner" or (optional and name not in kind.asks):
            continue
        if name == "sigma":
            from_scenario = _sigma(scenario, may_be_unknown(kind, name))
        else:
            from_scenario = _family(scenario) if name == "family" else None
        if from_scenario is None and name == "family":
            raise NoFamilyError(
                f"family of {key} must be given, in Python or an experiment file; scenarios with "
                "random arms (av, anv) have one"
            )
        if from_scenario is None and optional:
            continue
        if from_scenario is None:
            unknown = f"; {name}=unknown is allowed" if may_be_unknown(kind, name) else ""
            usual = f", as {name}={_USUAL[name]}; rotting tune finds one" if name in _USUAL else ""
            raise ValueError(f"{name} of {key} must be given{unknown}{usual}")
        found[name] = from_scenario
    return found


def _sigma(scenario: Scenario, may_be_unknown: bool) -> _Found | None:
    """The noise's sigma; for Bernoulli rewards unknown, if the policy can estimate it.

    Other policies get 1/2, the least for which all Bernoulli rewards are sub-Gaussian. For low
    click rates that is far too large, so policies that estimate sigma do not get it.
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
    """The scenario's belief, or else the family that its arms are drawn from."""
    if scenario.belief is not None:
        return _Found(scenario.belief, "family filled in from the scenario")
    if isinstance(scenario.arms, RandomArms) and not isinstance(scenario.arms, DrawnArms):
        return _Found(scenario.arms.family, "family filled in from the scenario's random arms")
    return None


def describe_policies() -> list[dict[str, str]]:
    """Key, parameters and summary of every registered policy."""
    return [
        {"policy": key, "parameters": ", ".join(_parameters(kind)), "about": first_line(kind)}
        for key, kind in sorted(POLICIES.items())
    ]


def _parameters(kind: Any) -> list[str]:
    return [
        field.name if field.default is dataclasses.MISSING else f"{field.name}={field.default}"
        for field in dataclasses.fields(kind)
    ]
