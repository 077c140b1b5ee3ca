"""Rotting models: mu(n; theta), the mean reward of the n-th pull, n = 1, 2, ...; and families.

Each shape is a class, as `Plateau(0.3, length=100)`; `MODELS` lists them by name. A *family* is the
prior knowledge about the arms: a finite set of models, most often one shape with theta in a
finite set Theta, `Plateau(length=100).over([0.1, 0.2])`.
"""

from rotting.kernel.arrays import FloatArray as FloatArray
from rotting.models._base import MODELS, Amplitude, Model, Scaled, function_name
from rotting.models._families import Family, MixedFamily, check_positive
from rotting.models._grid import Grid
from rotting.models._interval import Interval
from rotting.models._shapes import (
    Constant,
    Exponential,
    Function,
    Plateau,
    Polynomial,
    Settling,
    Step,
    Table,
)
from rotting.models._tables import check_means

__all__ = [
    "MODELS",
    "Amplitude",
    "Constant",
    "Exponential",
    "Family",
    "Function",
    "Grid",
    "Interval",
    "MixedFamily",
    "Model",
    "Plateau",
    "Polynomial",
    "Scaled",
    "Settling",
    "Step",
    "Table",
    "check_means",
    "check_positive",
    "function_name",
]
