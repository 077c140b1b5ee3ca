"""Keys differ: some click more than others, on anything. Their factors are learnt by EM.

A reward of key k has mean u times the curve, u the key's factor. Nothing is assumed of how factors
are spread but a grid of values: the weights are the likeliest ones. Those who leave early count by
what their rewards were while they stayed. That is right if they leave by what was seen of them,
their rewards among it; not if they leave by what their factor is and no reward shows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from rotting.kernel.arrays import FloatArray
from rotting.logs._fits.likelihood import HIGHEST, Cells
from rotting.logs._fits.rows import Rows

_VALUES = 12  # of factors
_FIRST_ROUNDS = 40  # of EM, at most
_TOLERANCE = 1e-4  # of the log-likelihood a key, at which it ends


@dataclass(frozen=True, eq=False)
class Factors:
    """What keys may be multiplied with, how many have it, and sigma of real rewards.

    `posterior` is [group, value]: how likely each key has each.
    """

    values: FloatArray
    weights: FloatArray
    posterior: FloatArray
    sigma: float | None = None

    @property
    def spread(self) -> float:
        """The standard deviation of keys' factors, whose mean is 1."""
        mean = float(self.weights @ self.values)
        return float(np.sqrt(self.weights @ (self.values - mean) ** 2)) / mean


def alike(rows: Rows, sigma: float | None) -> Factors:
    """All keys have the factor 1."""
    return Factors(np.ones(1), np.ones(1), np.ones((rows.groups, 1)), sigma)


def row_values(rows: Rows, means: FloatArray, factors: Factors) -> FloatArray:
    """The log-likelihood of each row with each factor, [row, value]; means as [arm, cell]."""
    mean = (means[rows.arm, rows.cell] * rows.unit)[:, None] * factors.values
    if factors.sigma is None:
        np.minimum(mean, HIGHEST, out=mean)
        np.maximum(mean, 1e-12, out=mean)
        paid = rows.reward[:, None]
        if ((rows.reward == 0.0) | (rows.reward == 1.0)).all():
            single = np.log(np.where(paid == 1.0, mean, 1.0 - mean))
            return np.asarray(rows.weight[:, None] * single)
        several = paid * np.log(mean) + (1.0 - paid) * np.log1p(-mean)
        return np.asarray(rows.weight[:, None] * several)
    off = ((rows.reward[:, None] - mean) / factors.sigma) ** 2
    found = rows.weight[:, None] * (off + np.log(2.0 * np.pi * factors.sigma**2))
    return np.asarray(-0.5 * (found + rows.scatter[:, None] / factors.sigma**2))


def group_values(rows: Rows, means: FloatArray, factors: Factors) -> FloatArray:
    """Each group's log-likelihood, its factor unknown."""
    if len(factors.values) == 1:
        return rows.by_group(row_values(rows, means, factors))[:, 0]
    return _posterior(rows, means, factors)[1]


def _posterior(rows: Rows, means: FloatArray, factors: Factors) -> tuple[FloatArray, FloatArray]:
    """How likely each factor is, and the log-likelihood, of each group."""
    joint = rows.by_group(row_values(rows, means, factors))
    joint += np.log(np.maximum(factors.weights, 1e-300))
    most = joint.max(axis=1, keepdims=True)
    joint = np.exp(joint - most)
    mass = joint.sum(axis=1, keepdims=True)
    return joint / mass, (most + np.log(mass))[:, 0]


def expect(rows: Rows, means: FloatArray, factors: Factors) -> tuple[Factors, float]:
    """EM's first half, and of its second weights and sigma: what these means say of keys."""
    posterior, value = _posterior(rows, means, factors)
    found = replace(factors, posterior=posterior, weights=posterior.mean(axis=0))
    if factors.sigma is not None:
        mean = (means[rows.arm, rows.cell] * rows.unit)[:, None] * factors.values
        off = posterior[rows.group] * (rows.reward[:, None] - mean) ** 2
        sigma = np.sqrt(float(rows.weight @ off.sum(axis=1)) / rows.weight.sum())
        found = replace(found, sigma=max(float(sigma), 1e-12))
    return found, float(value.mean())


def sums(rows: Rows, factors: Factors, where: FloatArray | None = None) -> Cells:
    """Sums over cells by factor; `where` marks the rows that count."""
    shape = (rows.arms, len(rows.nodes), len(factors.values))
    count, total, unit = np.zeros(shape), np.zeros(shape), np.ones(shape)
    known = rows.by_cell(rows.weight, where)
    offset = rows.by_cell(rows.weight * rows.unit, where) / np.maximum(known, 1e-300)
    for j, value in enumerate(factors.values):
        share = rows.weight * factors.posterior[rows.group, j]
        count[:, :, j] = rows.by_cell(share, where)
        total[:, :, j] = rows.by_cell(share * rows.reward, where)
        unit[:, :, j] = value * np.where(known > 0.0, offset, 1.0)
    return Cells(count, total, unit, factors.sigma)


def learn_factors(rows: Rows, sigma: float | None) -> Factors:
    """EM with a free curve: each arm has a level, each exposure what is left of it."""
    flat = sums(rows, alike(rows, sigma))
    level = np.maximum(flat.total.sum((1, 2)) / np.maximum(flat.count.sum((1, 2)), 1e-300), 0.0)
    level = np.where(level > 0.0, level, max(flat.overall, 1e-300))
    expected = rows.by_group(rows.weight * level[rows.arm] * rows.unit)
    ratios = rows.by_group(rows.weight * rows.reward) / expected
    highest = float(np.clip(np.quantile(ratios, 0.995), 3.0, 20.0))
    if rows.binary:
        highest = min(highest, 1.0 / float(level.min()))
    values = highest * ((np.arange(_VALUES) + 0.5) / _VALUES) ** 1.5
    weights = np.exp(-0.5 * (values - 1.0) ** 2)
    factors = Factors(values, weights / weights.sum(), np.zeros((rows.groups, _VALUES)), sigma)
    left = np.ones(len(rows.nodes))
    before = -np.inf
    for _ in range(_FIRST_ROUNDS):
        factors, value = expect(rows, level[:, None] * left, factors)
        level, left = _free(sums(rows, factors), level, left)
        if value - before < _TOLERANCE:
            break
        before = value
    return factors


def _free(cells: Cells, level: FloatArray, left: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Levels and what is left, a step nearer to the likeliest."""

    def step(by_arm: bool) -> FloatArray:
        mean = level[:, None, None] * left[None, :, None] * cells.unit
        if cells.sigma is None:
            mean = np.minimum(mean, HIGHEST)
            slope, bend = (cells.total - cells.count * mean) / (1.0 - mean), mean / (1.0 - mean)
        else:
            slope, bend = (cells.total - cells.count * mean) * mean, mean**2
        over = (1, 2) if by_arm else (0, 2)
        up = slope.sum(over) / np.maximum((cells.count * bend).sum(over), 1e-300)
        found: FloatArray = np.exp(np.clip(up, -0.5, 0.5))
        return found

    level = level * step(by_arm=True)
    left = left * step(by_arm=False)
    return level * left[0], left / left[0]


def centred(factors: Factors) -> tuple[Factors, float]:
    """Factors whose mean is 1, and what they were divided by: levels are multiplied with it."""
    mean = float(factors.weights @ factors.values)
    return replace(factors, values=factors.values / mean), mean
