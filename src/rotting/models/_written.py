"""A model written for people: as the settings of an experiment file, and as a line of Python.

Both are made from the model's fields, those that `_plain` saves; a new model needs no line here.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from rotting.models._base import Model, Scaled

_FIRST = ("theta", "value", "values")  # given by their place


def settings_of(model: Model) -> dict[str, Any]:
    """A model as an experiment file names it; `rotting._catalogue.models` reads it.

    >>> from rotting.models import Polynomial
    >>> settings_of(Polynomial(0.3).times(0.1))
    {'model': 'polynomial', 'theta': 0.3, 'amplitude': 0.1}
    """
    if isinstance(model, Scaled):
        return {**settings_of(model.model), "amplitude": model.factor}
    return {"model": type(model).__name__.lower(), **_fields(model)}


def code_of(model: Model) -> str:
    """A model as a line of Python makes it.

    >>> from rotting.models import Polynomial, Step
    >>> code_of(Polynomial(0.3).times(0.1))
    'models.Polynomial(0.3).times(0.1)'
    >>> code_of(Step(at=7, before=1.0, after=0.4))
    'models.Step(at=7, before=1.0, after=0.4)'
    """
    if isinstance(model, Scaled):
        return f"{code_of(model.model)}.times({model.factor!r})"
    written = (
        repr(value) if name in _FIRST else f"{name}={value!r}"
        for name, value in _fields(model).items()
    )
    return f"models.{type(model).__name__}({', '.join(written)})"


def _fields(model: Any) -> dict[str, Any]:
    values = {field.name: getattr(model, field.name) for field in dataclasses.fields(model)}
    return {
        name: list(value) if isinstance(value, tuple) else value for name, value in values.items()
    }
