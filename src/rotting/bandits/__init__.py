"""Bandits and scenarios: arms that rot, the noise on their rewards, and where they come from.

A *scenario* is a distribution over bandits plus a horizon; every run plays a fresh bandit of it.
The bandits depend on the seed and the run only, never on the policy that plays them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rotting import checks, plain, random
from rotting.arrays import FloatArray as FloatArray
from rotting.arrays import IntArray as IntArray
from rotting.models import PROBE, Constant, Family, Model, function_name

NONE, GAUSSIAN, BERNOULLI = 0, 1, 2  # how engines know the noises


@dataclass(frozen=True)
class NoNoise:
    """Rewards equal to their means."""

    code = NONE

    def scale(self, horizon: int) -> FloatArray:
        """Unused by this noise."""
        return np.zeros(1)


@dataclass(frozen=True)
class Bernoulli:
    """Rewards 1 with the mean as probability, else 0. All means must lie in [0, 1]."""

    code = BERNOULLI

    def scale(self, horizon: int) -> FloatArray:
        """Unused by this noise."""
        return np.zeros(1)


@dataclass(frozen=True)
class Gaussian:
    """Normal rewards with standard deviation sigma, a number or a function of the pull number n.

    The second form is the paper's footnote 1: the function takes an array of pull numbers.

    >>> Gaussian(sigma=0.2 ** 0.5).scale(3)
    array([0.4472136])
    >>> Gaussian(sigma=lambda n: 1.0 / n).scale(2)
    array([1. , 0.5])
    """

    sigma: float | Callable[[Any], Any]

    code = GAUSSIAN

    def __post_init__(self) -> None:
        if callable(self.sigma):
            self.scale(PROBE)
        else:
            object.__setattr__(self, "sigma", checks.number("sigma", self.sigma, above=0))

    def __repr__(self) -> str:
        if callable(self.sigma):
            return f"Gaussian(sigma={function_name(self.sigma)})"
        return f"Gaussian(sigma={self.sigma!r})"

    def scale(self, horizon: int) -> FloatArray:
        """Sigma of pull n at index n - 1; pulls beyond the array have its last value."""
        if not callable(self.sigma):
            return np.array([self.sigma])
        values = np.asarray(self.sigma(np.arange(1, horizon + 1)), dtype=np.float64)
        if values.shape != (horizon,):
            raise ValueError(
                f"sigma must be vectorised: for {horizon} pull numbers it returned {values.shape}"
            )
        bad = np.flatnonzero(~(np.isfinite(values) & (values > 0)))
        if bad.size:
            raise ValueError(f"sigma must be > 0, got {values[bad[0]]} at n = {int(bad[0]) + 1}")
        return values


Noise = Gaussian | Bernoulli | NoNoise


@plain.register
@dataclass(frozen=True)
class Arm:
    """One option: the n-th reward has mean constant + mu(n), mu the rotting model.

    >>> from rotting import models
    >>> Arm(models.Polynomial(0.5), constant=1.0).mean([1, 4])
    array([2. , 1.5])
    """

    model: Model
    constant: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.model, Model):
            raise ValueError(f"model must be a rotting model (rotting.models), got {self.model!r}")
        object.__setattr__(self, "constant", checks.number("constant", self.constant))
        if not np.isfinite(self.mean(1)):  # a model without its theta is refused here, too
            raise ValueError(f"constant must keep the mean finite, got {self.constant}")

    def mean(self, n: npt.ArrayLike) -> FloatArray:
        """The mean of the n-th reward."""
        with np.errstate(over="ignore"):  # an overflow is refused when the arm is made
            return self.constant + self.model.mean(n)


@dataclass(frozen=True)
class RandomArms:
    """Arms drawn anew for every run: theta* from Theta with replacement, constants from a range.

    `constants` is a pair (low, high) of a uniform range, (0, 0) for none.
    """

    family: Family
    count: int
    constants: tuple[float, float] = (0.0, 0.0)

    def __post_init__(self) -> None:
        if not isinstance(self.family, Family):
            raise ValueError(f"family must be a Family, as model.over([...]), got {self.family!r}")
        object.__setattr__(self, "count", checks.integer("count", self.count, least=1))
        if not isinstance(self.constants, Sequence) or len(self.constants) != 2:
            raise ValueError(f"constants must be a pair (low, high), got {self.constants!r}")
        low = checks.number("constants[0]", self.constants[0])
        high = checks.number("constants[1]", self.constants[1], least=low)
        object.__setattr__(self, "constants", (low, high))


class World(NamedTuple):
    """A scenario as arrays, the form in which engines read it.

    Means are kept once per distinct model, never per run and arm.
    """

    means: FloatArray  # [model, n - 1]
    sums: FloatArray  # [model, n]: the sum of the first n means
    sigma: FloatArray  # [n - 1], or one value for all
    noise: int
    edge: FloatArray  # the tables of `rotting.random`'s normals
    height: FloatArray


class Bandits(NamedTuple):
    """The bandits of a range of runs: which model and constant each arm has."""

    models: IntArray  # [run, arm]
    constants: FloatArray  # [run, arm]


@dataclass(frozen=True)
class Scenario:
    """Arms, noise and horizon: everything about a problem but the policy that plays it.

    `arms` is a list of `Arm` (the same bandit every run) or a `RandomArms` (a new one every run).

    >>> import dataclasses
    >>> from rotting import models
    >>> scenario = Scenario(arms=[Arm(models.Constant(0.5)), Arm(models.Polynomial(0.3))],
    ...                     noise=Gaussian(sigma=0.5), horizon=1000)
    >>> dataclasses.replace(scenario, horizon=700).horizon
    700
    """

    arms: Sequence[Arm] | RandomArms
    noise: Noise
    horizon: int
    name: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.arms, RandomArms):
            try:
                arms = tuple(self.arms)
            except TypeError:
                raise ValueError(f"arms must be a list of Arm, got {self.arms!r}") from None
            if not arms:
                raise ValueError("arms must hold at least one arm (K >= 1), got none")
            for arm in arms:
                if not isinstance(arm, Arm):
                    raise ValueError(f"arms must be Arm objects, as Arm(model), got {arm!r}")
            object.__setattr__(self, "arms", arms)
        if not isinstance(self.noise, (Gaussian, Bernoulli, NoNoise)):
            raise ValueError(f"noise must be Gaussian, Bernoulli or NoNoise, got {self.noise!r}")
        object.__setattr__(self, "horizon", checks.integer("horizon", self.horizon, least=1))
        if isinstance(self.noise, Bernoulli):
            self._check_probabilities()

    def _check_probabilities(self) -> None:
        if isinstance(self.arms, RandomArms):
            low, high = self.arms.constants
            ends = [(member, low, high) for member in self.arms.family.members]
        else:
            ends = [(arm.model, arm.constant, arm.constant) for arm in self.arms]
        for model, low, high in ends:
            first, last = model.mean(1) + high, model.mean(self.horizon) + low
            if first > 1.0 or last < 0.0:
                value, n = (first, 1) if first > 1.0 else (last, self.horizon)
                raise ValueError(
                    f"Bernoulli rewards need means in [0, 1], but {model!r} reaches {value} "
                    f"at n = {n}"
                )

    @property
    def arm_count(self) -> int:
        """The number of arms, K."""
        return self.arms.count if isinstance(self.arms, RandomArms) else len(self.arms)

    @property
    def fixed(self) -> bool:
        """Whether every run plays the same bandit."""
        return not isinstance(self.arms, RandomArms)

    @property
    def _models(self) -> tuple[Model, ...]:
        """The distinct models, in order of appearance."""
        if isinstance(self.arms, RandomArms):
            return self.arms.family.members
        return tuple(dict.fromkeys(_parts(arm)[0] for arm in self.arms))

    def world(self) -> World:
        """The tables engines read."""
        means, sums = world_tables(self._models, self.horizon)
        scale = self.noise.scale(self.horizon)
        return World(means, sums, scale, self.noise.code, random.EDGE, random.HEIGHT)

    def bandits(self, seed: int, first: int, last: int) -> Bandits:
        """The bandits of the runs first..last-1 of a seed.

        For random arms, theta* and the constants are uniform draws keyed by (seed, run, arm).
        """
        runs = last - first
        if not isinstance(self.arms, RandomArms):
            order = {model: row for row, model in enumerate(self._models)}
            parts = [_parts(arm) for arm in self.arms]
            rows = np.array([order[model] for model, _ in parts], dtype=np.int64)
            values = np.array([constant for _, constant in parts])
            return Bandits(np.tile(rows, (runs, 1)), np.tile(values, (runs, 1)))
        key = random.fold(random.seed_word(seed), np.uint64(random.BANDITS))
        run_keys = random.fold(key, np.arange(first, last, dtype=np.uint64))
        keys = random.fold(run_keys[:, None], np.arange(self.arm_count, dtype=np.uint64))
        steps = random.step_of(keys)
        choice = random.to_unit(random.word(keys, steps, np.uint64(1)))
        place = random.to_unit(random.word(keys, steps, np.uint64(2)))
        low, high = self.arms.constants
        models = (choice * len(self.arms.family)).astype(np.int64)
        return Bandits(models, low + (high - low) * place)


def _parts(arm: Arm) -> tuple[Model, float]:
    """Model and constant, with constant models as constants: a million of them share one table."""
    if isinstance(arm.model, Constant):
        return Constant(0.0), arm.model.value + arm.constant
    return arm.model, arm.constant


_TABLES: dict[tuple[tuple[Model, ...], int], tuple[FloatArray, FloatArray]] = {}
_TABLES_BYTES = 1 << 28  # how much the cache of world tables may hold


def world_tables(models: tuple[Model, ...], horizon: int) -> tuple[FloatArray, FloatArray]:
    """Means [model, n - 1] and their running sums [model, n] up to the horizon, cached."""
    found = _TABLES.get((models, horizon))
    if found is not None:
        return found
    means = np.stack([model.table(horizon) for model in models])
    sums = np.pad(np.cumsum(means, axis=1), ((0, 0), (1, 0)))
    held = sum(a.nbytes + b.nbytes for a, b in _TABLES.values())
    if held + means.nbytes + sums.nbytes > _TABLES_BYTES:
        _TABLES.clear()
    if means.nbytes + sums.nbytes <= _TABLES_BYTES:
        _TABLES[models, horizon] = means, sums
    return means, sums
