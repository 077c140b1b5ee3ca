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
    as_openings,
    as_said,
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
    """Arms, noise and horizon: everything about a problem but the policy that plays it.

    `arms` is a list of `Arm` (the same bandit every run) or a `RandomArms` (a new one every run).
    `belief` is what policies that need a family are told unless they are given one, by name on the
    command line and in experiment files; without it, the family of random arms. It may be wrong.
    `openings` says when arms may be pulled, by arm number: the first and the last round, or a list
    of such pairs, with None for a last round if the arm does not close again. Arms that it does not
    name are always open.
    `audience` says for whom the arms rot, each key on its own; without one, for everybody.

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
    # no part of what is played: not shown, and no other scenario with another belief
    belief: Family | Interval | None = field(default=None, repr=False, compare=False)
    # given as a dict, kept as intervals in order
    openings: Mapping[int, Any] | Sequence[Opening] | None = None
    audience: Audience | None = None

    def __repr__(self) -> str:
        """As that of any dataclass, with openings and an audience only where there are some."""
        shown = {field.name: getattr(self, field.name) for field in fields(self) if field.repr}
        if self._openings:
            shown["openings"] = as_said(self._openings)
        else:
            del shown["openings"]
        if self.audience is None:
            del shown["audience"]
        return f"Scenario({', '.join(f'{name}={value!r}' for name, value in shown.items())})"

    def plot(self, axes: Axes | None = None, pulls: int | None = None) -> Axes:
        """Draw the arms' means, into these axes or a new figure's; returns the axes.

        `pulls` is how far, by default until half of the fall is seen, or more.
        """
        drawn: Axes = _display.plot(self, axes=axes, pulls=pulls)
        return drawn

    def _repr_html_(self) -> str:
        """For notebooks: the scenario in words, the arms and their curves."""
        return _display.html(self)

    def check(self) -> None:
        """At least one arm, a known noise, and probabilities where rewards are zeros and ones.

        And an arm to choose in every round.
        """
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
        """The openings as they are kept; none where no arm ever closes."""
        return cast(tuple[Opening, ...], self.openings or ())

    @property
    def closes(self) -> bool:
        """Whether an arm is closed in some round up to the horizon."""
        return bool(counts(self._openings, self.arm_count, self.horizon)[1].min() < self.arm_count)

    @property
    def first_arms(self) -> int:
        """How many arms are open in round 1: all, unless some open later."""
        return int(counts(self._openings, self.arm_count, self.horizon)[1][0])

    def changes(self) -> tuple[IntArray, IntArray]:
        """The rounds in which arms open or close, round 1 first, and who is open: [change, arm]."""
        rounds, _ = counts(self._openings, self.arm_count, self.horizon)
        return rounds, flags_of(self._openings, self.arm_count, rounds)

    @property
    def fixed(self) -> bool:
        """Whether every run plays the same bandit."""
        return not isinstance(self.arms, RandomArms)

    @property
    def crowd(self) -> Audience | None:
        """The audience, unless it is that of the paper: one key, for whom alone everything is."""
        return None if self.audience is None or self.audience.plain else self.audience

    @property
    def repeats(self) -> bool:
        """Whether every run plays the same bandit to the same keys."""
        return self.fixed and (self.crowd is None or self.crowd.repeats)

    @property
    def greedy(self) -> bool:
        """Whether pi_max is greedy only, and not optimal: arms come and go, or recover by and by.

        With windows it is optimal: to each key every window is a bandit of its own.
        """
        return self.closes or (self.crowd is not None and isinstance(self.crowd.rest, HalfLife))

    @property
    def longest(self) -> int:
        """How often an arm may be shown to one key, by a guess from above; else the horizon."""
        return self.horizon if self.crowd is None else self.crowd.most_arrivals(self.horizon)

    @property
    def shared_tables(self) -> bool:
        """Whether all runs read the same tables; else each run has models of its own."""
        return self._models is not None

    @property
    def model_count(self) -> int | None:
        """How many models the tables hold if all runs share them, else None."""
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
        Otherwise they hold the models of these runs, see `runs_a_chunk`. What a run's arms are does
        not depend on the chunk it is in.
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
        """How many runs a chunk may have for what is each run's own to fit into so many bytes.

        That is tables, unless all runs share them, and the factors of an audience's keys. At least
        1; 2**62, that is any number, where runs have nothing of their own.
        """
        own = 0 if self.shared_tables else chunk_bytes(self.arm_count, self.longest)
        if self.crowd is not None and self.crowd.factors is not None:
            own += self.crowd.keys * NUMBER
        if own == 0:
            return _checks.LARGEST
        return max(1, _checks.integer("memory", memory, 1) // own)

    def world(self) -> World:
        """The tables that all runs share; ValueError where each run has its own (see `chunk`)."""
        return self._world(*world_tables(self._shared("world"), self.horizon))

    def _world(self, means: Any, sums: Any) -> World:
        scale = self.noise.scale(self.horizon)
        return World(means, sums, scale, self.noise.code, random.EDGE, random.HEIGHT)

    def bandits(self, seed: int, first: int, last: int) -> Bandits:
        """The bandits of the runs first..last-1 of a seed, for the tables of `world`.

        For random arms they are draws keyed by (seed, run, arm).
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
                f"{what}() must be asked of arms with models that all runs share, but here each "
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
    """Which row of the tables, and which constant, each arm has."""
    order = {model: row for row, model in enumerate(models)}
    parts = [arm.parts for arm in arms]
    rows = np.array([order[model] for model, _ in parts], dtype=np.int64)
    return Bandits(rows, np.array([constant for _, constant in parts]))
