"""What a fit has found, and what the rest of the library can do with it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rotting import _checks
from rotting._online.curves import Curves as Shown
from rotting.bandits import Scenario
from rotting.kernel.arrays import FloatArray
from rotting.logs._fits.curves import Curves
from rotting.logs._fits.factors import Factors
from rotting.logs._fits.heldout import Candidate
from rotting.logs._fits.resampling import Draws
from rotting.logs._log import Log
from rotting.models import Family, Model
from rotting.policies._base import Policy

if TYPE_CHECKING:
    import polars as pl

_MOST = 1_000_000  # exposures of a curve


@dataclass(frozen=True, eq=False)
class Described:
    """A candidate's curves, fitted to all keys, and what else they might have been."""

    candidate: Candidate
    curves: Curves
    draws: Draws

    def interval(self, number: int, level: float, arm: int = 0) -> tuple[float, float]:
        """Of a number of the shape."""
        return ends(self.draws.numbers[:, arm, number], level)


def ends(values: FloatArray, level: float) -> tuple[float, float]:
    """The interval that holds a share `level` of the values, with as many below as above."""
    low, high = np.quantile(values, [0.5 - level / 2.0, 0.5 + level / 2.0])
    return float(low), float(high)


@dataclass(frozen=True, eq=False)
class Fit:
    """Fitted curves: an amplitude for each arm times a shape.

    candidates  what was compared, the best foretelling first
    best        the simplest of those within a standard error of it: what everything here is made of
    described   its curves first, then those of the other kinds, pooled
    factors     how keys differ
    longest     the highest exposure in the log
    notes       what its reader should know
    doubt       why the curves cannot be believed; empty if they can
    """

    log: Log
    candidates: tuple[Candidate, ...]
    best: Candidate
    described: tuple[Described, ...]
    factors: Factors
    level: float
    seed: int
    longest: int
    notes: tuple[str, ...] = field(default=())
    doubt: str = ""

    @property
    def arms(self) -> tuple[str, ...]:
        """The names of the arms."""
        return self.log.arms

    @property
    def fitted(self) -> Curves:
        """Amplitudes and shapes."""
        return self.described[0].curves

    @property
    def draws(self) -> Draws:
        """What they might have been."""
        return self.described[0].draws

    @property
    def rewards(self) -> str:
        """As policies call them."""
        return "bernoulli" if self.factors.sigma is None else "gaussian"

    @property
    def sigma(self) -> float:
        """What rewards scatter by; of zeros and ones the most that the curves allow."""
        if self.factors.sigma is not None:
            return self.factors.sigma
        rates = np.minimum(self.fitted.amplitudes, 0.5)
        return float(np.sqrt(rates * (1.0 - rates)).max())

    @property
    def key_spread(self) -> float:
        """The standard deviation of keys' factors, whose mean is 1; 0 where none were learnt."""
        return self.factors.spread

    def parameters(self, arm: int | str | None = None) -> dict[str, tuple[float, float, float]]:
        """The numbers of an arm's curve by name, each with the ends of its interval.

        Without an arm, those of the shape: one for all, or the first arm's.
        """
        place = 0 if arm is None else self.place(arm)
        first = self.described[0]
        found = {}
        if arm is not None:
            amplitudes = first.draws.amplitudes[:, place]
            own = float(first.curves.amplitudes[place])
            found["amplitude"] = (own, *ends(amplitudes, self.level))
        for number, (name, value) in enumerate(first.curves.shapes[place].named().items()):
            found[name] = (value, *first.interval(number, self.level, place))
        return found

    def place(self, arm: int | str) -> int:
        """The place of an arm, by name or number."""
        if isinstance(arm, str):
            return self.arms.index(_checks.known("arm", arm, self.arms))
        return _checks.integer("arm", arm, 0, len(self.arms) - 1)

    def simulator(self, longest: int | None = None) -> FloatArray:
        """The curves, [arm, exposure less one], up to the log's highest exposure or another one."""
        most = self.longest if longest is None else _checks.integer("longest", longest, 1, _MOST)
        found = self.fitted.means(np.arange(1, most + 1))
        return np.clip(found, 0.0, 1.0) if self.rewards == "bernoulli" else found

    def curves(self, longest: int | None = None) -> Shown:
        """The curves with bands at the fit's level, as a player shows what it has learnt."""
        estimate = self.simulator(longest)
        n = np.arange(1, estimate.shape[1] + 1)
        low, high = np.empty_like(estimate), np.empty_like(estimate)
        sides = [0.5 - self.level / 2.0, 0.5 + self.level / 2.0]
        for arm in range(len(self.arms)):
            low[arm], high[arm] = np.quantile(self.draws.means(arm, n), sides, axis=0)
        if self.rewards == "bernoulli":
            high = np.minimum(high, 1.0)
        title = f"{self.best.name}, {100 * self.level:g} % bands"
        # curves that were drawn may lie to one side of the fit where numbers have ends (theta >= 0)
        return Shown(
            title, self.arms, estimate, np.minimum(low, estimate), np.maximum(high, estimate)
        )

    def models(self) -> tuple[Model, ...]:
        """Each arm's curve as a model; of zeros and ones, with rates up to 1."""
        from rotting.logs._fits.world import arm_models

        return arm_models(self)

    def family(self, arm: int | str | None = None) -> Family:
        """What is known of an arm before it is played, with weights: for `Posterior` and others.

        Without an arm: of any arm, known or new, as far as the log's arms are examples of it.
        """
        from rotting.logs._fits.belief import family_of

        return family_of(self, None if arm is None else self.place(arm))

    def recommended(self) -> tuple[Policy, list[str]]:
        """The policy to play with, and the lines of Python that make it; the first says why."""
        from rotting.logs._fits.belief import recommend

        return recommend(self)

    def scenario(self, horizon: int | None = None) -> Scenario:
        """A scenario like the log: its arms, and its keys in the order in which they came.

        The horizon is the number of the log's rows unless given; further rounds begin anew.
        """
        from rotting.logs._fits.world import scenario_of

        return scenario_of(self, horizon)

    def simulate(self, seed: int = 0) -> pl.DataFrame:
        """The log with rewards drawn from the fit: its rows, keys, arms and times stay."""
        from rotting.logs._fits.world import simulated

        return simulated(self, seed)

    def as_toml(self) -> str:
        """An experiment file for `rotting run`: the scenario, the recommended policy and rivals."""
        from rotting.logs._fits.written import toml_of

        return toml_of(self)

    def write_toml(self, path: str | Path) -> None:
        """Write the experiment file, whole or not at all."""
        target = Path(path)
        text = self.as_toml()
        part = target.with_name(target.name + ".part")
        try:
            part.write_text(text, encoding="utf-8")
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)

    def as_data(self) -> dict[str, Any]:
        """As plain data."""
        from rotting.logs._fits.described import data_of

        return data_of(self)

    def __str__(self) -> str:
        from rotting.logs._fits.described import text_of

        return text_of(self)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """For notebooks: their own colours, light or dark."""
        from rotting.logs._fits.described import html_of

        return html_of(self)
