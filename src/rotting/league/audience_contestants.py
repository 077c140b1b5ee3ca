"""Who plays audiences: the recommended policy, and what people use in its place."""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any

from rotting import policies
from rotting.bandits import Gaussian, Scenario
from rotting.league.entry import Entry
from rotting.policies import POLICIES, Policy

CAPS = (1, 2, 3, 5, 8, 13)  # frequency caps that people use
_UNCAPPED, _CAPPED = "thompson", "capped"
_CLICKS_ONLY = "mixture"  # for rewards in [0, 1]


def recommended_for(scenario: Scenario) -> Policy:
    """The policy that is recommended for the scenario's audience."""
    noise = scenario.noise
    known: dict[str, Any] = {"rewards": "gaussian" if isinstance(noise, Gaussian) else "bernoulli"}
    if "audience" in inspect.signature(policies.recommended).parameters:
        known["audience"] = True
    return policies.recommended(**known)


def usual(scenario: Scenario) -> dict[str, Policy]:
    """Who plays unless others are named: uniform, pooled bandits, caps, and ours, by name."""
    others = ("uniform", "ucb1", "steadyucb", _UNCAPPED, _CAPPED, _CLICKS_ONLY)
    found = {name: policy for key in others for name, policy in _made(key, scenario).items()}
    ours = recommended_for(scenario)
    return {**found, ours.title: ours}


def contestants(entry: Entry) -> dict[str, Policy]:
    """Who plays a scenario of the audience league, by name; the recommended policy first.

    Where arms recover those that can let their own counts fade play once more, with counts that
    fade as they do; where the curves are of a known family there is one that is told so.
    """
    scenario, ours = entry.scenario, recommended_for(entry.scenario)
    found = {ours.title: ours}
    for key in (_CLICKS_ONLY, "steadyucb", _UNCAPPED, _CAPPED, "uniform"):
        found |= _made(key, scenario)
    rest = None if scenario.audience is None else scenario.audience.rest
    if rest is not None:
        fading = {name: policy for name, policy in found.items() if _has(type(policy), "rest")}
        for name, policy in fading.items():
            found[f"{name}, resting"] = dataclasses.replace(policy, rest=rest)  # type: ignore[type-var]
    if entry.family is not None:
        found["Posterior"] = policies.Posterior(entry.family, rule="thompson")
    return found


def capped_names(named: dict[str, Policy]) -> list[str]:
    """The policies among which a cap is chosen in hindsight: every cap, and none; [] if no caps."""
    keys = {name: type(policy).key for name, policy in named.items()}
    if _CAPPED not in keys.values():
        return []
    return [name for name, key in keys.items() if key in (_CAPPED, _UNCAPPED)]


def _made(key: str, scenario: Scenario) -> dict[str, Policy]:
    """A policy of that key by its title, capped ones once for each cap; none if it is not there."""
    kind: Any = POLICIES.get(key)
    if kind is None or (key == _CLICKS_ONLY and isinstance(scenario.noise, Gaussian)):
        return {}
    if key != _CAPPED:
        return {kind.title: kind(**_known(kind, scenario))}
    inner: Any = POLICIES[_UNCAPPED]
    held = inner(**_known(inner, scenario))
    return {f"{kind.title}(cap={cap})": kind(held, cap) for cap in CAPS}


def _known(kind: Any, scenario: Scenario) -> dict[str, Any]:
    """The sigma of Gaussian rewards, for policies that take one; else it is not known."""
    noise = scenario.noise
    if not _has(kind, "sigma"):
        return {}
    return {"sigma": noise.sigma if isinstance(noise, Gaussian) else None}


def _has(kind: Any, parameter: str) -> bool:
    return any(field.name == parameter for field in dataclasses.fields(kind))
