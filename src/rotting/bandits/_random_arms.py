"""Arms drawn for every run: from a family, from an interval, or by a user's function.

Every draw is a function of (seed, run, arm) alone, so that a run has the same arms whatever plays
it, in whichever chunk or process.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from rotting import _checks
from rotting.bandits._arms import Arm
from rotting.bandits._world import Bandits
from rotting.kernel import random
from rotting.kernel.arrays import FloatArray, IntArray
from rotting.models import Family, Interval, Model, Scaled, function_name
from rotting.parameters import Checked, Count

T = TypeVar("T")


@dataclass(frozen=True, repr=False)
class RandomArms(Checked):
    """Arms drawn for every run: theta* with replacement, constants and amplitudes from ranges.

    For any other distribution see `RandomArms.drawn`.

    Attributes:
        family: A `Family`, from which models are drawn by its weights, or an `Interval`, in which
            theta is uniform.
        count: The number of arms, K.
        constants: The range (low, high) of uniform constants; (0, 0) for none.
        amplitudes: The range (low, high) of uniform factors of the arms' models; None for none.

    Raises:
        ValueError: `family` is neither, or a range is not a pair of numbers in order.

    >>> from rotting import models
    >>> source = RandomArms(models.Polynomial().between(0.1, 0.4), 5, amplitudes=(0.5, 2.0))
    >>> first = source.arms(seed=0, run=0)[0]
    >>> 0.1 <= first.model.model.theta < 0.4 and 0.5 <= first.model.factor < 2.0
    True
    """

    family: Family | Interval
    count: Count
    constants: tuple[float, float] = (0.0, 0.0)
    amplitudes: tuple[float, float] | None = None

    @staticmethod
    def drawn(function: Callable[[ArmDraw], Arm], count: int) -> DrawnArms:
        """Arms that a function draws: any models and constants, also by the arm's number.

        Args:
            function: Gets an `ArmDraw` and returns an `Arm`. All its random numbers must come from
                the `ArmDraw`, because it is called again wherever a run's arms are needed.
            count: The number of arms, K.

        Returns:
            A `DrawnArms`.

        Raises:
            ValueError: `function` cannot be called, or does not return an `Arm`.

        >>> from rotting import models
        >>> def champion(draw):
        ...     best = 0.2 if draw.arm == 0 else 0.0
        ...     return Arm(models.Exponential(draw.uniform(0.01, 0.1)), best)
        >>> [arm.constant for arm in RandomArms.drawn(champion, count=3).arms(seed=0, run=7)]
        [0.2, 0.0, 0.0]
        """
        return DrawnArms(function, count)

    def check(self) -> None:
        if not isinstance(self.family, (Family, Interval)):
            raise ValueError(
                "family must be a Family, as model.over([...]), or an Interval, as "
                f"model.between(0.1, 0.4), got {self.family!r}"
            )
        self._set("constants", _range("constants", self.constants))
        if self.amplitudes is not None:
            self._set("amplitudes", _range("amplitudes", self.amplitudes, above=0))

    def __repr__(self) -> str:
        # saved results hold it: without amplitudes it must not change
        scaled = "" if self.amplitudes is None else f", amplitudes={self.amplitudes!r}"
        return (
            f"RandomArms(family={self.family!r}, count={self.count!r}, "
            f"constants={self.constants!r}{scaled})"
        )

    def first(self, count: int) -> RandomArms:
        """The same draws of the first `count` arms."""
        return dataclasses.replace(self, count=count)

    @property
    def shared(self) -> tuple[Model, ...] | None:
        """The models that all runs draw from; None if theta is continuous or amplitudes differ."""
        if isinstance(self.family, Family) and self.amplitudes is None:
            return self.family.members
        return None

    def bandits(self, seed: int, first: int, last: int) -> Bandits:
        """The bandits of the runs first..last-1, as places among the shared models."""
        if self.shared is None or isinstance(self.family, Interval):
            raise ValueError(f"bandits must come with models that all runs share, got {self!r}")
        places = _places(self.family, _uniforms(seed, first, last, self.count, 1))
        low, high = self.constants
        return Bandits(places, low + (high - low) * _uniforms(seed, first, last, self.count, 2))

    def arms(self, seed: int, run: int) -> tuple[Arm, ...]:
        """The arms of one run.

        Args:
            seed: The seed of the simulation.
            run: The number of the run, from 0.

        Returns:
            A tuple of `Arm`, one for each arm number.
        """
        which, place, size = (_uniforms(seed, run, run + 1, self.count, n)[0] for n in (1, 2, 3))
        low, high = self.constants
        models: list[Model]
        if isinstance(self.family, Interval):
            thetas = self.family.low + (self.family.high - self.family.low) * which
            models = [self.family.model.with_theta(theta) for theta in thetas.tolist()]
        else:
            models = [self.family.members[k] for k in _places(self.family, which)]
        if self.amplitudes is not None:
            least, most = self.amplitudes
            factors = least + (most - least) * size
            models = [Scaled(m, f) for m, f in zip(models, factors.tolist(), strict=True)]
        constants = low + (high - low) * place
        return tuple(Arm(m, c) for m, c in zip(models, constants.tolist(), strict=True))

    def extremes(self, horizon: int) -> list[tuple[Model, float, float]]:
        """Models with the highest first and the lowest last mean that their arms can have.

        Those of every member, or of an interval's nodes, at the ends of the ranges.
        """
        nodes = self.family.family if isinstance(self.family, Interval) else self.family
        factors = self.amplitudes or (1.0, 1.0)
        low, high = self.constants
        return [
            (
                member,
                float(max(factor * member.mean(1) for factor in factors) + high),
                float(min(factor * member.mean(horizon) for factor in factors) + low),
            )
            for member in nodes.members
        ]


class DrawnArms(RandomArms):
    """Arms that a function draws, one at a time; made by `RandomArms.drawn`.

    The function is called once here, to check that it returns an arm. It has no `family`: that
    raises a ValueError.

    Attributes:
        function: Gets an `ArmDraw` and returns an `Arm`.
        count: The number of arms, K.

    >>> from rotting import models
    >>> RandomArms.drawn(lambda draw: Arm(models.Constant(draw.uniform())), count=10).count
    10
    """

    function: Callable[[ArmDraw], Arm]

    def __init__(self, function: Callable[[ArmDraw], Arm], count: int) -> None:
        if not callable(function):
            raise ValueError(f"function must be callable, got {function!r}")
        self._set("function", function)
        self._set("count", _checks.integer("count", count, least=1))
        self._arm(0, 0, 0)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DrawnArms):
            return NotImplemented
        return (self.function, self.count) == (other.function, other.count)

    def __hash__(self) -> int:
        return hash((self.function, self.count))

    @property
    def family(self) -> Family | Interval:
        """Not available: a function may draw any models."""
        raise ValueError(f"arms drawn by a function have no family, got {self!r}")

    def first(self, count: int) -> DrawnArms:
        return DrawnArms(self.function, count)

    @property
    def shared(self) -> tuple[Model, ...] | None:
        """None: each run has its own models."""
        return None

    def extremes(self, horizon: int) -> list[tuple[Model, float, float]]:
        """An empty list: nothing is known before the arms are drawn."""
        return []

    def __repr__(self) -> str:
        # a stable name: addresses would differ from one process to the next
        return f"RandomArms.drawn({function_name(self.function)}, count={self.count})"

    def arms(self, seed: int, run: int) -> tuple[Arm, ...]:
        return tuple(self._arm(seed, run, arm) for arm in range(self.count))

    def _arm(self, seed: int, run: int, arm: int) -> Arm:
        made = self.function(ArmDraw(seed, run, arm))
        if not isinstance(made, Arm):
            raise ValueError(f"function must return an Arm, as Arm(model), got {made!r}")
        return made


class ArmDraw:
    """The random numbers of one arm of one run, in sequence.

    Attributes:
        arm: The number of the arm, from 0.

    >>> draw = ArmDraw(seed=0, run=0, arm=2)
    >>> draw.arm, 0.0 <= draw.uniform() < 1.0
    (2, True)
    """

    def __init__(self, seed: int, run: int, arm: int) -> None:
        self.arm = arm
        self._draw = np.zeros(3, dtype=np.uint64)
        random.start(self._draw, random.fold(_run_keys(seed, run, run + 1)[0], np.uint64(arm)))

    def uniform(self, low: float = 0.0, high: float = 1.0) -> float:
        """A random number, uniform in [low, high)."""
        return float(low + (high - low) * random.uniform(self._draw))

    def normal(self, mean: float = 0.0, sigma: float = 1.0) -> float:
        """A random number, normal with this mean and standard deviation."""
        return float(mean + sigma * random.normal(self._draw))

    def choice(self, values: Sequence[T]) -> T:
        """One of several values, with equal probability.

        Args:
            values: A sequence.

        Raises:
            ValueError: There is no value.
        """
        if not len(values):
            raise ValueError("values must hold at least one to choose from, got none")
        return values[int(self.uniform() * len(values))]


def _range(name: str, ends: Any, above: float = -np.inf) -> tuple[float, float]:
    if not isinstance(ends, Sequence) or isinstance(ends, str) or len(ends) != 2:
        raise ValueError(f"{name} must be a pair (low, high), got {ends!r}")
    low = _checks.moderate(f"{name}[0]", ends[0], above=above)
    return low, _checks.moderate(f"{name}[1]", ends[1], least=low)


def _places(family: Family, uniforms: FloatArray) -> IntArray:
    """Places in a family, drawn by its weights, from uniform numbers in [0, 1)."""
    if family.weights is None:
        return (uniforms * len(family)).astype(np.int64)
    ends = np.cumsum(family.weights)
    ends[-1] = 1.0  # exactly, so that every number falls below it
    return np.searchsorted(ends, uniforms, side="right").astype(np.int64)


def _run_keys(seed: int, first: int, last: int) -> Any:
    key = random.fold(random.seed_word(seed), np.uint64(random.BANDITS))
    return random.fold(key, np.arange(first, last, dtype=np.uint64))


def _uniforms(seed: int, first: int, last: int, count: int, counter: int) -> FloatArray:
    """The uniform number at a counter of every (run, arm)'s stream, [run, arm]."""
    runs = _run_keys(seed, first, last)
    keys = random.fold(runs[:, None], np.arange(count, dtype=np.uint64))
    found: FloatArray = random.to_unit(random.word(keys, random.step_of(keys), np.uint64(counter)))
    return found
