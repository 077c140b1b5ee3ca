"""A fitted log as a world to play in: models, a scenario, and a log drawn from the fit."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from rotting import _checks
from rotting.bandits import Arm, Audience, Bernoulli, Gaussian, Noise, Scenario
from rotting.kernel.arrays import FloatArray, IntArray
from rotting.logs._extra import polars
from rotting.models import Model

if TYPE_CHECKING:
    import polars as pl

    from rotting.logs._fits.fitted import Fit

_ALIKE = 0.05  # keys whose factors differ by less than this to each side are taken to be alike


def arm_models(fit: Fit) -> tuple[Model, ...]:
    """Each arm's curve as a model."""
    most = 1.0 if fit.rewards == "bernoulli" else math.inf
    return tuple(
        shape.model(min(float(amplitude), most), fit.longest)
        for amplitude, shape in zip(fit.fitted.amplitudes, fit.fitted.shapes, strict=True)
    )


def noise_of(fit: Fit) -> Noise:
    """Zeros and ones, or Gaussian rewards."""
    return Bernoulli() if fit.rewards == "bernoulli" else Gaussian(fit.sigma)


def factor_range(fit: Fit) -> tuple[float, float] | None:
    """A range of factors that spreads as keys do, as far as rates stay below 1 and none below 0."""
    half = min(math.sqrt(3.0) * fit.key_spread, 1.0)
    if fit.rewards == "bernoulli":
        half = min(half, 1.0 / min(float(fit.fitted.amplitudes.max()), 1.0) - 1.0)
    half = math.floor(1e4 * half) / 1e4  # downwards: no rate above 1 by rounding
    return None if half < _ALIKE else (1.0 - half, 1.0 + half)


def arrivals_of(fit: Fit, horizon: int) -> IntArray:
    """Whose decision each round is, as in the log, and again from its beginning."""
    order = np.argsort(fit.log.time, kind="stable")
    return np.resize(fit.log.key[order].astype(np.int64), horizon)


def scenario_of(fit: Fit, horizon: int | None) -> Scenario:
    """Arms, noise, horizon, and the audience if there are keys."""
    rounds = len(fit.log.key) if horizon is None else _checks.integer("horizon", horizon, 1)
    audience = None
    if fit.log.has_keys:
        audience = Audience(fit.log.keys, arrivals_of(fit, rounds), factor_range(fit))
    arms = [Arm(model) for model in arm_models(fit)]
    return Scenario(arms, noise_of(fit), rounds, name="fitted log", audience=audience)


def simulated(fit: Fit, seed: int) -> pl.DataFrame:
    """Rows as in the log, in the order of time, rewards drawn anew.

    Keys get factors anew, from all that keys have: who leaves when is as in the log, and has
    nothing to do with what is drawn here.
    """
    generator = np.random.default_rng(_checks.integer("seed", seed, least=0))
    log = fit.log
    factors = generator.choice(fit.factors.values, max(log.keys, 1), p=fit.factors.weights)
    n, place = np.unique(log.exposure, return_inverse=True)
    mean = fit.fitted.means(n)[log.arm, place] * factors[log.key]
    if fit.rewards == "bernoulli":
        reward = (generator.random(len(mean)) < mean).astype(np.float64)
    else:
        reward = generator.normal(mean, fit.sigma)
    reward[np.isnan(log.reward)] = np.nan
    return _frame(fit, reward)


def _frame(fit: Fit, reward: FloatArray) -> pl.DataFrame:
    pl = polars()
    log = fit.log
    order = np.argsort(log.time, kind="stable")
    columns: dict[str, Any] = {}
    if log.has_keys:
        columns["key"] = log.key[order]
    columns["arm"] = np.array(log.arms, dtype=object)[log.arm[order]].tolist()
    if log.has_times:
        first = np.datetime64("2026-01-01T00:00:00", "us")
        micro = np.round(log.time[order] * 86_400e6).astype(np.int64)
        columns["time"] = first + micro.astype("timedelta64[us]")
    columns["reward"] = reward[order]
    if "exposure" in log.columns:
        columns["exposure"] = log.exposure[order]
    frame = pl.DataFrame(columns)
    return frame.with_columns(pl.col("reward").fill_nan(None))
