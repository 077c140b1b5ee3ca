"""Models by name, for the command line and experiment files."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from rotting import _checks, models

# models with parameters that are not numbers
_OF_OBJECTS = (models.Scaled, models.Amplitude, models.Function)

AMPLITUDE = "amplitude"  # a factor on the means, a setting of every model
# parameters of families, and of arms drawn at random: lists, and pairs of ends
RANGES = ("thetas", "theta_between", "amplitudes", "amplitude_between")


def model_names() -> list[str]:
    """The registered models whose parameters are numbers.

    >>> {"constant", "plateau", "table"} <= set(model_names()), "scaled" in model_names()
    (True, False)
    """
    return [name for name, kind in models.MODELS.items() if not issubclass(kind, _OF_OBJECTS)]


def parameters(name: str) -> list[str]:
    """The parameters of a model, with the amplitude.

    >>> parameters("plateau")
    ['theta', 'length', 'amplitude']
    """
    kind: Any = models.MODELS[_checks.known("model", name, model_names())]
    own = [field.name for field in dataclasses.fields(kind)]
    return own if AMPLITUDE in own else [*own, AMPLITUDE]


def make_model(name: str, settings: Mapping[str, Any]) -> models.Model:
    """A model by name, with the given parameters.

    >>> make_model("step", {"at": 7, "before": 1, "after": 0.4})
    Step(at=7, before=1.0, after=0.4)
    >>> make_model("exponential", {"theta": 0.01, "amplitude": 0.05})
    Scaled(model=Exponential(theta=0.01), factor=0.05)
    """
    for key in settings:
        _checks.known(f"parameter of {name}", key, parameters(name))
    kind: Any = models.MODELS[_checks.known("model", name, model_names())]
    own = {field.name for field in dataclasses.fields(kind)}
    model: models.Model = kind(**{key: value for key, value in settings.items() if key in own})
    if AMPLITUDE in settings and AMPLITUDE not in own:
        return model.times(_checks.number(AMPLITUDE, settings[AMPLITUDE], above=0))
    return model


def make_family(
    name: str,
    settings: Mapping[str, Any],
    thetas: Sequence[Any] | None,
    amplitudes: Sequence[Any] | None = None,
) -> models.Family:
    """A family by the name of its model, with a member for each theta, amplitude, or pair.

    >>> make_family("plateau", {"length": 100}, [0.1, 0.4]).thetas
    (0.1, 0.4)
    >>> make_family("exponential", {"amplitude": 0.05}, [0.01, 0.1]).table(1).tolist()
    [[0.05], [0.05]]
    """
    given = {"thetas": thetas, "amplitudes": amplitudes}
    lists = {key: values for key, values in given.items() if values is not None}
    family = make_belief(name, {**settings, **lists})
    assert isinstance(family, models.Family)
    return family


def make_belief(name: str, settings: Mapping[str, Any]) -> models.Family | models.Interval:
    """A belief about arms: a model by name with fixed parameters and one that varies.

    >>> make_belief("exponential", {"theta": 0.01, "amplitude_between": [0.02, 0.1]}).high
    0.1
    >>> make_belief("exponential", {"theta_between": [0.01, 0.1], "amplitude": 0.05}).low
    0.01
    """
    over = {key: settings[key] for key in RANGES if key in settings}
    _check_ranges(over, settings)
    if {"thetas", "theta_between"} & over.keys():
        _checks.known(
            "model", name, [each for each in model_names() if "theta" in parameters(each)]
        )
    fixed = {key: value for key, value in settings.items() if key not in RANGES}
    model = make_model(name, fixed)
    if "theta_between" in over:
        return model.between(*_pair("theta_between", over["theta_between"]))
    if "amplitude_between" in over:
        ends = _pair("amplitude_between", over["amplitude_between"])
        return models.Amplitude(model).between(*ends)
    return model.over(over.get("thetas"), amplitudes=over.get("amplitudes"))


def _check_ranges(over: Mapping[str, Any], settings: Mapping[str, Any]) -> None:
    """Refuse ranges and parameters that contradict each other."""
    if not over:
        raise ValueError(f"one of {', '.join(RANGES)} must be given")
    for key, also in (
        ("theta", "thetas"),
        ("theta", "theta_between"),
        (AMPLITUDE, "amplitudes"),
        (AMPLITUDE, "amplitude_between"),
        ("thetas", "theta_between"),
        ("amplitudes", "amplitude_between"),
        ("thetas", "amplitude_between"),
        ("theta_between", "amplitudes"),
        ("theta_between", "amplitude_between"),
    ):
        if key in settings and also in settings:
            raise ValueError(f"{key} must not be given together with {also}")


def _pair(name: str, ends: Any) -> tuple[Any, Any]:
    if isinstance(ends, str) or not isinstance(ends, Sequence) or len(ends) != 2:
        raise ValueError(f"{name} must be a pair [low, high], got {ends!r}")
    low, high = (_checks.number(name, end) for end in ends)
    return low, high
