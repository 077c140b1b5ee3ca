"""Scenarios: arms, noise and horizon."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from rotting import _checks, _display
from rotting.bandits._arms import Arm
from rotting.bandits._audience import Audience, HalfLife
from rotting.bandits._noise import Bernoulli, Gaussian, Noise, NoNoise
from rotting.bandits._openings import (
    Opening,
    as_dict,
    as_openings,
    check_never_empty,
    counts,
    flags_of,
)
from rotting.bandits._random_arms import RandomArms
from rotting.bandits._world import (
    NUMBER,
    Bandits,
    World,
    chunk_bytes,
    chunk_tables,
    world_tables,
)
from rotting.kernel import random
from rotting.kernel.arrays import IntArray
from rotting.models import Family, Interval, Model
from rotting.parameters import Checked, Rounds

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Scenario(Checked):
    """Arms, noise and horizon: everything about a problem except the policy that plays it.

    Attributes:
        arms: A list of `Arm`, the same bandit in every run, or a `RandomArms`, a new one in every
            run.
        noise: `Gaussian`, `Bernoulli` or `NoNoise`.
        horizon: The number of rounds, T.
        name: A name for reports.
        belief: The `Family` or `Interval` given to policies that need one, when they are named on
            the command line or in experiment files without their own; by default the family of
            random arms. It may be wrong, and it takes no part in comparisons of scenarios.
        openings: Rounds in which arms may be pulled, by arm number: a pair of the first and the
            last round, or a list of such pairs, with None for a last round if the arm does not
            close again. Arms that are not named are always open. Kept as a tuple of `Opening`.
        audience: The `Audience` for whose keys the arms rot separately; None for a single bandit.

    Raises:
        ValueError: An argument is of a wrong kind, a Bernoulli arm's mean leaves [0, 1], all arms
            are closed in some round, or given arrivals end before the horizon.

    >>> import dataclasses
    >>> from rotting import models
    >>> scenario = Scenario(arms=[Arm(models.Constant(0.5)), Arm(models.Polynomial(0.3))],
    ...                     noise=Gaussian(sigma=0.5), horizon=1000)
    >>> dataclasses.replace(scenario, horizon=700).horizon
    700
    >>> dataclasses.replace(scenario, openings={1: (101, None)}).openings
    (Opening(arm=1, first=101, last=None),)
    """

    arms: Sequence[Arm] | RandomArms
    noise: Noise
    horizon: Rounds
    name: str = ""
    # not part of what is played: neither shown nor compared
    belief: Family | Interval | None = field(default=None, repr=False, compare=False)
    openings: Mapping[int, Any] | Sequence[Opening] | None = None
    audience: Audience | None = None

    def __repr__(self) -> str:
        """The usual one of a dataclass; openings and audience appear only if there are some."""
        shown = {field.name: getattr(self, field.name) for field in fields(self) if field.repr}
        if self._openings:
            shown["openings"] = as_dict(self._openings)
        else:
            del shown["openings"]
        if self.audience is None:
            del shown["audience"]
        return f"Scenario({', '.join(f'{name}={value!r}' for name, value in shown.items())})"

    def plot(self, axes: Axes | None = None, pulls: int | None = None) -> Axes:
        """Draw the means of the arms.

        Args:
            axes: Matplotlib's axes to draw into; a new figure's without them.
            pulls: The last pull drawn; by default half of the fall is seen, or more.

        Returns:
            The axes.
        """
        drawn: Axes = _display.plot(self, axes=axes, pulls=pulls)
        return drawn

    def _repr_html_(self) -> str:
        return _display.html(self)

    def check(self) -> None:
        if not isinstance(self.arms, RandomArms):
            self._set("arms", _as_arms(self.arms))
        if not isinstance(self.noise, (Gaussian, Bernoulli, NoNoise)):
            raise ValueError(f"noise must be Gaussian, Bernoulli or NoNoise, got {self.noise!r}")
        if self.belief is not None and not isinstance(self.belief, (Family, Interval)):
            raise ValueError(f"belief must be a Family or an Interval, got {self.belief!r}")
        if isinstance(self.noise, Bernoulli):
            if isinstance(self.arms, RandomArms):
                self._check_probabilities(self.arms.extremes(self.horizon))
            else:
                self._check_arms(self.arms)
        if self.audience is not None:
            if not isinstance(self.audience, Audience):
                raise ValueError(f"audience must be an Audience or None, got {self.audience!r}")
            self.audience.check_horizon(self.horizon)
        self._set("openings", as_openings(self.openings, self.arm_count))
        check_never_empty(self._openings, self.arm_count, self.horizon)

    def _check_arms(self, arms: Sequence[Arm]) -> None:
        self._check_probabilities(
            [(arm.model, float(arm.mean(1)), float(arm.mean(self.horizon))) for arm in arms]
        )

    def _check_probabilities(self, extremes: list[tuple[Model, float, float]]) -> None:
        factor = self.audience.highest_factor if isinstance(self.audience, Audience) else 1.0
        for model, first, last in extremes:
            if factor * first > 1.0 or last < 0.0:
                value, n = (factor * first, 1) if factor * first > 1.0 else (last, self.horizon)
                times = f" times a key's factor {factor}" if value != first and n == 1 else ""
                raise ValueError(
                    f"Bernoulli rewards need means in [0, 1], but {model!r}{times} reaches {value} "
                    f"at n = {n}"
                )

    @property
    def arm_count(self) -> int:
        """The number of arms, K."""
        return self.arms.count if isinstance(self.arms, RandomArms) else len(self.arms)

    @property
    def _openings(self) -> tuple[Opening, ...]:
        """The openings in their stored form; empty if no arm ever closes."""
        return cast(tuple[Opening, ...], self.openings or ())

    @property
    def closes(self) -> bool:
        """Whether an arm is closed in some round up to the horizon."""
        return bool(counts(self._openings, self.arm_count, self.horizon)[1].min() < self.arm_count)

    @property
    def first_arms(self) -> int:
        """The number of arms open in round 1."""
        return int(counts(self._openings, self.arm_count, self.horizon)[1][0])

    def changes(self) -> tuple[IntArray, IntArray]:
        """The rounds in which arms open or close, round 1 first, and the open arms then.

        Returns:
            An array of rounds, and flags [change, arm], 1 for an open arm.
        """
        rounds, _ = counts(self._openings, self.arm_count, self.horizon)
        return rounds, flags_of(self._openings, self.arm_count, rounds)

    @property
    def fixed(self) -> bool:
        """Whether every run plays the same bandit."""
        return not isinstance(self.arms, RandomArms)

    @property
    def crowd(self) -> Audience | None:
        """The audience; None for a single key without factor and rest, the paper's bandit."""
        return None if self.audience is None or self.audience.plain else self.audience

    @property
    def repeats(self) -> bool:
        """Whether every run plays the same bandit to the same keys."""
        return self.fixed and (self.crowd is None or self.crowd.repeats)

    @property
    def greedy(self) -> bool:
        """Whether pi_max is only greedy and not optimal: arms come and go, or have a half-life.

        With windows pi_max is optimal: for each key every window is a bandit of its own.
        """
        return self.closes or (self.crowd is not None and isinstance(self.crowd.rest, HalfLife))

    @property
    def longest(self) -> int:
        """The most showings of an arm to one key, an upper estimate; without keys the horizon."""
        return self.horizon if self.crowd is None else self.crowd.most_arrivals(self.horizon)

    @property
    def shared_tables(self) -> bool:
        """Whether all runs read the same tables; if not, each run has its own models."""
        return self._models is not None

    @property
    def model_count(self) -> int | None:
        """The number of models in the tables that all runs share, else None."""
        return None if self._models is None else len(self._models)

    @property
    def _models(self) -> tuple[Model, ...] | None:
        """The distinct models, in order of appearance, if all runs share them."""
        if isinstance(self.arms, RandomArms):
            return self.arms.shared
        return tuple(dict.fromkeys(arm.parts[0] for arm in self.arms))

    def chunk(self, seed: int, first: int, last: int) -> tuple[World, Bandits]:
        """The tables and bandits of the runs first..last-1 of a seed.

        Tables that all runs share are made once, and the same object comes with every chunk.
        Otherwise they hold the models of these runs, see `runs_a_chunk`. The arms of a run do not
        depend on its chunk.

        Args:
            seed: The seed of the simulation.
            first: The first run.
            last: The run after the last one.

        Returns:
            A `World` and `Bandits`.
        """
        if self.shared_tables:
            return self.world(), self.bandits(seed, first, last)
        assert isinstance(self.arms, RandomArms)
        arms = [arm for run in range(first, last) for arm in self.arms.arms(seed, run)]
        if isinstance(self.noise, Bernoulli):
            self._check_arms(arms)
        models = tuple(dict.fromkeys(arm.parts[0] for arm in arms))
        bandits = _rows(arms, models)
        shape = (last - first, self.arm_count)
        length = self.horizon
        if self.crowd is not None:
            length = self.crowd.most_of(seed, first, last, self.horizon)
        world = self._world(*chunk_tables(models, length))
        return world, Bandits(bandits.models.reshape(shape), bandits.constants.reshape(shape))

    def runs_a_chunk(self, memory: int) -> int:
        """The most runs of a chunk whose own data fit into memory.

        These are tables, unless all runs share them, and the factors of an audience's keys.

        Args:
            memory: Bytes.

        Returns:
            At least 1; 2**62, that is any number, where runs have no data of their own.
        """
        own = 0 if self.shared_tables else chunk_bytes(self.arm_count, self.longest)
        if self.crowd is not None and self.crowd.factors is not None:
            own += self.crowd.keys * NUMBER
        if own == 0:
            return _checks.LARGEST
        return max(1, _checks.integer("memory", memory, 1) // own)

    def world(self) -> World:
        """The tables that all runs share.

        Raises:
            ValueError: Each run has its own tables, see `chunk`.
        """
        return self._world(*world_tables(self._shared("world"), self.horizon))

    def _world(self, means: Any, sums: Any) -> World:
        scale = self.noise.scale(self.horizon)
        return World(means, sums, scale, self.noise.code, random.EDGE, random.HEIGHT)

    def bandits(self, seed: int, first: int, last: int) -> Bandits:
        """The bandits of the runs first..last-1 of a seed, for the tables of `world`.

        For random arms they are draws keyed by (seed, run, arm).

        Raises:
            ValueError: Each run has its own models, see `chunk`.
        """
        models = self._shared("bandits")
        if isinstance(self.arms, RandomArms):
            return self.arms.bandits(seed, first, last)
        rows = _rows(self.arms, models)
        runs = last - first
        return Bandits(np.tile(rows.models, (runs, 1)), np.tile(rows.constants, (runs, 1)))

    def _shared(self, what: str) -> tuple[Model, ...]:
        models = self._models
        if models is None:
            raise ValueError(
                f"{what}() must be called for arms with models that all runs share, but here each "
                "run draws its own; use chunk(seed, first, last)"
            )
        return models


def _as_arms(arms: Any) -> tuple[Arm, ...]:
    try:
        found = tuple(arms)
    except TypeError:
        raise ValueError(f"arms must be a list of Arm, got {arms!r}") from None
    if not found:
        raise ValueError("arms must hold at least one arm (K >= 1), got none")
    for arm in found:
        if not isinstance(arm, Arm):
            raise ValueError(f"arms must be Arm objects, as Arm(model), got {arm!r}")
    return found


def _rows(arms: Sequence[Arm], models: tuple[Model, ...]) -> Bandits:
    """The row of the tables and the constant of each arm."""
    order = {model: row for row, model in enumerate(models)}
    parts = [arm.parts for arm in arms]
    rows = np.array([order[model] for model, _ in parts], dtype=np.int64)
    return Bandits(rows, np.array([constant for _, constant in parts]))
