"""An arm: a rotting model plus a constant."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rotting import _checks, _plain
from rotting.kernel.arrays import FloatArray
from rotting.models import Constant, Model
from rotting.parameters import Checked, Real


@_plain.register
@dataclass(frozen=True)
class Arm(Checked):
    """One option: its n-th reward has mean constant + mu(n), mu the rotting model.

    Attributes:
        model: A rotting model with its theta.
        constant: Added to every mean.

    Raises:
        ValueError: The model is none or has no theta, or the mean is above 1e100 in size.

    >>> from rotting import models
    >>> Arm(models.Polynomial(0.5), constant=1.0).mean([1, 4])
    array([2. , 1.5])
    """

    model: Model
    constant: Real = 0.0

    def check(self) -> None:
        if not isinstance(self.model, Model):
            raise ValueError(f"model must be a rotting model (rotting.models), got {self.model!r}")
        if not abs(self.mean(1)) <= _checks.HUGE:  # this refuses a model whose theta is open, too
            raise ValueError(
                f"constant must keep the mean at most {_checks.HUGE:g} in size, got {self.constant}"
            )

    def mean(self, n: npt.ArrayLike) -> FloatArray:
        """The means of pulls, constant + mu(n).

        Args:
            n: A pull number, or an array of them, from 1.

        Returns:
            An array of floats with the shape of `n`.

        Raises:
            ValueError: A number is no integer or below 1.
        """
        with np.errstate(over="ignore"):  # an overflow is refused when the arm is made
            return self.constant + self.model.mean(n)

    @property
    def parts(self) -> tuple[Model, float]:
        """Model and constant as the engines' tables hold them.

        A constant model becomes a constant, so that a million of them share one table.
        """
        if isinstance(self.model, Constant):
            return Constant(0.0), self.model.value + self.constant
        return self.model, self.constant
