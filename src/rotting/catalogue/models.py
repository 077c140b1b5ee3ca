"""Models by name, as the command line and experiment files know them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from rotting import checks, models

# those whose parameters are numbers; Function and Scaled need Python objects
MODELS: dict[str, type[models.Model]] = {
    kind.__name__.lower(): kind
    for kind in (
        models.Polynomial,
        models.Plateau,
        models.Exponential,
        models.Constant,
        models.Step,
        models.Table,
    )
}


def parameters(name: str) -> list[str]:
    """The parameters of a model.

    >>> parameters("plateau")
    ['theta', 'length']
    """
    kind: Any = MODELS[checks.known("model", name, MODELS)]
    return [field.name for field in dataclasses.fields(kind)]


def make_family(name: str, settings: Mapping[str, Any], thetas: Sequence[Any]) -> models.Family:
    """A family of a model that has a theta, for each of the given thetas.

    >>> make_family("plateau", {"length": 100}, [0.1, 0.4]).thetas
    (0.1, 0.4)
    """
    checks.known("model", name, [each for each in MODELS if "theta" in parameters(each)])
    others = [each for each in parameters(name) if each != "theta"]
    for key in settings:
        checks.known(f"parameter of {name}", key, others)
    family: models.Family = MODELS[name](**settings).over(thetas)
    return family
