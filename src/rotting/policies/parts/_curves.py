"""The posterior of an arm's fatigue curve, by cells of exposures.

An arm's curve is a level times a shape of a library (`parts.shapes`), or *free*: a new level begins
at each cell with probability 0.3 and no shape is assumed. Given the curve, clicks are Poisson (a
click rate is small; what that overstates is scaled away, in `policies.fatigue`) and levels have a
Gamma prior, or rewards and levels are normal. Either way what each shape makes of the sums by cell
is a formula, and the free kind is a sum over all ways to cut the cells into segments, forward and
backward (dynamic programming).

What is kept of the result is, for each cell, the chance that the arm is still *fresh* there (at
least 0.9 of its first level is left) and mean and variance of its worth if it is and if it is not.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, NamedTuple

import numpy as np

from rotting.kernel.arrays import FloatArray, IntArray
from rotting.kernel.compilable import shared
from rotting.kernel.state import Finite, Numbers, Uncleared
from rotting.policies.parts._cells import log_gamma

LEVEL = 3.0  # the shape of the Gamma prior of levels: a relative standard deviation of 0.58
_BOUNDARY = 0.3  # the chance that a free curve begins a new level at a cell
_FRESH = 0.9  # of the first level
_NONE = 1e-6  # a weight below which a shape is left out,
_NEVER = 1e-12  # and a chance below which a segment of a free curve is
_LEAST = 1e-12  # of a variance, in squares of its mean

# places in an outlook: chance, mean and variance; if the arm is fresh, and if it is fallen
FRESH, FALLEN = 0, 3
CHANCE, MEAN, VARIANCE = 0, 1, 2


class Library(NamedTuple):
    """Shapes, [shape, cell]; params of a policy."""

    shape: FloatArray  # what is left of the first level
    log: FloatArray  # its logarithm
    kind: IntArray  # of each shape, the free one last
    part: FloatArray  # of its kind's prior weight, the free one last
    gaussian: bool  # or clicks


class Common(NamedTuple):
    """What is known of all levels: clicks need the mean only."""

    mean: float
    variance: float  # of the levels about their mean
    noise: float  # the variance of a reward


class Curves(NamedTuple):
    """What is thought of each arm."""

    weight: Numbers  # [arm, shape]: the free kind comes last
    outlook: Numbers  # [arm, cell, place]
    level: Numbers  # [arm, 2]: mean and variance of the first cell


class Work(NamedTuple):
    """Arrays to work in; nothing in them outlives an update."""

    count: Annotated[FloatArray, Finite(), Uncleared()]  # type: ignore[assignment]  # by cell
    total: Annotated[FloatArray, Finite(), Uncleared()]  # by cell
    prior: Annotated[FloatArray, Finite(), Uncleared()]  # of each shape
    precision: Annotated[FloatArray, Finite(), Uncleared()]  # of the level under each shape
    height: Annotated[FloatArray, Finite(), Uncleared()]  # the level under each shape
    segment: Annotated[
        FloatArray, Finite(), Uncleared()
    ]  # [first, last]: evidence of cells with one level
    before: Annotated[FloatArray, Finite(), Uncleared()]  # evidence of the cells before each
    after: Annotated[FloatArray, Finite(), Uncleared()]  # evidence of the cells from each on


def no_curves(arms: int, shapes: int, cells: int) -> Curves:
    """Nothing is thought yet."""
    return Curves(np.zeros((arms, shapes)), np.zeros((arms, cells, 6)), np.zeros((arms, 2)))


def new_work(shapes: int, cells: int) -> Work:
    """Arrays to work in."""
    return Work(
        count=np.zeros(cells),
        total=np.zeros(cells),
        prior=np.zeros(shapes),
        precision=np.zeros(shapes),
        height=np.zeros(shapes),
        segment=np.zeros((cells, cells)),
        before=np.zeros(cells + 1),
        after=np.zeros(cells + 1),
    )


@shared
def _evidence(gaussian: Any, total: Any, count: Any, a: Any, b: Any, noise: Any) -> Any:
    """ln evidence of one level, by the rewards that it gave.

    Its prior is Gamma(a, b) for clicks, and Normal(a, b), b a variance, else.
    """
    if not gaussian:
        shape, rate = a + total, b + count
        return a * math.log(b) - log_gamma(a) + log_gamma(shape) - shape * math.log(rate)
    precision = 1.0 / b + count / noise
    mean = (a / b + total / noise) / precision
    return 0.5 * (mean * mean * precision - a * a / b - math.log(precision * b))


@shared
def _level(gaussian: Any, total: Any, count: Any, a: Any, b: Any, noise: Any) -> Any:
    """Mean and mean square of the same level."""
    if not gaussian:
        mean = (a + total) / (b + count)
        return mean, mean * mean + mean / (b + count)
    precision = 1.0 / b + count / noise
    mean = (a / b + total / noise) / precision
    return mean, mean * mean + 1.0 / precision


@shared
def _own_fit(gaussian: Any, total: Any, count: Any, noise: Any) -> Any:
    """ln likelihood of a cell's rewards at their own mean: all evidence is relative to it."""
    if count == 0.0:
        return 0.0
    if gaussian:
        return 0.5 * total * total / (count * noise)
    return total * math.log(total / count) - total if total > 0.0 else 0.0


@shared
def _first_prior(library: Library, mean: Any, variance: Any) -> Any:
    """The prior of an arm's first level."""
    if library.gaussian:
        return mean, variance
    return LEVEL, LEVEL / mean


@shared
def _later_prior(library: Library, mean: Any, variance: Any) -> Any:
    """The prior of the later levels of a free curve: half as high, and wider."""
    if library.gaussian:
        return 0.5 * mean, variance + 0.25 * mean * mean
    return 1.0, 2.0 / mean


@shared
def _cut(library: Library, common: Any, work: Work, cells: Any) -> Any:
    """The evidence of a free curve: every way to cut the cells into levels; returns its ln.

    `cells` are those up to the last with rewards: the others say nothing.
    """
    first, wide = _first_prior(library, common.mean, common.variance)
    later, wider = _later_prior(library, common.mean, common.variance)
    every = work.count.size
    for i in range(every):
        total, count, own = 0.0, 0.0, 0.0
        chance = 1.0 if i == 0 else _BOUNDARY
        for j in range(i, every):
            total += work.total[j]
            count += work.count[j]
            own += _own_fit(library.gaussian, work.total[j], work.count[j], common.noise)
            if i >= cells:  # no rewards there: no evidence
                work.segment[i, j] = chance
            elif j >= cells:
                work.segment[i, j] = work.segment[i, j - 1] * (1.0 - _BOUNDARY)
            else:
                a, b = (first, wide) if i == 0 else (later, wider)
                found = _evidence(library.gaussian, total, count, a, b, common.noise)
                work.segment[i, j] = math.exp(found - own) * chance
            chance *= 1.0 - _BOUNDARY
    work.before[0] = 1.0
    for j in range(every):
        mass = 0.0
        for i in range(j + 1):
            mass += work.before[i] * work.segment[i, j]
        work.before[j + 1] = mass
    work.after[every] = 1.0
    for i in range(every - 1, -1, -1):
        mass = 0.0
        for j in range(i, every):
            mass += work.segment[i, j] * work.after[j + 1]
        work.after[i] = mass
    return math.log(work.before[every]) if work.before[every] > 0.0 else -math.inf


@shared
def _fit_shapes(
    library: Library, common: Any, work: Work, weight: Any, arm: Any, cells: Any
) -> None:
    """ln evidence of every shape, into the arm's weights."""
    first, wide = _first_prior(library, common.mean, common.variance)
    total, own = 0.0, 0.0
    for c in range(cells):
        total += work.total[c]
        own += _own_fit(library.gaussian, work.total[c], work.count[c], common.noise)
    if not library.gaussian:
        own -= first * math.log(wide) - log_gamma(first) + log_gamma(first + total)
    for k in range(library.shape.shape[0]):
        seen, fitted = 0.0, 0.0
        if library.gaussian:
            for c in range(cells):
                left = library.shape[k, c]
                seen += work.count[c] * left * left
                fitted += work.total[c] * left
            precision = 1.0 / wide + seen / common.noise
            mean = (first / wide + fitted / common.noise) / precision
            scatter = first * first / wide + math.log(precision * wide)
            weight[arm, k] = 0.5 * (mean * mean * precision - scatter) - own
        else:
            for c in range(cells):
                seen += work.count[c] * library.shape[k, c]
                fitted += work.total[c] * library.log[k, c]
            precision = wide + seen
            mean = (first + total) / precision
            weight[arm, k] = fitted - (first + total) * math.log(precision) - own
        work.precision[k] = precision
        work.height[k] = mean


@shared
def _spread(library: Library, work: Work, k: Any) -> Any:
    """The mean square of the level under a shape."""
    mean, precision = work.height[k], work.precision[k]
    return mean * mean + (1.0 if library.gaussian else mean) / precision


@shared
def _normalise(work: Work, weight: Any, arm: Any) -> None:
    """Weights that add up to one, from ln evidence and the prior."""
    highest = -math.inf
    for k in range(work.prior.size):
        highest = max(highest, weight[arm, k])
    mass = 0.0
    for k in range(work.prior.size):
        weight[arm, k] = math.exp(weight[arm, k] - highest) * work.prior[k]
        mass += weight[arm, k]
    for k in range(work.prior.size):
        weight[arm, k] /= mass


@shared
def _add_free(library: Library, common: Any, work: Work, curves: Curves, arm: Any) -> None:
    """What the free kind makes of every cell."""
    first, wide = _first_prior(library, common.mean, common.variance)
    later, wider = _later_prior(library, common.mean, common.variance)
    cells = work.count.size
    share = curves.weight[arm, library.shape.shape[0]] / work.before[cells]
    outlook = curves.outlook
    for i in range(cells):
        total, count = 0.0, 0.0
        for j in range(i, cells):
            total += work.total[j]
            count += work.count[j]
            chance = share * work.before[i] * work.segment[i, j] * work.after[j + 1]
            if chance > _NEVER:
                a, b = (first, wide) if i == 0 else (later, wider)
                found = _level(library.gaussian, total, count, a, b, common.noise)
                place = FRESH if i == 0 else FALLEN
                for c in range(i, j + 1):
                    outlook[arm, c, place + CHANCE] += chance
                    outlook[arm, c, place + MEAN] += chance * found[0]
                    outlook[arm, c, place + VARIANCE] += chance * found[1]


@shared
def weigh(library: Library, common: Any, work: Work, curves: Curves, arm: Any) -> None:
    """What is to be thought of an arm, by the counts and totals in `work` and the prior there."""
    weight, outlook = curves.weight, curves.outlook
    every, shapes = work.count.size, library.shape.shape[0]
    cells = 0
    for c in range(every):
        if work.count[c] > 0.0:
            cells = c + 1
    _fit_shapes(library, common, work, weight, arm, cells)
    weight[arm, shapes] = _cut(library, common, work, cells)
    _normalise(work, weight, arm)
    for c in range(every):
        for place in range(6):
            outlook[arm, c, place] = 0.0
    for k in range(shapes):
        chance = weight[arm, k]
        if chance > _NONE:
            square = _spread(library, work, k)
            for c in range(every):
                left = library.shape[k, c]
                place = FRESH if left >= _FRESH else FALLEN
                outlook[arm, c, place + CHANCE] += chance
                outlook[arm, c, place + MEAN] += chance * left * work.height[k]
                outlook[arm, c, place + VARIANCE] += chance * left * left * square
    if weight[arm, shapes] > _NONE:
        _add_free(library, common, work, curves, arm)
    mean = outlook[arm, 0, FRESH + MEAN] + outlook[arm, 0, FALLEN + MEAN]
    square = outlook[arm, 0, FRESH + VARIANCE] + outlook[arm, 0, FALLEN + VARIANCE]
    curves.level[arm, 0] = mean
    curves.level[arm, 1] = max(square - mean * mean, 0.0)
    for c in range(every):
        _centre(outlook, arm, c, FRESH)
        _centre(outlook, arm, c, FALLEN)


@shared
def _centre(outlook: Any, arm: Any, cell: Any, place: Any) -> None:
    """Mean and variance from sums over shapes."""
    chance = outlook[arm, cell, place + CHANCE]
    if chance > 1e-9:
        mean = outlook[arm, cell, place + MEAN] / chance
        square = mean * mean
        variance = outlook[arm, cell, place + VARIANCE] / chance - square
        outlook[arm, cell, place + MEAN] = mean
        outlook[arm, cell, place + VARIANCE] = max(variance, _LEAST * square)
    else:
        outlook[arm, cell, place + CHANCE] = 0.0
