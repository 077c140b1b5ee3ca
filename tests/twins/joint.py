"""Twin of the joint model of rewards and leaving: a sum over levels, a product over rows."""

import math
from collections.abc import Sequence
from typing import NamedTuple

MOST = 0.995  # no showing pays more surely


class Case(NamedTuple):
    """Units, each a list of rows, and the grid of levels."""

    units: list[list["Row"]]
    seen: list[list[float]]
    levels: list[float]
    z: list[float]
    basis: list[list[float]]
    binary: bool
    leaving: bool


class Row(NamedTuple):
    """A showing: its regressors, its reward, and whether the sequence ended after it."""

    x: list[float]
    reward: float
    pattern: int
    ended: int
    patience: float


class Parts(NamedTuple):
    """The parameters by name."""

    beta: Sequence[float]
    b: Sequence[float]
    b_z: float
    c: Sequence[float]
    sigma: float


def parts_of(parameters: Sequence[float], case: Case) -> Parts:
    """Effects, what was seen, the level, powers, and ln sigma, in this order."""
    left = list(parameters)
    beta = [left.pop(0) for _ in case.units[0][0].x]
    b: list[float] = []
    b_z = 0.0
    if case.leaving:
        b = [left.pop(0) for _ in case.seen[0]]
        b_z = left.pop(0)
    c = [left.pop(0) for _ in case.basis[0]]
    sigma = 1.0 if case.binary else math.exp(left.pop(0))
    assert not left
    return Parts(beta, b, b_z, c, sigma)


def dot(one: Sequence[float], other: Sequence[float]) -> float:
    """The sum of the products."""
    return math.fsum(a * b for a, b in zip(one, other, strict=True))


def weights(case: Case, parts: Parts) -> list[float]:
    """How many of the keys have each level."""
    raw = [math.exp(dot(parts.c, powers)) for powers in case.basis]
    return [one / math.fsum(raw) for one in raw]


def log_of_row(row: Row, j: int, case: Case, parts: Parts) -> float:
    """The logarithm of the chance of what a row paid, and of going or staying, at level j."""
    mean = case.levels[j] * math.exp(dot(row.x, parts.beta))
    if case.binary:
        p = min(MOST, mean)
        found = math.log(p if row.reward == 1.0 else 1.0 - p)
    else:
        found = -0.5 * ((row.reward - mean) / parts.sigma) ** 2 - math.log(parts.sigma)
    if case.leaving and row.ended >= 0:
        z = case.z[j]
        eta = dot(case.seen[row.pattern], parts.b) + parts.b_z * z
        h = 1.0 / (1.0 + math.exp(-eta))
        found += math.log(1.0 - h if row.ended == 0 else h + (1.0 - h) * row.patience)
    return found


def log_of_unit(rows: list[Row], case: Case, parts: Parts) -> float:
    """The logarithm of a unit's likelihood."""
    logs = [
        math.log(weight) + math.fsum(log_of_row(row, j, case, parts) for row in rows)
        for j, weight in enumerate(weights(case, parts))
    ]
    top = max(logs)
    return top + math.log(math.fsum(math.exp(one - top) for one in logs))


def log_likelihoods(parameters: Sequence[float], case: Case) -> list[float]:
    """The logarithm of each unit's likelihood."""
    parts = parts_of(parameters, case)
    return [log_of_unit(rows, case, parts) for rows in case.units]


def log_likelihood(parameters: Sequence[float], case: Case) -> float:
    """Of all units."""
    return math.fsum(log_likelihoods(parameters, case))


def slopes(parameters: Sequence[float], case: Case, step: float = 1e-4) -> list[list[float]]:
    """Each unit's derivatives by each parameter, by central differences of the fourth order."""
    found: list[list[float]] = [[] for _ in case.units]
    for place in range(len(parameters)):
        near = []
        for times in (-2, -1, 1, 2):
            moved = list(parameters)
            moved[place] += times * step
            near.append(log_likelihoods(moved, case))
        for unit, (a, b, c, d) in enumerate(zip(*near, strict=True)):
            found[unit].append((a - 8.0 * b + 8.0 * c - d) / (12.0 * step))
    return found
