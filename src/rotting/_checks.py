"""Checks of arguments: a refusal is a ValueError naming the argument, its value and its range."""

from __future__ import annotations

import decimal
import difflib
import math
import numbers
from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from rotting.kernel.arrays import FloatArray

LARGEST = 2**62
EXACT = 2**53  # the most rounds and runs: up to here a float holds every whole number
# Limits of rewards, means and sigmas: squares, also of large sums, neither overflow nor vanish.
HUGE, TINY = 1e100, 1e-100
_NO_NUMBERS = (bool, np.timedelta64)  # integers to Python and NumPy, refused here


def integer(name: str, value: Any, least: int, most: int = LARGEST) -> int:
    """The value as an int, if it is a whole number from `least` to `most`.

    >>> integer("runs", 0, least=1)
    Traceback (most recent call last):
    ValueError: runs must be an integer >= 1, got 0
    """
    ceilings = {LARGEST: "2**62", EXACT: "2**53"}  # named only when they are exceeded
    allowed = f"an integer >= {least}" if most in ceilings else f"an integer from {least} to {most}"
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, _NO_NUMBERS)
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        whole = True  # users write a million as 1e6
    if whole and most in ceilings and int(value) > most:
        raise ValueError(f"{name} must be {allowed}, and at most {ceilings[most]}, got {value!r}")
    if not whole or not least <= int(value) <= most:
        raise ValueError(f"{name} must be {allowed}, got {value!r}")
    return int(value)


def number(
    name: str,
    value: Any,
    *,
    above: float = -math.inf,
    below: float = math.inf,
    least: float = -math.inf,
    most: float = math.inf,
) -> float:
    """The value as a finite float inside the given open (above, below) or closed ends.

    >>> number("gamma", 1.5, above=0, below=1)
    Traceback (most recent call last):
    ValueError: gamma must be a number > 0 and < 1, got 1.5
    """
    ends = ((">", above), (">=", least), ("<", below), ("<=", most))
    wanted = " and ".join(f"{sign} {end:g}" for sign, end in ends if math.isfinite(end))
    refusal = f"{name} must be a {'number ' + wanted if wanted else 'finite number'}, got {value!r}"
    kinds = (int, float, np.integer, np.floating)
    if isinstance(value, _NO_NUMBERS) or not isinstance(value, kinds):
        raise ValueError(refusal)
    try:
        x = float(value)
    except OverflowError:
        raise ValueError(refusal[:200] + " (too large)") from None
    if not math.isfinite(x) or not (above < x < below and least <= x <= most):
        raise ValueError(refusal)
    return x


def moderate(name: str, value: Any, *, above: float = -math.inf, **ends: float) -> float:
    """The value as a `number` whose square is finite: at most 1e100, from 1e-100 if positive.

    >>> moderate("sigma", 1e160, above=0)
    Traceback (most recent call last):
    ValueError: sigma must be a number from 1e-100 to 1e+100, got 1e+160: squares would overflow
    """
    x = number(name, value, above=above, **ends)
    positive = above == 0.0
    if abs(x) > HUGE or (positive and x < TINY):
        least = TINY if positive else -HUGE
        what = "overflow" if abs(x) > HUGE else "vanish"
        raise ValueError(
            f"{name} must be a number from {least:g} to {HUGE:g}, got {value!r}: "
            f"squares would {what}"
        )
    return x


def choice(name: str, value: Any, allowed: Iterable[str]) -> str:
    """The value, if it is one of the allowed words.

    >>> choice("noise", "shared", ("independent", "common"))
    Traceback (most recent call last):
    ValueError: noise must be one of 'independent', 'common', got 'shared'
    """
    words = tuple(allowed)
    if value not in words:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, words))}, got {value!r}")
    return str(value)


def flag(name: str, value: Any) -> bool:
    """The value, if it is True or False; numbers are refused.

    >>> flag("constants", 1)
    Traceback (most recent call last):
    ValueError: constants must be True or False, got 1
    """
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} must be True or False, got {value!r}")
    return bool(value)


def known(what: str, name: Any, names: Iterable[str], *, most: int = 1, see: str = "") -> str:
    """The name, if it is one of the known ones; a refusal suggests up to `most` near ones.

    Where none is near it lists all, or refers to `see`.

    >>> known("policy", "wsaw", ["ucb1", "wswa"])
    Traceback (most recent call last):
    ValueError: unknown policy 'wsaw'; did you mean 'wswa'?
    """
    choices = list(names)
    if name in choices:
        return str(name)
    least = 0.5 if len(str(name)) < 4 else 0.6
    words = [choice.lower() for choice in choices]
    near = difflib.get_close_matches(str(name).lower(), words, n=most, cutoff=least)
    if near:
        meant = [repr(next(c for c in choices if c.lower() == word)) for word in near]
        said = " or ".join(filter(None, [", ".join(meant[:-1]), meant[-1]]))
        raise ValueError(f"unknown {what} {name!r}; did you mean {said}?")
    hint = f"see {see}" if see else f"known: {', '.join(choices) or 'none'}"
    raise ValueError(f"unknown {what} {name!r}; {hint}")


def reward(value: Any, name: str = "reward") -> float:
    """A reward as a float: any finite number, True and False among them, moderate in size.

    >>> reward(True), reward(np.array(0.5)), reward(decimal.Decimal("0.25"))
    (1.0, 0.5, 0.25)
    """
    if isinstance(value, (bool, np.bool_)):
        return float(value)
    if isinstance(value, np.ndarray) and value.ndim == 0:
        return reward(value.item(), name)
    if isinstance(value, decimal.Decimal) and value.is_finite():
        value = float(value)
    return moderate(name, value)


def rewards(values: Any) -> FloatArray:
    """Rewards as an array of floats, each as in `reward`."""
    refused = f"rewards must be a list of finite numbers of at most {HUGE:g} in size"
    array = np.asarray(values)
    if array.ndim != 1 or array.dtype.kind not in "biuf":
        if array.ndim != 1 or array.dtype.kind != "O":
            raise ValueError(f"{refused}, got {str(values)[:80]}")
        return np.array([reward(value) for value in array.tolist()], dtype=np.float64)
    found = array.astype(np.float64)
    fine = np.abs(found) <= HUGE  # NaN is not
    if not fine.all():
        place = int(np.argmin(fine))
        raise ValueError(f"{refused}, got {found[place]} at place {place}")
    return found


def whole(value: Any) -> int:
    """The value as an int, if it equals a whole number; else zero, which is no pull number.

    >>> whole(np.int64(3)), whole(3.0), whole(3.5), whole("3")
    (3, 3, 0, 0)
    """
    if isinstance(value, (*_NO_NUMBERS, np.bool_)) or not isinstance(value, numbers.Real):
        return 0
    real: Any = value
    try:
        found = int(real)
    except (ValueError, OverflowError):
        return 0
    return found if found == value and abs(found) <= EXACT else 0


def labels(name: str, values: Any) -> tuple[Hashable, ...]:
    """Arm labels as a tuple: at least one, hashable, all different."""
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise ValueError(f"{name} must be a list of labels, got {values!r}")
    found = tuple(values)
    if not found:
        raise ValueError(f"{name} must hold at least one label, got none")
    seen: set[Hashable] = set()
    for label in found:
        try:
            repeated = label in seen
        except TypeError:
            raise ValueError(f"{name} must be hashable labels, got {label!r}") from None
        if label != label:
            raise ValueError(f"{name} must be labels that equal themselves, got {label!r}")
        if repeated:
            raise ValueError(f"{name} must be different labels, got {label!r} twice")
        seen.add(label)
    return found
