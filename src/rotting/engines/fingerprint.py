"""A digest of everything that compiled code was made from.

Numba keys its cache by the file of the function it compiles and does not notice an edit anywhere
else: a changed constant in a policy would silently give the old numbers. So each compiled loop
carries this digest in its name: the source of its functions and, from there on, of every function
and the value of every constant they refer to, in whatever module.
"""

from __future__ import annotations

import hashlib
import inspect
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np


def fingerprint(functions: Iterable[Callable[..., Any]], extra: Iterable[str] = ()) -> str:
    """A digest of the functions' sources and all they refer to."""
    parts: dict[str, str] = {}
    todo = [inspect.unwrap(function) for function in functions]
    while todo:
        function = todo.pop()
        name = f"{function.__module__}.{function.__qualname__}"
        if name in parts:
            continue
        parts[name] = _source(function)
        for reference, value in _references(function):
            if isinstance(value, types.FunctionType):
                todo.append(inspect.unwrap(value))
            elif isinstance(value, type) and issubclass(value, tuple):
                parts[f"{name}:{reference}"] = (
                    f"{value.__qualname__}{getattr(value, '_fields', '')}"
                )
            elif isinstance(value, np.ndarray):
                parts[f"{name}:{reference}"] = f"{value.dtype}{value.shape}{value.tobytes().hex()}"
            elif isinstance(value, (bool, int, float, str, np.generic, tuple)):
                parts[f"{name}:{reference}"] = repr(value)
    text = "\n".join([f"{name}\n{parts[name]}" for name in sorted(parts)] + list(extra))
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def _source(function: Callable[..., Any]) -> str:
    try:
        return inspect.getsource(function)
    except (OSError, TypeError):  # typed in at a prompt: the bytecode has to do
        code = function.__code__
        return f"{code.co_code.hex()}{code.co_consts}"


def _references(function: Any) -> Iterator[tuple[str, Any]]:
    """Names that a function (or one nested in it) reads from its module, with their values."""
    codes = [function.__code__]
    while codes:
        code = codes.pop()
        codes.extend(const for const in code.co_consts if isinstance(const, types.CodeType))
        for name in code.co_names:
            if name not in function.__globals__:
                continue
            value = function.__globals__[name]
            if isinstance(value, types.ModuleType):
                if value.__name__.partition(".")[0] in ("numpy", "math", "numba"):
                    continue  # their versions are part of numba's own key
                for attribute in code.co_names:
                    if attribute in vars(value):
                        yield f"{name}.{attribute}", vars(value)[attribute]
            else:
                yield name, value
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        yield name, cell.cell_contents
