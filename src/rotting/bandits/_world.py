"""A scenario as arrays: the tables of means and the bandits that engines read."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rotting._cache import BoundedCache
from rotting.kernel.arrays import FloatArray, IntArray
from rotting.models import Model
from rotting.models._base import uncached_table

NUMBER = 8  # bytes of a float


class World(NamedTuple):
    """A scenario as arrays, the form in which engines read it.

    Means are kept once per distinct model, never per run and arm that share it.

    Attributes:
        means: [model, n - 1].
        sums: [model, n], the sum of the first n means.
        sigma: [n - 1], or one value for all pulls.
        noise: The kind of noise, as a number.
        edge: Right edges of the ziggurat's layers (`rotting.kernel.random`).
        height: The normal density at these edges, up to its factor.
    """

    means: FloatArray
    sums: FloatArray
    sigma: FloatArray
    noise: int
    edge: FloatArray
    height: FloatArray


class Bandits(NamedTuple):
    """The bandits of a range of runs, in terms of the tables of a `World`.

    Attributes:
        models: [run, arm], the row of the tables.
        constants: [run, arm], the arm's constant.
    """

    models: IntArray
    constants: FloatArray


Tables = tuple[FloatArray, FloatArray]


def _size(tables: Tables) -> int:
    return sum(array.nbytes for array in tables)


_TABLES = BoundedCache[Tables](most=1 << 28, size=_size)


def world_tables(models: tuple[Model, ...], horizon: int) -> Tables:
    """Means [model, n - 1] and their running sums [model, n] up to the horizon, cached.

    Args:
        models: Different models.
        horizon: The number of pulls.

    Returns:
        The two arrays.

    >>> from rotting.models import Constant
    >>> means, sums = world_tables((Constant(0.5),), horizon=2)
    >>> means, sums
    (array([[0.5, 0.5]]), array([[0. , 0.5, 1. ]]))
    """
    found = _TABLES.find((models, horizon))
    if found is None:
        found = _tables(np.stack([model.table(horizon) for model in models]))
        _TABLES.keep((models, horizon), found)
    return found


def chunk_tables(models: tuple[Model, ...], horizon: int) -> Tables:
    """Means and sums as `world_tables`, for models that no other chunk has: nothing is cached."""
    means = np.empty((len(models), horizon))
    for row, model in zip(means, models, strict=True):
        row[:] = uncached_table(model, horizon)
    return _tables(means)


def chunk_bytes(models: int, horizon: int) -> int:
    """The memory of tables, means and sums, for a number of models."""
    return models * (2 * horizon + 1) * NUMBER


def _tables(means: FloatArray) -> Tables:
    return means, np.pad(running_sums(means), ((0, 0), (1, 0)))


_BLOCK = 1 << 14  # numbers worked on at a time, to bound temporary memory


def running_sums(values: FloatArray) -> FloatArray:
    """Running sums along the last axis, each correct to its last bit or two.

    Plain running sums drift: a million times 0.1 is off by 1e-6, and so would be the regret of an
    optimal policy. The rounding error of each addition follows exactly from its result (Knuth's
    TwoSum); the running sum of these errors is added back.

    >>> bool(np.cumsum(np.full(1000, 0.1))[-1] == 100.0)
    False
    >>> bool(running_sums(np.full(1000, 0.1))[-1] == 100.0)
    True
    """
    sums: FloatArray = np.cumsum(values, axis=-1)
    length = max(1, sums.shape[-1])
    rows, given = sums.reshape(-1, length), np.reshape(values, (-1, length))
    many = max(1, _BLOCK // length)
    for top in range(0, len(rows), many):
        last = np.zeros((len(rows[top : top + many]), 1))
        back = np.zeros_like(last)  # the sum of all rounding errors so far
        for start in range(0, length, _BLOCK):
            here = slice(top, top + many), slice(start, start + _BLOCK)
            after = rows[here]
            before = np.hstack([last, after[:, :-1]])
            last = after[:, -1:].copy()
            added = after - before  # the number that was added, after rounding
            lost = (before - (after - added)) + (given[here] - added)
            lost[:, :1] += back
            np.cumsum(lost, axis=-1, out=lost)
            back = lost[:, -1:].copy()
            after += lost
    return sums
