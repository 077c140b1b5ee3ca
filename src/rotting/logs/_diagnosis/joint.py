"""The joint model: what keys pay, and when they leave, explained by one hidden level of each key.

Those who stay are not those who left. Key k has a level g_j with weight w_j, on a grid; a row pays

    binary     Bernoulli(g_j F),  F = exp(x . beta)
    gaussian   Normal(g_j F, sigma^2)

and after it the story ends with chance 1 / (1 + exp(-eta)),

    eta = r . b + b_z z_j,

r being what was seen (the reward, the showing's number) and z_j the level on a scale of its own. A
story of which nothing more is seen has ended, or goes on after the log's end; the chance of that is
known from the days between showings. The
likelihood of a key is the sum over j of w_j times the product of both over its rows, so a fall that
only comes from who leaves is explained by b_z and not by beta: a shared-parameter model (Wu and
Carroll 1988). Weights are exp(polynomial in z), with a slight penalty. Standard errors are of the
sandwich kind, by unit, so they hold if levels are not quite as assumed.
"""

from __future__ import annotations

import functools
import math
from typing import Any, NamedTuple

import numpy as np

from rotting.kernel.arrays import FloatArray, IntArray

BINARY, GAUSSIAN = 0, 1
CAP = 0.995  # a chance of more is taken for this
_RIDGE = 0.01  # on the polynomial's coefficients: without it equal keys have no best weights
# On how leaving depends on the level: where hardly anybody's level can be told, it is anything.
# There is no square of the level: it was tried, and explained leavers by levels that nobody has.
_ON_LEVEL = 0.05
_STEPS, _CLOSE = 100, 1e-4


class Data(NamedTuple):
    """Rows, unit after unit, as arrays for compiled code."""

    starts: IntArray  # of each unit, and the number of rows
    reward: FloatArray
    x: FloatArray  # rows times effects: what moves the mean
    pattern: IntArray  # which row of `seen` describes a row, for the chance that the story ends
    ended: IntArray  # 1 if the story ended after the row, 0 if not, -1 if nobody knows
    patience: FloatArray  # the chance that a story which goes on shows nothing more in the log
    seen: FloatArray  # patterns times effects
    levels: FloatArray  # of the grid
    z: FloatArray  # the same on the scale of the chance to leave
    basis: FloatArray  # levels times powers of z: the polynomial of the weights
    kind: int
    leaving: bool  # whether leaving is part of the likelihood

    @property
    def effects(self) -> int:
        """How many numbers move the mean."""
        return int(self.x.shape[1])

    @property
    def size(self) -> int:
        """How many parameters there are."""
        ends = self.seen.shape[1] + 1 if self.leaving else 0
        return int(self.effects + ends + self.basis.shape[1] + (self.kind == GAUSSIAN))


class Fitted(NamedTuple):
    """The parameters that fit best, and how sure they are."""

    parameters: FloatArray
    covariance: FloatArray
    likelihood: float  # its logarithm
    converged: bool

    def effect(self, place: int) -> tuple[float, float]:
        """An effect on the mean, and its standard error."""
        return float(self.parameters[place]), math.sqrt(max(0.0, self.covariance[place, place]))

    def wald(self, places: list[int]) -> float:
        """The p-value of these parameters being zero, by a chi-square test."""
        from scipy.stats import chi2

        chosen = np.asarray(places)
        values = self.parameters[chosen]
        block = self.covariance[np.ix_(chosen, chosen)]
        statistic = float(values @ np.linalg.pinv(block) @ values)
        return float(chi2.sf(statistic, len(places)))


def scores(parameters: FloatArray, data: Data) -> tuple[float, FloatArray]:
    """The logarithm of the likelihood, and each unit's gradient."""
    gradients = np.zeros((len(data.starts) - 1, len(parameters)))
    total = _compiled()(
        parameters,
        data.starts,
        data.reward,
        data.x,
        data.pattern,
        data.ended,
        data.patience,
        data.seen,
        data.levels,
        data.z,
        data.basis,
        data.kind,
        data.leaving,
        gradients,
    )
    return float(total), gradients


def fit(data: Data, start: FloatArray) -> Fitted:
    """The parameters of the highest likelihood, with their covariance."""
    return with_errors(search(data, start), data)


def search(data: Data, start: FloatArray) -> Fitted:
    """Maximise the likelihood; the covariance is left empty.

    Steps are those of Berndt, Hall, Hall and Hausman (1974), damped as Levenberg and Marquardt do:
    the sum of squared gradients stands for the curvature.
    """
    ridge = _penalties(data)
    parameters = start.copy()
    value, gradients = _penalised(parameters, data, ridge)
    damping, converged = 1e-3, False
    for _ in range(_STEPS):
        gradient = gradients.sum(axis=0) - ridge * parameters
        square = gradients.T @ gradients + np.diag(ridge)
        scale = np.diag(np.diag(square)) + 1e-9 * np.eye(len(square))
        step = np.linalg.solve(square + damping * scale, gradient)
        if float(gradient @ step) < _CLOSE:
            converged = True
            break
        tried = parameters + np.clip(step, -2.0, 2.0)
        found, further = _penalised(tried, data, ridge)
        if found > value and math.isfinite(found):
            parameters, value, gradients = tried, found, further
            damping = max(1e-9, damping / 5.0)
        else:
            damping = max(1e-3, damping * 8.0)
            if damping > 1e8:
                break
    return Fitted(parameters, np.zeros((0, 0)), value, converged)


def _penalties(data: Data) -> FloatArray:
    ridge = np.zeros(data.size)
    first = data.size - data.basis.shape[1] - int(data.kind == GAUSSIAN)
    ridge[first : first + data.basis.shape[1]] = _RIDGE
    if data.leaving:
        ridge[first - 1] = _ON_LEVEL
    return ridge


def _penalised(parameters: FloatArray, data: Data, ridge: FloatArray) -> tuple[float, FloatArray]:
    value, gradients = scores(parameters, data)
    return value - 0.5 * float(ridge @ (parameters * parameters)), gradients


def with_errors(found: Fitted, data: Data) -> Fitted:
    """The same with its covariance: a sandwich, curvature by differences of the gradient."""
    parameters, ridge = found.parameters, _penalties(data)
    curvature = np.zeros((data.size, data.size))
    for place in range(data.size):
        width = 1e-4 * max(1.0, abs(parameters[place]))
        ends = []
        for sign in (1.0, -1.0):
            moved = parameters.copy()
            moved[place] += sign * width
            ends.append(scores(moved, data)[1].sum(axis=0))
        curvature[place] = (ends[1] - ends[0]) / (2.0 * width)
    curvature = 0.5 * (curvature + curvature.T) + np.diag(ridge)
    gradients = scores(parameters, data)[1]
    units = len(gradients)
    middle = gradients.T @ gradients * (units / max(1.0, units - data.size))  # few units: wider
    inverse = np.linalg.pinv(curvature, hermitian=True)
    return found._replace(covariance=inverse @ middle @ inverse)


@functools.cache
def _compiled() -> Any:
    import numba

    return numba.njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})(_scores)


def _scores(
    parameters: Any,
    starts: Any,
    reward: Any,
    x: Any,
    pattern: Any,
    ended: Any,
    patience: Any,
    seen: Any,
    levels: Any,
    z: Any,
    basis: Any,
    kind: int,
    leaving: bool,
    gradients: Any,
) -> float:
    """Fill each unit's gradient; return the sum of the logarithms of their likelihoods."""
    nodes, effects, powers = len(levels), x.shape[1], basis.shape[1]
    ends = seen.shape[1]
    first_weight = effects + (ends + 1 if leaving else 0)
    sigma = math.exp(parameters[first_weight + powers]) if kind == 1 else 1.0

    weights = np.zeros(nodes)  # logarithms, first
    for j in range(nodes):
        for m in range(powers):
            weights[j] += basis[j, m] * parameters[first_weight + m]
    highest = weights.max()
    total = 0.0
    for j in range(nodes):
        total += math.exp(weights[j] - highest)
    for j in range(nodes):
        weights[j] -= highest + math.log(total)
    centre = np.zeros(powers)
    for j in range(nodes):
        for m in range(powers):
            centre[m] += math.exp(weights[j]) * basis[j, m]

    patterns = len(seen) if leaving else 0
    stays = np.zeros((patterns, nodes))  # logarithms of the chances to stay
    chance = np.zeros((patterns, nodes))
    for c in range(patterns):
        eta = 0.0
        for q in range(ends):
            eta += seen[c, q] * parameters[effects + q]
        for j in range(nodes):
            full = eta + parameters[effects + ends] * z[j]
            full = min(30.0, max(-30.0, full))
            stays[c, j] = -math.log1p(math.exp(full))
            chance[c, j] = math.exp(full + stays[c, j])

    log_likelihood = 0.0
    likely = np.zeros(nodes)
    product = np.zeros(nodes)
    factors = np.zeros(0)
    for k in range(len(starts) - 1):
        begin, end = starts[k], starts[k + 1]
        if end - begin > len(factors):
            factors = np.zeros(2 * (end - begin))
        for j in range(nodes):
            likely[j] = weights[j]
            product[j] = 1.0
        common = 0.0
        for i in range(begin, end):
            linear = 0.0
            for q in range(effects):
                linear += x[i, q] * parameters[q]
            factor = math.exp(min(50.0, max(-50.0, linear)))
            factors[i - begin] = factor
            y = reward[i]
            if kind == 0:
                for j in range(nodes):
                    p = min(CAP, levels[j] * factor)
                    product[j] *= p if y > 0.5 else 1.0 - p
                if (i - begin) % 16 == 15:  # before the product is too small to be a number
                    for j in range(nodes):
                        likely[j] += math.log(max(product[j], 1e-300))
                        product[j] = 1.0
            else:
                common -= math.log(sigma)
                for j in range(nodes):
                    distance = (y - levels[j] * factor) / sigma
                    likely[j] -= 0.5 * distance * distance
            if leaving and ended[i] >= 0:
                c = pattern[i]
                if ended[i] == 0:
                    for j in range(nodes):
                        likely[j] += stays[c, j]
                else:
                    for j in range(nodes):
                        h = chance[c, j]
                        likely[j] += math.log(h + (1.0 - h) * patience[i])
        if kind == 0:
            for j in range(nodes):
                likely[j] += math.log(max(product[j], 1e-300))
        highest = likely.max()
        total = 0.0
        for j in range(nodes):
            likely[j] = math.exp(likely[j] - highest)
            total += likely[j]
        log_likelihood += highest + math.log(total) + common
        for j in range(nodes):
            likely[j] /= total  # from here on: how probable each level is for this key

        for j in range(nodes):
            for m in range(powers):
                gradients[k, first_weight + m] += likely[j] * (basis[j, m] - centre[m])
        for i in range(begin, end):
            y, factor = reward[i], factors[i - begin]
            slope, spread = 0.0, 0.0
            if kind == 0:
                for j in range(nodes):
                    p = levels[j] * factor
                    if p < CAP:
                        slope += likely[j] * (y - p) / (1.0 - p)
            else:
                for j in range(nodes):
                    mean = levels[j] * factor
                    distance = (y - mean) / sigma
                    slope += likely[j] * distance / sigma * mean
                    spread += likely[j] * (distance * distance - 1.0)
                gradients[k, first_weight + powers] += spread
            for q in range(effects):
                gradients[k, q] += slope * x[i, q]
            if leaving and ended[i] >= 0:
                c = pattern[i]
                plain, with_z = 0.0, 0.0
                for j in range(nodes):
                    h = chance[c, j]
                    rest = -likely[j] * h
                    if ended[i] == 1:
                        unseen = h + (1.0 - h) * patience[i]
                        rest = likely[j] * (1.0 - patience[i]) * h * (1.0 - h) / unseen
                    plain += rest
                    with_z += rest * z[j]
                for q in range(ends):
                    gradients[k, effects + q] += plain * seen[c, q]
                gradients[k, effects + ends] += with_z
    return log_likelihood
