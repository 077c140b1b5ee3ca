"""The policies of the audience league: the recommended one, and common alternatives."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping

from rotting import policies
from rotting.bandits import Gaussian, Scenario
from rotting.league._entry import Entry
from rotting.policies import Capped, Policy, Thompson

CAPS = (1, 2, 3, 5, 8, 13)  # common frequency caps
Maker = Callable[[Scenario], Policy]


def _sigma(scenario: Scenario) -> float | None:
    """The sigma of Gaussian rewards; None for others."""
    noise = scenario.noise
    return noise.sigma if isinstance(noise, Gaussian) and not callable(noise.sigma) else None


def _thompson(scenario: Scenario) -> Policy:
    return Thompson(_sigma(scenario))


def _capped(cap: int) -> Maker:
    return lambda scenario: Capped(_thompson(scenario), cap)


# in every comparison; the names are those of `_catalogue.names.parse_policies`
POOLED: dict[str, Maker] = {
    "UCB1": lambda s: policies.UCB1(),
    "SteadyUCB": lambda s: policies.SteadyUCB(_sigma(s)),
    "Thompson": _thompson,
}
CAPPED: dict[str, Maker] = {f"Capped(cap={cap})": _capped(cap) for cap in CAPS}
CLICKS: dict[str, Maker] = {"Mixture": lambda s: policies.Mixture()}  # for rewards in [0, 1]
# only in the league
FURTHER: dict[str, Maker] = {
    "PerKey": lambda s: policies.PerKey(_thompson(s)),
    "CellUCB": lambda s: policies.CellUCB(_sigma(s) or 0.5),  # 1/2 holds for clicks
}


def recommended_for(scenario: Scenario) -> Policy:
    rewards = "gaussian" if isinstance(scenario.noise, Gaussian) else "bernoulli"
    return policies.recommended(audience=True, rewards=rewards)


def usual(scenario: Scenario) -> dict[str, Policy]:
    """The default policies by name: uniform, pooled bandits, caps, the recommended one."""
    ours = recommended_for(scenario)
    makers = {**POOLED, **CAPPED, **_for_clicks(scenario)}
    found = {name: make(scenario) for name, make in makers.items()}
    return {"Uniform": policies.Uniform(), **found, ours.title: ours}


def contestants(entry: Entry) -> dict[str, Policy]:
    """The policies for a scenario of the audience league by name, the recommended one first.

    Where arms recover, policies with a `rest` play once more with the scenario's rest. Where the
    entry has a family, `Posterior` plays with it.
    """
    scenario, ours = entry.scenario, recommended_for(entry.scenario)
    makers = {**_for_clicks(scenario), **POOLED, **CAPPED, **FURTHER}
    found = {ours.title: ours, **{name: make(scenario) for name, make in makers.items()}}
    found["Uniform"] = policies.Uniform()
    rest = None if scenario.audience is None else scenario.audience.rest
    if rest is not None:
        fading = {name: policy for name, policy in found.items() if hasattr(policy, "rest")}
        for name, policy in fading.items():
            found[f"{name}, resting"] = dataclasses.replace(policy, rest=rest)  # type: ignore[type-var]
    if entry.family is not None:
        found["Posterior"] = policies.Posterior(entry.family, rule="thompson")
    return found


def capped_names(named: Mapping[str, Policy]) -> list[str]:
    """The policies among which the best cap is chosen: every cap, and none; [] without caps."""
    if not any(isinstance(policy, Capped) for policy in named.values()):
        return []
    return [name for name, policy in named.items() if isinstance(policy, (Capped, Thompson))]


def _for_clicks(scenario: Scenario) -> dict[str, Maker]:
    return {} if isinstance(scenario.noise, Gaussian) else CLICKS
