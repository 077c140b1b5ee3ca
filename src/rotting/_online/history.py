"""History in the forms that users have: lists, arrays, columns of a frame, or a log."""

from __future__ import annotations

from typing import Any

import numpy as np

from rotting import _checks
from rotting._online.core import Core
from rotting._online.labels import some
from rotting.kernel.arrays import FloatArray, IntArray
from rotting.policies._base import Policy


def columns_of(
    arms: Any, rewards: Any, pulls: Any, propensities: Any, keys: Any = None
) -> tuple[list[Any], FloatArray, Any, Any, list[Any]]:
    """Labels, rewards, pulls and propensities (None if not given), and keys, if there are any.

    A frame is anything with columns by name (pandas, polars, Arrow). Its column of arms is the only
    one not named, or the one called "arm". An object with a method `history`, such as a
    `logs.Log`, has all columns itself; its unknown rewards are NaN.
    """
    if has_history(arms):
        return _columns_of_log(arms, [rewards, pulls, propensities, keys])
    names = _names(arms)
    if names is not None:
        given = [rewards, pulls, propensities, keys]
        _check_named(given, names)
        others = [name for name in names if name not in given]
        if len(others) > 1 and "arm" in others:
            others = ["arm"]
        if len(others) != 1:
            raise ValueError(
                "arms must be a frame with one column beside those named, or one called 'arm', "
                f"got {names}"
            )
        frame = arms
        arms = frame[others[0]]
        rewards, pulls, propensities, keys = (
            None if column is None else frame[column] for column in given
        )
    labels = listed("arms", arms)
    values = _checks.rewards(_array(rewards))
    if len(labels) != len(values):
        raise ValueError(f"rewards must be {len(labels)}, one for each arm, got {len(values)}")
    whose = [] if keys is None else listed("keys", keys)
    return labels, values, _array(pulls), _array(propensities), whose


def has_history(source: Any) -> bool:
    """Whether this is a log, which has its own columns."""
    return callable(getattr(source, "history", None))


def _columns_of_log(
    log: Any, given: list[Any]
) -> tuple[list[Any], FloatArray, Any, Any, list[Any]]:
    if any(each is not None for each in given):
        raise ValueError("a log must be given alone: it has rewards, keys and pulls of its own")
    found = log.history()
    keys = [] if found["keys"] is None else found["keys"]
    return found["arms"], found["rewards"], found["pulls"], found["propensities"], keys


def _names(frame: Any) -> list[str] | None:
    """The columns of a frame; None for anything else."""
    names = getattr(frame, "column_names", None)  # Arrow
    if names is None:
        names = getattr(frame, "columns", None)
    return None if names is None else list(names)


def _check_named(columns: list[Any], names: list[str]) -> None:
    """Raise ValueError for an argument that is no column's name, such as an array."""
    known = set(names)
    for column in columns:
        try:
            fine = column is None or column in known
        except TypeError:  # an array
            fine = False
        if not fine:
            said = repr(column) if isinstance(column, str) else str(column)[:80]
            raise ValueError(f"column must be one of {names}, got {said}")


def _array(values: Any) -> Any:
    """A column as an array."""
    return values.to_numpy() if hasattr(values, "to_numpy") else values


def listed(name: str, values: Any) -> list[Any]:
    """Labels as a list, from any column, array or iterable."""
    if isinstance(values, (str, bytes)):
        raise ValueError(f"{name} must be a list of labels, got {values!r}")
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(values, method):
            return list(getattr(values, method)())
    try:
        return list(values)
    except TypeError:
        raise ValueError(f"{name} must be a list of labels, got {values!r}") from None


def numbers_of(labels: Any, core: Core) -> IntArray:
    """The numbers of arms by their labels."""
    numbers = core.numbers
    try:
        return np.array([numbers[label] for label in labels], dtype=np.int64)
    except (KeyError, TypeError):
        unknown = next(label for label in labels if not _known(label, numbers))
        raise ValueError(f"arms must be labels of {some(core.arms)}, got {unknown!r}") from None


def propensities_of(given: Any, count: int, policy: Policy) -> FloatArray:
    """Probabilities of the choices; NaN if none are given and the policy needs none."""
    if given is None:
        if policy.verbs.set_propensity is not None and count:
            raise ValueError(
                f"propensities must be given: {policy.title} learns by the probabilities "
                "with which arms were chosen"
            )
        return np.full(count, np.nan)
    found = _checks.rewards(given)
    if len(found) != count or np.any(found <= 0.0) or np.any(found > 1.0):
        raise ValueError(f"propensities must be {count} probabilities above 0 and at most 1")
    return found


def _known(label: Any, numbers: dict[Any, int]) -> bool:
    try:
        return label in numbers
    except TypeError:
        return False
