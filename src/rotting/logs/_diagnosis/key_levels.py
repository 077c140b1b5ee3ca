"""Which level each key has, by the joint model: for fits that must not take leavers for falls."""

from __future__ import annotations

import math

import numpy as np

from rotting.kernel.arrays import FloatArray
from rotting.logs._diagnosis import joint
from rotting.logs._diagnosis.stories import exposure_effect, model_data, start_of, stories_of
from rotting.logs._log import Log

_CELLS = 20_000_000  # rows times levels that are worked on at once


def key_levels(log: Log, seed: int = 0) -> tuple[FloatArray, FloatArray] | None:
    """Levels that keys may have, as factors around 1, and how likely each key has each.

    None where nobody leaves, or where levels may be negative: then leaving bends no curve, or
    levels are no factors. With very many keys the model is fitted to a random sample of them.
    """
    settled = log.only(log.settled)
    part = stories_of(settled, seed)
    data = model_data(part, exposure_effect(part), calendar=log.has_times)
    if not data.leaving or data.levels.min() < 0.0:
        return None
    fitted = joint.search(data, start_of(data))
    whole = stories_of(settled, seed, most=log.keys)
    asked = model_data(whole, exposure_effect(whole), calendar=log.has_times)
    asked = asked._replace(levels=data.levels, z=data.z, basis=data.basis)
    prior = prior_of(data, fitted.parameters)
    found = np.tile(prior, (log.keys, 1))
    found[whole.log.key[whole.starts[:-1]]] = posteriors(fitted.parameters, asked, prior)
    mean = float(prior @ data.levels)
    return data.levels / mean, found


def posteriors(parameters: FloatArray, data: joint.Data, prior: FloatArray) -> FloatArray:
    """How likely each unit has each level, by what it was paid and when it left."""
    units, nodes = len(data.starts) - 1, len(data.levels)
    found = np.zeros((units, nodes))
    rows = max(1, _CELLS // nodes)
    begin = 0
    while begin < units:
        end = int(np.searchsorted(data.starts, data.starts[begin] + rows, side="right")) - 1
        end = min(units, max(end, begin + 1))
        part = slice(int(data.starts[begin]), int(data.starts[end]))
        likely = _rewards(parameters, data, part)
        if data.leaving:
            likely = likely + _leaving(parameters, data, part)
        starts = data.starts[begin:end] - data.starts[begin]
        sums = np.add.reduceat(likely, starts, axis=0) + np.log(np.maximum(prior, 1e-300))
        sums = np.exp(sums - sums.max(axis=1, keepdims=True))
        found[begin:end] = sums / sums.sum(axis=1, keepdims=True)
        begin = end
    return found


def prior_of(data: joint.Data, parameters: FloatArray) -> FloatArray:
    """How likely each level is for any key, by the fitted parameters."""
    first = data.size - data.basis.shape[1] - int(data.kind == joint.GAUSSIAN)
    powers = data.basis @ parameters[first : first + data.basis.shape[1]]
    found = np.exp(powers - powers.max())
    return np.asarray(found / found.sum())


def _rewards(parameters: FloatArray, data: joint.Data, part: slice) -> FloatArray:
    """Logarithms of the likelihood of rewards, rows times levels."""
    factor = np.exp(np.clip(data.x[part] @ parameters[: data.effects], -50.0, 50.0))
    means = factor[:, None] * data.levels
    reward = data.reward[part, None]
    if data.kind == joint.BINARY:
        chance = np.minimum(joint.CAP, means)
        return np.log(np.where(reward > 0.5, chance, 1.0 - chance))
    sigma = math.exp(parameters[-1])
    return np.asarray(-0.5 * ((reward - means) / sigma) ** 2)


def _leaving(parameters: FloatArray, data: joint.Data, part: slice) -> FloatArray:
    first, columns = data.effects, data.seen.shape[1]
    by_level = parameters[first + columns] * data.z
    seen = data.seen @ parameters[first : first + columns]
    eta = np.clip(seen[data.pattern[part], None] + by_level, -30.0, 30.0)
    leaves = 1.0 / (1.0 + np.exp(-eta))
    unseen = leaves + (1.0 - leaves) * data.patience[part, None]
    told = np.where(data.ended[part, None] == 1, np.log(unseen), np.log1p(-leaves))
    return np.where(data.ended[part, None] >= 0, told, 0.0)
