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
    """One option: the n-th reward has mean constant + mu(n), mu the rotting model.

    >>> from rotting import models
    >>> Arm(models.Polynomial(0.5), constant=1.0).mean([1, 4])
    array([2. , 1.5])
    """

    model: Model
    constant: Real = 0.0

    def check(self) -> None:
        """The model is complete, and the constant keeps the mean where squares are finite."""
        if not isinstance(self.model, Model):
            raise ValueError(f"model must be a rotting model (rotting.models), got {self.model!r}")
        if not abs(self.mean(1)) <= _checks.HUGE:  # a model without its theta is refused here, too
            raise ValueError(
                f"constant must keep the mean at most {_checks.HUGE:g} in size, got {self.constant}"
            )

    def mean(self, n: npt.ArrayLike) -> FloatArray:
        """The mean of the n-th reward."""
        with np.errstate(over="ignore"):  # an overflow is refused when the arm is made
            return self.constant + self.model.mean(n)

    @property
    def parts(self) -> tuple[Model, float]:
        """Model and constant as tables hold them.

        Constant models become constants, so that a million of them share one table.
        """
        if isinstance(self.model, Constant):
            return Constant(0.0), self.model.value + self.constant
        return self.model, self.constant
