"""A fit as an experiment file for `rotting run`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from rotting._printable import printable
from rotting.logs._fits.belief import rounded, trusted
from rotting.logs._fits.rows import known_rows
from rotting.logs._fits.shapes import FORMULAS
from rotting.logs._fits.world import arm_models, arrivals_of, factor_range
from rotting.models import (
    Family,
)
from rotting.models._written import settings_of

if TYPE_CHECKING:
    from rotting.logs._fits.fitted import Fit

_ROUNDS = 20_000  # of the experiment, at most
_RUNS = 20
_LISTED = 2_000  # arrivals that are written one by one
_STEEP = tuple(np.arange(0.2, 2.01, 0.1).round(1).tolist())  # of arrivals that are not even


def toml_of(fit: Fit) -> str:
    """The file: comments on where it is from, scenario, policies, and where results go."""
    horizon = min(len(fit.log.key), _ROUNDS)
    lines = [
        *(f"# {line}" for line in _comments(fit)),
        f"runs = {_RUNS}",
        f"seed = {fit.seed}",
        "",
        "[scenario]",
        f"horizon = {horizon}",
        f"noise = {_noise(fit)}",
        "arms = [",
    ]
    for name, model in zip(fit.arms, arm_models(fit), strict=True):
        lines.append(f"  {_table(settings_of(model))},  # {printable(name)}")
    lines.append("]")
    if fit.log.has_keys:
        lines += ["", "[scenario.audience]", f"keys = {fit.log.keys}"]
        lines.append(f"arrivals = {_arrivals(fit, horizon)}")
        factors = factor_range(fit)
        if factors is not None:
            lines.append(f"factors = {_value(list(factors))}")
    for policy in _policies(fit):
        lines += ["", "[[policies]]", *(f"{key} = {_value(each)}" for key, each in policy.items())]
    lines += ["", "[outputs]", 'folder = "out/fitted-log"', ""]
    return "\n".join(lines)


def _comments(fit: Fit) -> list[str]:
    """What this is, which log, which curves, and how sure."""
    known = int(known_rows(fit.log).sum())
    source = printable(fit.log.source or "a log")
    who = f" of {fit.log.keys:,} keys" if fit.log.has_keys else ""
    lines = [
        f"A simulation of {source}, fitted by rotting: {known:,} rewards{who}, "
        f"{len(fit.arms)} arms.",
        f"Curves: {fit.best.name}, an amplitude for each arm times {FORMULAS[fit.best.kind]}.",
    ]
    for name, (value, low, high) in fit.parameters().items():
        also = "" if low == high else f", {100 * fit.level:g} % from {low:.4g} to {high:.4g}"
        of = "" if fit.best.pooled else f" of {printable(fit.arms[0])}"
        lines.append(f"{name}{of} = {value:.4g}{also}.")
    for arm in range(len(fit.arms)):
        value, low, high = fit.parameters(arm)["amplitude"]
        lines.append(
            f"Amplitude of {printable(fit.arms[arm])}: {value:.4g}, from {low:.4g} to {high:.4g}."
        )
    return [*lines, *(printable(note) for note in fit.notes)]


def _noise(fit: Fit) -> str:
    if fit.rewards == "bernoulli":
        return '{ kind = "bernoulli" }'
    return f'{{ kind = "gaussian", sigma = {fit.sigma!r} }}'


def _arrivals(fit: Fit, horizon: int) -> str:
    """The keys one by one, or how often they come in a word."""
    keys = arrivals_of(fit, horizon)
    if horizon <= _LISTED:
        return _value(keys.tolist())
    counts = np.sort(np.bincount(keys, minlength=fit.log.keys))[::-1]
    ranks = np.arange(1, len(counts) + 1, dtype=np.float64)

    def value(power: float) -> float:
        chances = ranks**-power
        return float(counts @ np.log(chances / chances.sum()))

    best = max((0.0, *_STEEP), key=value)
    return _value("uniform" if best == 0.0 else f"zipf:{best:g}")


def _policies(fit: Fit) -> list[dict[str, Any]]:
    """The recommended policy first, then one by the fitted family, then some without."""
    family = _family(fit.family())
    bernoulli = fit.rewards == "bernoulli"
    sigma = {} if bernoulli or fit.doubt else {"sigma": rounded(fit.sigma)}
    # sigma of a family of rates: the most that its curves allow
    known: dict[str, Any] = {"family": family, "sigma": rounded(fit.sigma)}
    free: dict[str, Any]
    by: dict[str, Any]
    rivals: list[dict[str, Any]]
    steady: dict[str, Any] = {"policy": "steadyucb", **sigma}
    if fit.log.has_keys:
        rewards = {} if bernoulli else {"rewards": "gaussian", **sigma}
        free, by = {"policy": "fatigue", **rewards}, {"policy": "posterior", "rule": "thompson"}
        rivals = [steady, {"policy": "ucb1"}]
    else:
        free, by = steady, {"policy": "guarded"}
        rivals = [{"policy": "cto", "family": family}, {"policy": "ucb1"}]
    by = by | known
    return [by, free, *rivals] if trusted(fit) else [free, by, *rivals]


def _family(family: Family) -> dict[str, Any]:
    found: dict[str, Any] = {"members": [settings_of(member) for member in family.members]}
    if family.weights is not None:
        found["weights"] = list(family.weights)
    return found


def _table(settings: dict[str, Any]) -> str:
    return "{ " + ", ".join(f"{key} = {_value(value)}" for key, value in settings.items()) + " }"


def _value(value: Any) -> str:
    """A value as TOML writes it."""
    if isinstance(value, dict):
        return _table(value)
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, str):
        return json.dumps(printable(value), ensure_ascii=False)
    return repr(value)
