"""How compiled code writes a nested state into a row of numbers and reads it again.

Generated from the state's type: a loop for each of its arrays, in the order of `state.values`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np


def _arrays(state: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Path and type of all arrays of a state; `state` is numba's type."""
    from numba.core import types as numba_types

    types: Any = numba_types
    if len(state) == 0:
        return
    for name, member in zip(state.fields, state.types, strict=True):
        if isinstance(member, types.Array):
            yield path + name, member
        else:
            yield from _arrays(member, f"{path}{name}.")


def _made(name: str, state: Any, line: str) -> Callable[..., Any]:
    """A function of (state, rows, key) with a line for each number, inside the loops that reach it.

    In the line `array` is the array's path, `place` the number's place in it and `kind` its type;
    `end` is its place in the row.
    """
    lines = [f"def {name}(state, rows, key):", "  end = 0"]
    for path, array in _arrays(state):
        indices = [f"i{axis}" for axis in range(array.ndim)]
        for axis, index in enumerate(indices):
            lines.append(f"{'  ' * (axis + 1)}for {index} in range(state.{path}.shape[{axis}]):")
        inside = "  " * (array.ndim + 1)
        place = ", ".join(indices)
        lines.append(inside + line.format(array=f"state.{path}", place=place, kind=array.dtype))
        lines.append(f"{inside}end += 1")
    scope: dict[str, Any] = {"np": np}
    exec("\n".join(lines), scope)
    function: Callable[..., Any] = scope[name]
    return function


def storing(state: Any) -> Callable[..., Any]:
    """`policies.parts.shelf.store` for states of that type."""
    return _made("store", state, "rows[key, end] = {array}[{place}]")


def fetching(state: Any) -> Callable[..., Any]:
    """`policies.parts.shelf.fetch` for states of that type."""
    return _made("fetch", state, "{array}[{place}] = np.{kind}(rows[key, end])")
