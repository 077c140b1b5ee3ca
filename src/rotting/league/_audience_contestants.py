"""Who plays audiences: the recommended policy, and what people use in its place."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping

from rotting import policies
from rotting.bandits import Gaussian, Scenario
from rotting.league._entry import Entry
from rotting.policies import Capped, Policy, Thompson

CAPS = (1, 2, 3, 5, 8, 13)  # frequency caps that people use
Maker = Callable[[Scenario], Policy]


def _sigma(scenario: Scenario) -> float | None:
    """What users know of the noise: the sigma of Gaussian rewards."""
    noise = scenario.noise
    return noise.sigma if isinstance(noise, Gaussian) and not callable(noise.sigma) else None


def _thompson(scenario: Scenario) -> Policy:
    return Thompson(_sigma(scenario))


def _capped(cap: int) -> Maker:
    return lambda scenario: Capped(_thompson(scenario), cap)


# played by all who compare; the names are those of policies by words
POOLED: dict[str, Maker] = {
    "UCB1": lambda s: policies.UCB1(),
    "SteadyUCB": lambda s: policies.SteadyUCB(_sigma(s)),
    "Thompson": _thompson,
}
CAPPED: dict[str, Maker] = {f"Capped(cap={cap})": _capped(cap) for cap in CAPS}
CLICKS: dict[str, Maker] = {"Mixture": lambda s: policies.Mixture()}  # for rewards in [0, 1]
# of the league alone
FURTHER: dict[str, Maker] = {
    "PerKey": lambda s: policies.PerKey(_thompson(s)),
    "CellUCB": lambda s: policies.CellUCB(_sigma(s) or 0.5),  # 1/2 is enough for clicks
}


def recommended_for(scenario: Scenario) -> Policy:
    """The policy that is recommended for the scenario's audience."""
    rewards = "gaussian" if isinstance(scenario.noise, Gaussian) else "bernoulli"
    return policies.recommended(audience=True, rewards=rewards)


def usual(scenario: Scenario) -> dict[str, Policy]:
    """Who plays unless others are named: uniform, pooled bandits, caps, and ours, by name."""
    ours = recommended_for(scenario)
    makers = {**POOLED, **CAPPED, **_for_clicks(scenario)}
    found = {name: make(scenario) for name, make in makers.items()}
    return {"Uniform": policies.Uniform(), **found, ours.title: ours}


def contestants(entry: Entry) -> dict[str, Policy]:
    """Who plays a scenario of the audience league, by name; the recommended policy first.

    Where arms recover those that can let their own counts fade play once more, with counts that
    fade as they do; where the curves are of a known family there is one that is told so.
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
    """The policies among which a cap is chosen in hindsight: every cap, and none; [] if no caps."""
    if not any(isinstance(policy, Capped) for policy in named.values()):
        return []
    return [name for name, policy in named.items() if isinstance(policy, (Capped, Thompson))]


def _for_clicks(scenario: Scenario) -> dict[str, Maker]:
    return {} if isinstance(scenario.noise, Gaussian) else CLICKS
