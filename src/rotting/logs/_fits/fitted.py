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
    """Curves fitted to a log by `fit`: an amplitude for each arm times a shape.

    It prints itself, and shows itself with a picture in a notebook. Arms are given by name or by
    number.

    Attributes:
        log: The log.
        candidates: The shapes that were compared, the best held-out score first.
        best: The simplest within a standard error of the best; all results here are of it.
        described: Its curves first, then those of the other shapes, pooled over arms.
        factors: The distribution of keys' factors.
        level: Of the intervals.
        seed: Of the call.
        longest: The highest exposure in the log.
        notes: What to keep in mind.
        doubt: Why the curves cannot be trusted; "" if they can.
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
        """The amplitudes and shapes of the best candidate."""
        return self.described[0].curves

    @property
    def draws(self) -> Draws:
        """The same for each resample of keys."""
        return self.described[0].draws

    @property
    def rewards(self) -> str:
        """The kind of rewards: "bernoulli" or "gaussian", as `policies.recommended` takes it."""
        return "bernoulli" if self.factors.sigma is None else "gaussian"

    @property
    def sigma(self) -> float:
        """The standard deviation of rewards; for zeros and ones the largest under the curves."""
        if self.factors.sigma is not None:
            return self.factors.sigma
        rates = np.minimum(self.fitted.amplitudes, 0.5)
        return float(np.sqrt(rates * (1.0 - rates)).max())

    @property
    def key_spread(self) -> float:
        """The standard deviation of keys' factors, whose mean is 1; 0 where none were learnt."""
        return self.factors.spread

    def parameters(self, arm: int | str | None = None) -> dict[str, tuple[float, float, float]]:
        """The parameters of an arm's curve, each as (estimate, low, high).

        Args:
            arm: A name or a number; None for the parameters of the shape alone (the first arm's,
                where arms have shapes of their own).

        Returns:
            By name: "amplitude" if an arm is given, then the shape's, such as "theta".

        Raises:
            ValueError: There is no such arm.
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
        """The number of an arm, from its name or number; ValueError if there is none."""
        if isinstance(arm, str):
            return self.arms.index(_checks.known("arm", arm, self.arms))
        return _checks.integer("arm", arm, 0, len(self.arms) - 1)

    def simulator(self, longest: int | None = None) -> FloatArray:
        """The curves as an array of means [arm, exposure - 1].

        Args:
            longest: The last exposure; None: the highest of the log.

        Returns:
            Means; for zeros and ones between 0 and 1. `replay` takes them as its `simulator`.
        """
        most = self.longest if longest is None else _checks.integer("longest", longest, 1, _MOST)
        found = self.fitted.means(np.arange(1, most + 1))
        return np.clip(found, 0.0, 1.0) if self.rewards == "bernoulli" else found

    def curves(self, longest: int | None = None) -> Shown:
        """The curves with bands at the fit's level.

        Args:
            longest: The last exposure; None: the highest of the log.

        Returns:
            A `Curves`, which plots itself, like the curves that a player has learnt.
        """
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
        """Each arm's curve as a model of `rotting.models`; rates of zeros and ones end at 1."""
        from rotting.logs._fits.world import arm_models

        return arm_models(self)

    def family(self, arm: int | str | None = None) -> Family:
        """A prior for an arm as a weighted family of models, for `Posterior` and other policies.

        Args:
            arm: A name or a number; None for a prior that also holds for new arms, of which the
                log's arms are a sample.

        Returns:
            A `Family` with weights.
        """
        from rotting.logs._fits.belief import family_of

        return family_of(self, None if arm is None else self.place(arm))

    def recommended(self) -> tuple[Policy, list[str]]:
        """The recommended policy for this log.

        Returns:
            The policy, and the lines of Python that make it; the first is a comment that says why.
        """
        from rotting.logs._fits.belief import recommend

        return recommend(self)

    def scenario(self, horizon: int | None = None) -> Scenario:
        """A scenario like the log: its arms, and its keys in the order of their arrivals.

        Args:
            horizon: Rounds; None: the number of the log's rows. With more, arrivals start again
                from the beginning of the log.

        Returns:
            A `Scenario` for `simulate` and `compare`.
        """
        from rotting.logs._fits.world import scenario_of

        return scenario_of(self, horizon)

    def simulate(self, seed: int = 0) -> pl.DataFrame:
        """Simulate the log: the same rows, keys, arms and times, with rewards drawn from the fit.

        Args:
            seed: The same seed gives the same rewards.

        Returns:
            A polars DataFrame that `read` reads.
        """
        from rotting.logs._fits.world import simulated

        return simulated(self, seed)

    def as_toml(self) -> str:
        """The text of an experiment file for `rotting run`: scenario and policies to compare."""
        from rotting.logs._fits.written import toml_of

        return toml_of(self)

    def write_toml(self, path: str | Path) -> None:
        """Write the experiment file of `as_toml`; an error leaves an earlier file unchanged.

        Args:
            path: Where; a file that exists is replaced.
        """
        target = Path(path)
        text = self.as_toml()
        part = target.with_name(target.name + ".part")
        try:
            part.write_text(text, encoding="utf-8")
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)

    def as_data(self) -> dict[str, Any]:
        """The fit as plain data: what `rotting fit --json` prints, without the policy."""
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
