"""The shape of the fall: what each showing is worth of the first, for all arms and for each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from rotting.kernel.arrays import FloatArray, IntArray
from rotting.logs._diagnosis import joint
from rotting.logs._diagnosis.cost import fall
from rotting.logs._diagnosis.stories import Stories, calendar_effects, model_data, start_of
from rotting.stats import holm

_CELLS = (1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 257, 513, 1025, 4097, 16385)
_LEAST_ROWS = 60  # of a cell; smaller ones join the one before
_DRAWS = 400
_ONE_SIDED, _TWO_SIDED = 1.645, 1.96
ARMS = 12  # arms whose own shape is shown: those shown most
_ARM_ROWS, _ARM_UNITS = 300, 30
ARMS_NOTE = (
    "Each arm by a fall as n^-theta in its own rows, with 95 % intervals; the verdicts are "
    "corrected for how many arms there are. Arms with few rows are left out."
)


class Shape(NamedTuple):
    """What showings are worth of the first, by cells of their numbers.

    numbers    the first showing of each cell
    worth      the isotonic estimate, 1 for the first cell
    low, high  a 95 % band around it
    raw        means of the rewards in the log, whoever was still there, over the first cell's
    rows       how many rows each cell has
    theta      of an arm: the n-th showing is worth n^-theta of the first, with its error
    most       the upper 95 % limit of its mean fall over the arm's showings
    """

    name: str
    numbers: IntArray
    worth: FloatArray
    low: FloatArray
    high: FloatArray
    raw: FloatArray
    rows: IntArray
    level: float
    family: str
    about: str
    theta: float = 0.0
    error: float = 0.0
    most: float = 1.0

    def at(self, showing: int) -> float:
        """What this showing is worth of the first."""
        return float(self.worth[np.searchsorted(self.numbers, showing, side="right") - 1])

    def as_data(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "name": self.name,
            "numbers": self.numbers.tolist(),
            "worth": self.worth.tolist(),
            "low": self.low.tolist(),
            "high": self.high.tolist(),
            "raw": self.raw.tolist(),
            "rows": self.rows.tolist(),
            "level": self.level,
            "family": self.family,
        }


def by_arm(drawn: Sequence[Shape], smallest: float, alpha: float) -> list[dict[str, Any]]:
    """Of each arm what a showing is worth that all of them have, and whether it wears out.

    By a fall as n^-theta in the joint model of the arm's own rows: "yes" if it is shown, at level
    `alpha` for all arms together (Holm), and "no" if one of `smallest` over its showings is
    excluded.
    """
    arms = [one for one in drawn[1:] if len(one.numbers) > 1 and one.error > 0.0]
    if not arms:
        return []
    common = min(int(one.numbers[-1]) for one in arms)
    p_values = holm([float(norm_sf(one.theta / one.error)) for one in arms])
    found = []
    for one, p_value in zip(arms, p_values, strict=True):
        ends = (one.theta, one.theta + _TWO_SIDED * one.error, one.theta - _TWO_SIDED * one.error)
        worth, low, high = (float(common**-end) for end in ends)
        wears = "yes" if p_value < alpha else "no" if one.most < smallest else "cannot tell"
        row = {"arm": one.name, "showings": int(one.rows.sum()), "first": one.level}
        found.append(
            {**row, "at": common, "worth": worth, "low": low, "high": high, "wears": wears}
        )
    return found


def norm_sf(value: float) -> float:
    """The chance of a standard normal number above this."""
    return 0.5 * math.erfc(value / math.sqrt(2.0))


def shapes(stories: Stories, *, calendar: bool, seed: int) -> list[Shape]:
    """The shape over all arms, then that of each of the arms shown most, where rows suffice."""
    found = [_shape(stories, "all arms", calendar, seed)]
    log = stories.log
    counts = np.bincount(log.arm, minlength=len(log.arms))
    if np.count_nonzero(counts) < 2:
        return found
    for arm in np.argsort(-counts, kind="stable")[:ARMS]:
        part = only_arm(stories, int(arm))
        if counts[arm] >= _ARM_ROWS and part.units >= _ARM_UNITS and part.log.exposure.max() > 1:
            drawn = _shape(part, log.arms[arm], calendar, seed)
            theta, error, most = _steepness(part, calendar)
            found.append(drawn._replace(theta=theta, error=error, most=most))
    return found


def _steepness(part: Stories, calendar: bool) -> tuple[float, float, float]:
    """theta of an arm's own rows by the joint model, its error, and the most it may fall."""
    data = model_data(part, part.log_exposure, calendar=calendar)
    theta, error = joint.fit(data, start_of(data)).effect(0)
    return theta, error, fall(part.log_exposure, theta + _ONE_SIDED * error)


def only_arm(stories: Stories, arm: int) -> Stories:
    """The rows of one arm."""
    rows = stories.log.arm == arm
    unit = np.searchsorted(stories.starts, np.flatnonzero(rows), side="right")
    starts = np.flatnonzero(np.concatenate(([True], np.diff(unit) != 0)))
    return Stories(
        stories.log.only(rows),
        np.append(starts, int(rows.sum())).astype(np.int64),
        stories.log_exposure[rows],
        stories.gap[rows],
        stories.calendar[rows],
        stories.ended[rows],
        stories.patience[rows],
        stories.memory._replace(known=stories.memory.known[rows]),
    )


def cells_of(exposure: Any) -> tuple[IntArray, IntArray]:
    """The first number of each cell, all with enough rows, and each row's cell."""
    edges = [1]
    for edge in _CELLS[1:]:
        if np.count_nonzero((exposure >= edges[-1]) & (exposure < edge)) >= _LEAST_ROWS:
            edges.append(edge)
    while len(edges) > 1 and np.count_nonzero(exposure >= edges[-1]) < _LEAST_ROWS:
        edges.pop()
    numbers = np.asarray(edges, dtype=np.int64)
    return numbers, np.searchsorted(numbers, exposure, side="right") - 1


def _shape(stories: Stories, name: str, calendar: bool, seed: int) -> Shape:
    from scipy.optimize import isotonic_regression

    log = stories.log
    numbers, cell = cells_of(log.exposure)
    rows = np.bincount(cell, minlength=len(numbers))
    sums = np.bincount(cell, log.reward, minlength=len(numbers))
    means = sums / np.maximum(rows, 1)
    level = float(means[0])
    raw = means / level if level != 0.0 else np.full(len(means), math.nan)
    effects = np.zeros(len(numbers) - 1)
    covariance = np.zeros((len(effects), len(effects)))
    if len(effects):
        data = model_data(stories, stories.log_exposure, calendar=False)
        columns = [(cell == c).astype(np.float64) for c in range(1, len(numbers))]
        columns += calendar_effects(stories) if calendar else []
        others = data.x[:, 1:]
        x = np.concatenate([np.stack(columns, axis=1), others], axis=1)
        data = data._replace(x=np.ascontiguousarray(x))
        fitted = joint.fit(data, start_of(data))
        effects = fitted.parameters[: len(effects)]
        covariance = fitted.covariance[: len(effects), : len(effects)]
    weights = rows.astype(np.float64)
    worth = _falling(np.exp(np.append(0.0, effects)), weights, isotonic_regression)
    generator = np.random.default_rng(seed)
    drawn = np.zeros((_DRAWS, 0))  # where there is one cell only
    if len(effects):
        drawn = generator.multivariate_normal(effects, covariance, _DRAWS, check_valid="ignore")
    curves = np.exp(np.concatenate([np.zeros((_DRAWS, 1)), np.clip(drawn, -20, 20)], axis=1))
    falling = np.stack([_falling(curve, weights, isotonic_regression) for curve in curves])
    low, high = np.quantile(falling, [0.025, 0.975], axis=0)
    family, about = _family(numbers, rows, cell, log.exposure, effects, covariance)
    return Shape(name, numbers, worth, low, high, raw, rows, level, family, about)


def _falling(curve: FloatArray, weights: FloatArray, regression: Any) -> FloatArray:
    """The nearest curve that begins at one and never rises."""
    found = regression(np.minimum(curve, 1e6), weights=weights, increasing=False).x
    return np.asarray(np.minimum(found / max(found[0], 1e-12), 1.0))


def _family(
    numbers: IntArray,
    rows: IntArray,
    cell: IntArray,
    exposure: Any,
    effects: FloatArray,
    covariance: FloatArray,
) -> tuple[str, str]:
    """The simplest family that explains the cells, by generalised least squares and Akaike."""
    if not len(effects):
        return "unknown", "there is only one cell of showings"
    from scipy.optimize import minimize

    middles = np.bincount(cell, exposure, minlength=len(numbers)) / np.maximum(rows, 1)
    inverse = np.linalg.pinv(covariance + 1e-8 * np.eye(len(effects)), hermitian=True)

    def misfit(curve: FloatArray) -> float:
        rest = effects - np.log(np.maximum(curve[1:] / curve[0], 1e-6))
        return float(rest @ inverse @ rest)

    def power(p: FloatArray) -> FloatArray:
        return np.asarray(middles ** -abs(p[0]))

    def exponential(p: FloatArray) -> FloatArray:
        floor = 1.0 / (1.0 + math.exp(-float(np.clip(p[1], -30.0, 30.0))))
        speed = math.exp(float(np.clip(p[0], -20.0, 5.0)))
        return np.asarray(floor + (1.0 - floor) * np.exp(-speed * (middles - 1.0)))

    found = {"constant": (misfit(np.ones(len(middles))), 0.0, "it does not fall")}
    best = minimize(lambda p: misfit(power(p)), np.array([0.2]), method="Nelder-Mead")
    theta = abs(float(best.x[0]))
    found["power"] = (float(best.fun), 2.0, f"gradually (n^-{theta:.2f} sums it up)")
    tries = [
        minimize(lambda p: misfit(exponential(p)), np.array(start), method="Nelder-Mead")
        for start in ([-1.0, -1.0], [-3.0, -1.0])
    ]
    best = min(tries, key=lambda one: float(one.fun))
    ends = exponential(best.x)
    words = f"exponentially, to {100.0 * ends[-1]:.0f} % by showing {int(middles[-1])}"
    found["exponential"] = (float(best.fun), 4.0, words)
    for at in range(1, len(numbers)):
        after = np.arange(len(numbers)) >= at

        def step(p: FloatArray, after: Any = after) -> FloatArray:
            return np.where(after, min(1.0, math.exp(float(p[0]))), 1.0)

        one = minimize(lambda p, step=step: misfit(step(p)), np.array([-0.3]), method="Nelder-Mead")
        left = min(1.0, math.exp(float(one.x[0])))
        words = f"in one step, to {100.0 * left:.0f} % from showing {numbers[at]} on"
        if "step" not in found or float(one.fun) < found["step"][0]:
            found["step"] = (float(one.fun), 4.0, words)
    name = min(found, key=lambda key: found[key][0] + found[key][1])
    return name, found[name][2]
