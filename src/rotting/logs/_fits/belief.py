"""What a fit says to policies: a family with weights, and which policy to play with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rotting.kernel.arrays import FloatArray
from rotting.logs._fits.shapes import Shape
from rotting.models import (
    Family,
    Model,
    Step,
    Table,
)
from rotting.models._written import code_of
from rotting.policies import recommended
from rotting.policies._base import Policy

if TYPE_CHECKING:
    from rotting.logs._fits.fitted import Fit

_SHAPES, _OWN, _ANY = 5, 5, 9  # how many shapes, and amplitudes of a known and of any arm
_WIDER = 1.5  # an arm that is not known may be so much better or worse than those that are
_APART = 0.2  # arms' levels differ by at least so much, in logarithms
_SMALL_FALL = 0.05  # over the log's showings: less does not matter
_DIGITS = 4  # of all numbers, so that lines of Python make the same family


def rounded(value: Any) -> float:
    """A number in four digits.

    >>> rounded(0.123456)
    0.1235
    """
    return float(f"{float(value):.{_DIGITS}g}")


def family_of(fit: Fit, arm: int | None) -> Family:
    """Shapes that might have been, with amplitudes that might be, each as likely as it is."""
    arms = range(len(fit.arms)) if arm is None else [arm]
    shapes = _shapes(fit, list(arms))
    levels, likely = _any_level(fit) if arm is None else _own_level(fit, arm)
    weights: dict[Model, float] = {}
    for shape, part in shapes:
        for level, chance in zip(levels, likely, strict=True):
            model = _rounded_model(shape, level, fit.longest)
            weights[model] = weights.get(model, 0.0) + part * float(chance)
    total = sum(weights.values())
    chances = [max(rounded(weight / total), 1e-6) for weight in weights.values()]
    return Family.of(list(weights), weights=chances)


def _shapes(fit: Fit, arms: list[int]) -> list[tuple[Shape, float]]:
    """A few shapes of those drawn, from the flattest to the steepest, each for as many."""
    if fit.best.kind == "constant":
        return [(fit.fitted.shapes[0], 1.0)]
    nodes = np.unique(np.geomspace(1, max(fit.longest, 2), 30).round()).astype(np.int64)
    left = np.stack([fit.draws.left(arm, nodes).sum(axis=1) for arm in arms])
    order = np.argsort(left, axis=None, kind="stable")
    parts = (np.arange(_SHAPES) + 0.5) / _SHAPES
    chosen = order[(parts * len(order)).astype(np.int64)]
    found: dict[Shape, float] = {}
    for place in chosen:
        shape = fit.draws.shape(int(place % left.shape[1]), arms[int(place // left.shape[1])])
        found[shape] = found.get(shape, 0.0) + 1.0 / _SHAPES
    return list(found.items())


def _own_level(fit: Fit, arm: int) -> tuple[FloatArray, FloatArray]:
    parts = (np.arange(_OWN) + 0.5) / _OWN
    return np.quantile(fit.draws.amplitudes[:, arm], parts), np.full(_OWN, 1.0 / _OWN)


def _any_level(fit: Fit) -> tuple[FloatArray, FloatArray]:
    """Levels around those of all arms: each arm is an example of what another may be."""
    own = np.log(fit.fitted.amplitudes)
    low, high = own.min() - np.log(_WIDER), own.max() + np.log(_WIDER)
    if fit.rewards == "bernoulli":
        high = min(high, 0.0)
        low = min(low, high - np.log(_WIDER))
    levels = np.linspace(low, high, _ANY)
    width = max(float(own.std()), _APART)
    density = np.exp(-0.5 * ((levels[:, None] - own) / width) ** 2).sum(axis=1)
    return np.exp(levels), density / density.sum()


def _rounded_model(shape: Shape, level: float, longest: int) -> Model:
    """The curve with numbers of four digits, positive throughout."""
    amplitude = rounded(level)
    numbers = tuple(rounded(number) for number in shape.numbers)
    model = Shape(shape.kind, numbers, shape.firsts).model(amplitude, longest)
    if isinstance(model, Step):
        return Step(
            model.at, amplitude, min(rounded(max(model.after, 1e-3 * amplitude)), amplitude)
        )
    if isinstance(model, Table):
        falling = np.minimum.accumulate([rounded(value) for value in model.values])
        return Table(falling.tolist())
    return model


def fall_of(fit: Fit) -> float:
    """How far below first showings the curves lie, on average over the log's showings."""
    log = fit.log
    left = np.empty(log.key.size)
    for arm, shape in enumerate(fit.fitted.shapes):
        rows = log.arm == arm
        left[rows] = shape.at(log.exposure[rows])
    return float(1.0 - left.mean())


def wears_out(fit: Fit) -> bool:
    """Whether no fall at all foretold clearly worse, and the fall is one that matters."""
    flat = [c for c in fit.candidates if c.kind == "constant"]
    if fit.best.kind == "constant" or (flat and flat[0].behind <= 2.0 * flat[0].behind_error):
        return False
    return not flat or fall_of(fit) >= _SMALL_FALL


def trusted(fit: Fit) -> bool:
    """Whether a formula can be played by: one for all arms, clearly better than no fall at all.

    Without keys `Guarded` watches it, so that any formula will do.
    """
    if fit.best.kind == "table" or fit.doubt or not wears_out(fit):
        return False
    if not fit.log.has_keys:
        return True
    return fit.best.pooled and any(c.kind == "constant" for c in fit.candidates)


def recommend(fit: Fit) -> tuple[Policy, list[str]]:
    """The policy for a fitted log, and lines of Python that make it; the first says why."""
    keys, sigma = fit.log.has_keys, rounded(fit.sigma)
    if trusted(fit):
        family = fit.family()
        policy = recommended(sigma=sigma, family=family, rewards=fit.rewards, audience=keys)
        made = f"Posterior(family, sigma={sigma!r}, rule='thompson')"
        if not keys:
            made = f"Guarded(family, sigma={sigma!r})"
        return policy, [
            _why(fit),
            "from rotting import models, policies",
            *_family_lines(family),
            f"policy = policies.{made}",
        ]
    bernoulli = fit.rewards == "bernoulli"
    known = None if bernoulli or fit.doubt else sigma
    policy = recommended(sigma=known, rewards=fit.rewards, audience=keys)
    made = f"SteadyUCB(sigma={known!r})"
    if keys:
        made = "Fatigue()" if bernoulli else f"Fatigue('gaussian', sigma={known!r})"
    return policy, [_why(fit), "from rotting import policies", f"policy = policies.{made}"]


def _why(fit: Fit) -> str:
    name = fit.best.name
    if trusted(fit):
        if fit.log.has_keys:
            return (
                f"# One formula for all arms ({name}) foretold held-out keys as well as anything, "
                "and clearly better than no fall: Posterior plays by it. Fatigue needs no formula."
            )
        return (
            f"# A formula ({name}) foretold held-out rewards as well as anything: Guarded plays by "
            "it, and falls back on SteadyUCB if it is wrong."
        )
    if fit.doubt:
        return (
            "# The curves are not to be believed (see the notes): this policy learns its own, and "
            "how much rewards scatter, while it plays."
        )
    policy = "Fatigue learns curves" if fit.log.has_keys else "SteadyUCB notices what falls"
    if not wears_out(fit):
        return (
            f"# Nothing wears out by this fit. {policy} while it plays: like an ordinary bandit "
            "where nothing falls, and it would notice if that changed."
        )
    return f"# No one formula foretold best and clearly ({name} did best): {policy} while it plays."


def _family_lines(family: Family) -> list[str]:
    weights = None if family.weights is None else list(family.weights)
    return [
        "family = models.Family.of(",
        "    [",
        *(f"        {code_of(member)}," for member in family.members),
        "    ],",
        f"    weights={weights!r},",
        ")",
    ]
