"""The policies of the league, with the same parameters on all scenarios."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from rotting import policies
from rotting.bandits import Bernoulli, Gaussian
from rotting.league._entry import Entry
from rotting.policies import Policy

Maker = Callable[[Entry], Policy]
Extra = Mapping[
    str, Any
]  # a user's policies by name: a player, or a function that makes one of an Entry


def sigma_of(entry: Entry) -> float:
    """The sigma that policies get: the noise's, or 1/2, which holds for all rewards in [0, 1]."""
    noise = entry.scenario.noise
    if isinstance(noise, Gaussian) and not callable(noise.sigma):
        return noise.sigma
    return 0.5


def _sigma_if_gaussian(entry: Entry) -> float | None:
    """The sigma for policies that can estimate it: None unless noise is Gaussian."""
    return sigma_of(entry) if isinstance(entry.scenario.noise, Gaussian) else None


def _true_sigma(entry: Entry) -> float:
    """The sigma of Bernoulli rewards at the arms' mean first rate, which users do not know."""
    world = entry.scenario.world()
    rate = float(world.means[:, 0].mean())
    return math.sqrt(rate * (1.0 - rate))


# for scenarios of any kind
NON_PARAMETRIC: dict[str, Maker] = {
    "SteadyUCB": lambda e: policies.SteadyUCB(_sigma_if_gaussian(e)),
    "SteadyUCB None": lambda e: policies.SteadyUCB(None),  # sigma unknown everywhere
    "RAWUCB": lambda e: policies.RAWUCB(sigma_of(e)),
    "RAWUCBPP": lambda e: policies.RAWUCBPP(sigma_of(e)),
    "EFFRAWUCB": lambda e: policies.EFFRAWUCB(sigma_of(e)),
    "FEWA": lambda e: policies.FEWA(sigma_of(e)),
    "EFFFEWA": lambda e: policies.EFFFEWA(sigma_of(e)),
    "GLRUCB": lambda e: policies.GLRUCB(_sigma_if_gaussian(e)),
    "WSWA": lambda e: policies.WSWA(0.2, sigma_of(e)),
    "WSWA keep": lambda e: policies.WSWA(0.2, sigma_of(e), restart="keep"),
    "SWA": lambda e: policies.SWA(0.2, sigma_of(e)),
    "UCB1": lambda e: policies.UCB1(),
    "DUCB": lambda e: policies.DUCB(gamma=0.999),
    "SWUCB": lambda e: policies.SWUCB(tau=4000),
    "SWTS": lambda e: policies.SWTS(tau=4000, sigma=sigma_of(e)),
    "DTS": lambda e: policies.DTS(gamma=0.999, sigma=sigma_of(e)),
    "EXP3S": lambda e: policies.EXP3S(),
    "GreedyLast": lambda e: policies.GreedyLast(),
    "Uniform": lambda e: policies.Uniform(),
    "RoundRobin": lambda e: policies.RoundRobin(),
}


# for click rates, whose sigma is far below 1/2
BERNOULLI: dict[str, Maker] = {"RAWUCB told": lambda e: policies.RAWUCB(_true_sigma(e))}


def _parametric(make: Callable[..., Policy]) -> Maker:
    def maker(entry: Entry) -> Policy:
        return make(entry.family, entry)

    return maker


# for scenarios that come with a family
PARAMETRIC: dict[str, Maker] = {
    "CTO": _parametric(lambda f, e: policies.CTO(f)),
    "LCTO": _parametric(lambda f, e: policies.LCTO(f)),
    "CCTO": _parametric(lambda f, e: policies.CCTO(f.model.between(min(f.thetas), max(f.thetas)))),
    "Posterior": _parametric(lambda f, e: policies.Posterior(f, sigma_of(e))),
    "DCTO": _parametric(lambda f, e: policies.DCTO(f, sigma_of(e))),
    "LDCTO": _parametric(lambda f, e: policies.LDCTO(f, sigma_of(e))),
    "Posterior upper": _parametric(
        lambda f, e: policies.Posterior(f, sigma_of(e), constants=True, rule="upper", z=2.5)
    ),
    "Guarded": _parametric(lambda f, e: policies.Guarded(f, sigma_of(e), constants=e.constants)),
}


def makers(entry: Entry) -> dict[str, Maker]:
    """The functions that make the policies for a scenario, by name."""
    found = dict(NON_PARAMETRIC)
    if isinstance(entry.scenario.noise, Bernoulli) and entry.scenario.shared_tables:
        found |= BERNOULLI  # first rates are the same in all runs
    if entry.family is not None:
        found |= PARAMETRIC
    return found


def joined(known: Mapping[str, Policy], extra: Extra, entry: Entry) -> dict[str, Any]:
    """The policies for a scenario and a user's own, which must have other names.

    A user's own is a policy, an object with `select` and `update`, or a function of the entry. That
    returns what `simulate` plays (a function of a seed, for instance), or None if it cannot play
    there.
    """
    found: dict[str, Any] = dict(known)
    for name, given in extra.items():
        if name in found:
            raise ValueError(f"extra must have names of its own, got {name!r}, which plays already")
        makes = not isinstance(given, type) and callable(given) and not hasattr(given, "select")
        made = given(entry) if makes else given
        if made is None:
            continue
        if not isinstance(made, Policy) and not callable(made) and not hasattr(made, "select"):
            raise ValueError(f"extra[{name!r}] must be what simulate plays, got {made!r}")
        found[name] = made
    return found


def check_extra(extra: Extra, playing: Mapping[str, Mapping[str, Any]]) -> None:
    """Refuse a user's own policy that can play no scenario."""
    for name in extra:
        if not any(name in row for row in playing.values()):
            raise ValueError(f"extra must play at least one scenario, but {name!r} can play none")
