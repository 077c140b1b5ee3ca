"""Models by name, as the command line and experiment files know them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from rotting import checks, models

_OF_OBJECTS = (models.Scaled, models.Function)  # their parameters cannot be written as numbers


def model_names() -> list[str]:
    """The registered models that numbers describe.

    >>> {"constant", "plateau", "table"} <= set(model_names()), "scaled" in model_names()
    (True, False)
    """
    return [name for name, kind in models.MODELS.items() if not issubclass(kind, _OF_OBJECTS)]


def parameters(name: str) -> list[str]:
    """The parameters of a model.

    >>> parameters("plateau")
    ['theta', 'length']
    """
    kind: Any = models.MODELS[checks.known("model", name, model_names())]
    return [field.name for field in dataclasses.fields(kind)]


def make_model(name: str, settings: Mapping[str, Any]) -> models.Model:
    """A model by name, with the given parameters.

    >>> make_model("step", {"at": 7, "before": 1, "after": 0.4})
    Step(at=7, before=1.0, after=0.4)
    """
    known = parameters(name)
    for key in settings:
        checks.known(f"parameter of {name}", key, known)
    return models.MODELS[name](**settings)


def make_family(name: str, settings: Mapping[str, Any], thetas: Sequence[Any]) -> models.Family:
    """A family by the name of its model, one member for each theta.

    >>> make_family("plateau", {"length": 100}, [0.1, 0.4]).thetas
    (0.1, 0.4)
    """
    checks.known("model", name, [each for each in model_names() if "theta" in parameters(each)])
    for key in settings:
        checks.known(f"parameter of {name}", key, [k for k in parameters(name) if k != "theta"])
    return make_model(name, settings).over(thetas)
