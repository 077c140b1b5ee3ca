"""Noise on the rewards: none, Gaussian, or Bernoulli's zeros and ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from rotting import _checks
from rotting.kernel.arrays import FloatArray
from rotting.models._base import PROBE, function_name
from rotting.parameters import Checked

NONE, GAUSSIAN, BERNOULLI = 0, 1, 2  # the kinds of noise, as numbers for engines


@dataclass(frozen=True)
class NoNoise:
    """Rewards equal to their means.

    >>> NoNoise()
    NoNoise()
    """

    code = NONE

    def scale(self, horizon: int) -> FloatArray:
        """A placeholder: without noise there is no sigma."""
        return np.zeros(1)


@dataclass(frozen=True)
class Bernoulli:
    """Rewards of zero and one, such as clicks: 1 with the mean as probability.

    A scenario refuses arms whose means leave [0, 1].

    >>> Bernoulli()
    Bernoulli()
    """

    code = BERNOULLI

    def scale(self, horizon: int) -> FloatArray:
        """A placeholder: the mean determines the variance."""
        return np.zeros(1)


@dataclass(frozen=True)
class Gaussian(Checked):
    """Normal rewards with standard deviation sigma.

    Attributes:
        sigma: A positive number, or a function of the pull number n (the paper's footnote 1), which
            gets an array of pull numbers and returns one of the same shape.

    Raises:
        ValueError: Sigma is not a positive number, or the first values of the function are not.

    >>> Gaussian(sigma=0.2 ** 0.5).scale(3)
    array([0.4472136])
    >>> Gaussian(sigma=lambda n: 1.0 / n).scale(2)
    array([1. , 0.5])
    """

    sigma: float | Callable[[Any], Any]

    code = GAUSSIAN

    def check(self) -> None:
        if callable(self.sigma):
            self.scale(PROBE)
        else:
            self._set("sigma", _checks.moderate("sigma", self.sigma, above=0))

    def __repr__(self) -> str:
        if callable(self.sigma):
            return f"Gaussian(sigma={function_name(self.sigma)})"
        return f"Gaussian(sigma={self.sigma!r})"

    def scale(self, horizon: int) -> FloatArray:
        """Sigma of pull n at index n - 1; later pulls have the last value.

        Args:
            horizon: The number of pulls.

        Returns:
            An array, of one number if sigma is one.

        Raises:
            ValueError: The function is not vectorised, or a value is not a positive number.
        """
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
        for n in (int(values.argmin()) + 1, int(values.argmax()) + 1):
            _checks.moderate(f"sigma at n = {n}", float(values[n - 1]), above=0)
        return values


Noise = Gaussian | Bernoulli | NoNoise
