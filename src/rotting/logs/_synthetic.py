"""Synthetic logs whose truth is known, to test a diagnosis, a fit or a replay on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rotting import _checks
from rotting.kernel.arrays import FloatArray
from rotting.logs._extra import polars

if TYPE_CHECKING:
    import polars as pl

TRUTHS = ("constant", "rested", "restless", "both", "recovering")
LEAVING = ("nobody", "rate", "failure", "success", "both", "first-success")
STARTS = ("staggered", "lockstep")
REWARDS = ("binary", "gaussian")

_BETA = (2.0, 6.0)  # the distribution of the keys' own rates
_ARRIVING, _CLOSED = 60.0, 75.0  # days in which sequences begin; the day on which the log ends
_CALENDAR_FALL = 0.5  # how far rewards fall with the calendar, from the first to the last day
_HALF_LIFE = 2.0  # days after which a showing counts half, where rewards recover with rest
_SPREAD = 1.3  # of the log of the days between two showings, whose median is one day
_SIGMA = 1.0  # of Gaussian rewards, whose level is 1


def synthetic(
    truth: str = "rested",
    leaving: str = "nobody",
    *,
    keys: int = 1500,
    exposures: int = 12,
    arms: int = 3,
    arms_per_key: int = 1,
    theta: float = 0.3,
    starts: str = "staggered",
    rewards: str = "binary",
    seed: int = 0,
) -> pl.DataFrame:
    """Simulate a log: columns key, arm, time, reward and propensity.

    Each key has its own rate, drawn from a Beta(2, 6) distribution, and is shown some of the arms,
    drawn at random. The arms' levels go from 1 down to 0.7; a mean is rate times level times what
    `truth` leaves of it.

    Args:
        truth: Why rewards fall. "constant": they do not. "rested": the n-th showing of an arm to a
            key pays n^-theta of the first. "restless": they fall by half from the first day to the
            last, whatever is shown. "both": the two together. "recovering": as "rested", but a
            showing counts half after two days.
        leaving: Which keys are not shown the arm again. "nobody": none leaves. "rate": keys leave
            by their own rate, those with a high one sooner. "failure" and "success": mostly after
            such a reward. "both": by rate and failure. "first-success": always after the
            first success, seldom before.
        keys: The number of keys.
        exposures: The most showings of an arm to a key.
        arms: The number of arms.
        arms_per_key: The number of arms that a key is shown.
        theta: The exponent of the fall.
        starts: "staggered": the first showing is on any of 60 days, days between showings vary, and
            the log ends on day 75. "lockstep": all begin on one day, with one showing a day.
        rewards: "binary", or "gaussian": real numbers around the same curves, four times as high.
        seed: The same seed gives the same log.

    Returns:
        A polars DataFrame in the order of time.

    Raises:
        ValueError: An argument has a value that is not allowed.
        ImportError: polars is not installed.

    >>> log = synthetic("constant", keys=10, seed=1)
    >>> log.columns, len(log)
    (['key', 'arm', 'time', 'reward', 'propensity'], 112)
    """
    _checks.choice("truth", truth, TRUTHS)
    _checks.choice("leaving", leaving, LEAVING)
    _checks.choice("starts", starts, STARTS)
    _checks.choice("rewards", rewards, REWARDS)
    keys = _checks.integer("keys", keys, least=1)
    exposures = _checks.integer("exposures", exposures, least=1)
    arms = _checks.integer("arms", arms, least=1)
    arms_per_key = _checks.integer("arms_per_key", arms_per_key, 1, arms)
    theta = _checks.number("theta", theta, least=0.0)
    generator = np.random.default_rng(_checks.integer("seed", seed, least=0))

    rates = generator.beta(*_BETA, keys)
    shown = _choices(generator, keys, arms, arms_per_key)
    key = np.repeat(np.arange(keys), arms_per_key)
    level = np.linspace(1.0, 0.7, arms)[shown]
    times = _times(generator, len(key), exposures, starts)
    span = float(exposures) if starts == "lockstep" else _CLOSED
    means = rates[key] * level
    still = np.ones(len(key), dtype=bool)
    columns: dict[str, list[Any]] = {name: [] for name in ("key", "arm", "time", "reward")}
    for n in range(exposures):
        day = times[:, n]
        still &= day <= span
        mean = means * _falls(truth, theta, times[:, : n + 1], span)
        reward = _rewards(generator, mean, rewards)
        rows = np.flatnonzero(still)
        for name, values in (("key", key), ("arm", shown), ("time", day), ("reward", reward)):
            columns[name].append(values[rows])
        still &= generator.random(len(key)) >= _leaving(leaving, rates[key], reward, rewards)
    found = {name: np.concatenate(parts) for name, parts in columns.items()}
    return _frame(found, 1.0 / arms)


def _choices(generator: np.random.Generator, keys: int, arms: int, each: int) -> Any:
    order = np.argsort(generator.random((keys, arms)), axis=1)
    return order[:, :each].ravel()


def _times(
    generator: np.random.Generator, sequences: int, exposures: int, starts: str
) -> FloatArray:
    """Days of showings: a row a sequence, a column an exposure."""
    if starts == "lockstep":
        return np.tile(np.arange(float(exposures)), (sequences, 1))
    gaps = np.exp(generator.normal(0.0, _SPREAD, (sequences, exposures)))
    gaps[:, 0] = generator.uniform(0.0, _ARRIVING, sequences)
    found: FloatArray = np.cumsum(gaps, axis=1)
    return found


def _falls(truth: str, theta: float, times: FloatArray, span: float) -> Any:
    """The factor on each sequence's rate at the last of these times."""
    n, now = times.shape[1], times[:, -1]
    left: Any = np.ones(len(times))
    if truth in ("rested", "both"):
        left = left * float(n) ** -theta
    if truth in ("restless", "both"):
        left = left * (1.0 - _CALENDAR_FALL * now / span)
    if truth == "recovering":
        remembered = np.sum(0.5 ** ((now[:, None] - times[:, :-1]) / _HALF_LIFE), axis=1)
        left = left * (1.0 + remembered) ** -theta
    return left


def _rewards(generator: np.random.Generator, mean: FloatArray, rewards: str) -> FloatArray:
    if rewards == "gaussian":
        return 4.0 * mean + generator.normal(0.0, _SIGMA, len(mean))
    return (generator.random(len(mean)) < mean).astype(np.float64)


def _leaving(leaving: str, rate: FloatArray, reward: FloatArray, rewards: str) -> Any:
    """The probability that each sequence ends after this showing."""
    success = reward == 1.0 if rewards == "binary" else reward > 1.0
    willing = np.log(rate / (1.0 - rate)) + 1.2  # about 0 for a key of middling rate
    if leaving == "rate":
        return 1.0 / (1.0 + np.exp(2.0 - 1.2 * willing))
    if leaving == "failure":
        return np.where(success, 0.03, 0.22)
    if leaving == "success":
        return np.where(success, 0.4, 0.05)
    if leaving == "both":
        return 1.0 / (1.0 + np.exp(2.2 - 1.0 * willing + np.where(success, 1.2, 0.0)))
    if leaving == "first-success":
        return np.where(success, 1.0, 0.05)
    return np.zeros(len(rate))


def _frame(columns: dict[str, Any], propensity: float) -> pl.DataFrame:
    pl = polars()
    order = np.argsort(columns["time"], kind="stable")
    micro = np.round(columns["time"][order] * 86_400e6).astype(np.int64)
    first = np.datetime64("2026-01-01T00:00:00", "us")
    return pl.DataFrame(
        {
            "key": pl.Series([f"u{number}" for number in columns["key"][order]]),
            "arm": pl.Series([f"arm {number}" for number in columns["arm"][order]]),
            "time": first + micro.astype("timedelta64[us]"),
            "reward": columns["reward"][order],
            "propensity": np.full(len(order), propensity),
        }
    )
