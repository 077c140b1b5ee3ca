"""Likelihoods of an amplitude times a shape, from sums over cells of exposure and key factor.

What a cell holds is enough: how many rewards, and their sum. So a fit costs the same for a thousand
rows and for ten million.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rotting.kernel.arrays import FloatArray

_STEPS = 40  # of Newton's method, at most
HIGHEST = 1.0 - 1e-3  # click rate: factors of keys may come to more, which is then cut
SMALLEST = 1e-9  # an amplitude, relative to the mean of all rewards


@dataclass(frozen=True, eq=False)
class Cells:
    """Sums over rows, as [arm, exposure, factor].

    count  rows, by weight
    total  the sum of their rewards
    unit   what an amplitude times a shape is multiplied with to give the mean
    sigma  of real rewards; None for zeros and ones
    """

    count: FloatArray
    total: FloatArray
    unit: FloatArray
    sigma: float | None = None

    @property
    def arms(self) -> int:
        """How many arms there are."""
        return int(self.count.shape[0])

    @property
    def overall(self) -> float:
        """The mean of all rewards."""
        return float(self.total.sum() / self.count.sum())

    def least(self) -> float:
        """The smallest amplitude that is allowed."""
        return SMALLEST * abs(self.overall) + 1e-300


def coarse(cells: Cells, parts: int = 4) -> Cells:
    """Cells of neighbouring factors put together: a little less exact, and quicker.

    For zeros and ones only, whose likelihood at low rates needs no more than that; that of real
    rewards needs squares of factors, and is quick anyway.
    """
    values = cells.unit.shape[2]
    if values <= parts or cells.sigma is not None:
        return cells
    starts = np.arange(parts) * values // parts
    count, total = (np.add.reduceat(x, starts, axis=2) for x in (cells.count, cells.total))
    unit = np.add.reduceat(cells.count * cells.unit, starts, axis=2)
    plain = np.add.reduceat(cells.unit, starts, axis=2) / np.diff(np.append(starts, values))
    unit = np.where(count > 0.0, unit / np.maximum(count, 1e-300), plain)
    return Cells(count, total, unit, cells.sigma)


def profile(cells: Cells, arm: int, tables: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The best amplitude of an arm with each of these shapes, and its log-likelihood.

    `tables` are shapes as [shape, exposure]. What does not depend on the curve is left out.

    >>> cells = Cells(np.array([[[10.0], [10.0]]]), np.array([[[4.0], [2.0]]]), np.ones((1, 2, 1)))
    >>> amplitude, value = profile(cells, 0, np.array([[1.0, 1.0], [1.0, 0.5]]))
    >>> amplitude.round(3).tolist(), value.round(2).tolist()
    ([0.3, 0.4], [-12.22, -11.73])
    """
    places = np.nonzero(cells.count[arm] > 0.0)
    count, total = cells.count[arm][places], cells.total[arm][places]
    shape = tables[:, places[0]] * cells.unit[arm][places]
    if not count.size:
        return np.full(len(tables), np.nan), np.zeros(len(tables))
    if cells.sigma is not None:
        squares, products = shape**2 @ count, shape @ total
        amplitude = np.maximum(products / squares, cells.least())
        value = (amplitude * products - 0.5 * amplitude**2 * squares) / cells.sigma**2
        return amplitude, value
    highest = HIGHEST / tables[:, places[0]].max(axis=1)
    return _bernoulli(count, total, shape, cells.least(), highest)


def _bernoulli(
    count: FloatArray, total: FloatArray, shape: FloatArray, least: float, highest: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The same for zeros and ones: Newton's method on the logarithm of the amplitude.

    The curve stays below 1; that of a key with a high factor is cut there.
    """
    failures = np.maximum(count - total, 0.0)
    amplitude = np.clip(total.sum() / (shape @ count), least, 0.9 * highest)
    for _ in range(_STEPS):
        rate = amplitude[:, None] * shape
        inside = rate < 1.0  # a rate that is cut does not change with the amplitude
        odds = np.where(inside, rate / (1.0 - np.minimum(rate, HIGHEST)), 0.0)
        slope = inside @ total - odds @ failures
        bend = (odds * (1.0 + odds)) @ failures
        step = np.clip(slope / np.maximum(bend, 1e-300), -1.0, 1.0)
        wanted = amplitude * np.exp(step)
        wanted = np.where(wanted > highest, 0.5 * (amplitude + highest), wanted)
        wanted = np.maximum(wanted, least)
        settled = np.abs(wanted / amplitude - 1.0).max() < 1e-5
        amplitude = wanted
        if settled:
            break
    rate = np.minimum(amplitude[:, None] * shape, HIGHEST)
    return amplitude, np.log(rate) @ total + np.log1p(-rate) @ failures


def information(cells: Cells, shapes: FloatArray, level: float) -> FloatArray:
    """How much each arm's cells say of its amplitude, near this level; shapes [arm, exposure]."""
    unit = shapes[:, :, None] * cells.unit
    if cells.sigma is not None:
        found: FloatArray = np.sum(cells.count * unit**2, axis=(1, 2)) / cells.sigma**2
        return found
    rate = np.minimum(level * unit, HIGHEST)
    return np.asarray(np.sum(cells.count * unit / (level * (1.0 - rate)), axis=(1, 2)))


def shrink(
    amplitudes: FloatArray, precision: FloatArray, least: float
) -> tuple[FloatArray, FloatArray]:
    """Amplitudes drawn towards what arms have in common, and how much of each is its own (0 to 1).

    How far arms differ is estimated from all (DerSimonian and Laird 1986), but is taken to be at
    least a twentieth of their level. An arm without rewards gets the common level.

    >>> shrink(np.array([0.1, 0.3]), np.array([1e6, 50.0]), 0.0)[0].round(2)
    array([0.1, 0.2])
    """
    seen = (precision > 0.0) & ~np.isnan(amplitudes)
    if seen.sum() < 2:
        common = float(amplitudes[seen][0]) if seen.any() else least
        return np.where(seen, amplitudes, common), np.where(seen, 1.0, 0.0)
    own, weight = amplitudes[seen], precision[seen]
    common = float(weight @ own / weight.sum())
    scatter = float(weight @ (own - common) ** 2) - (len(own) - 1)
    between = scatter / (weight.sum() - (weight**2).sum() / weight.sum())
    between = max(between, (0.05 * common) ** 2, 1e-300)
    shared = 1.0 / (between + 1.0 / weight)
    common = float(shared @ own / shared.sum())
    part = np.where(seen, precision * between / (1.0 + precision * between), 0.0)
    found = common + part * (np.where(seen, amplitudes, common) - common)
    return np.maximum(found, least), part
