"""A digest of everything that compiled code was made from.

Numba keys its cache by the file of the function it compiles and does not notice an edit anywhere
else: a changed constant in a policy would silently give the old numbers. So each compiled loop
carries this digest in its name: the bytecode of its functions and, from there on, of every function
and the value of every constant they refer to, in whatever module. Bytecode, not source: it is what
is compiled, even if the file has been edited since it was imported.
"""

from __future__ import annotations

import hashlib
import inspect
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

_TRUSTED = ("numpy", "math", "numba", "builtins")  # their versions are part of numba's own key


def fingerprint(functions: Iterable[Callable[..., Any]], extra: Iterable[str] = ()) -> str | None:
    """A digest of the functions and all they refer to; None if they refer to something unknown.

    What has no digest must not be cached.
    """
    digest = hashlib.blake2b(digest_size=8)
    seen: set[int] = set()
    todo: list[Any] = [("", function) for function in functions]
    for text in extra:
        digest.update(f"{text}\n".encode())
    while todo:
        name, value = todo.pop()
        value = getattr(value, "py_func", value)  # a function that numba has wrapped
        if isinstance(value, types.FunctionType):
            function = inspect.unwrap(value)
            digest.update(f"{name}={function.__module__}.{function.__qualname__}\n".encode())
            if id(function) not in seen and not getattr(function, "dispatched", False):
                seen.add(id(function))
                digest.update(_bytecode(function.__code__).encode())
                digest.update(repr(function.__defaults__).encode())
                todo += _references(function)
        elif isinstance(value, np.ndarray):
            digest.update(f"{name}={value.dtype}{value.shape}".encode() + value.tobytes())
        elif isinstance(value, type):
            digest.update(f"{name}={value.__qualname__}{getattr(value, '_fields', '')}".encode())
        elif _is_plain(value):
            digest.update(f"{name}={value!r}\n".encode())
        elif not isinstance(value, types.BuiltinFunctionType):
            return None
    return digest.hexdigest()


def _is_plain(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(_is_plain(item) for item in value)
    return value is None or isinstance(value, (bool, int, float, complex, str, bytes, np.generic))


def _bytecode(code: types.CodeType) -> str:
    constants = [_bytecode(c) if isinstance(c, types.CodeType) else repr(c) for c in code.co_consts]
    return f"{code.co_code.hex()}{constants}{code.co_names}{code.co_varnames}{code.co_freevars}"


def _references(function: Any) -> Iterator[tuple[str, Any]]:
    """Names that a function (or one nested in it) reads from its module, with their values."""
    codes = [function.__code__]
    while codes:
        code = codes.pop()
        codes.extend(const for const in code.co_consts if isinstance(const, types.CodeType))
        for name in code.co_names:
            if name in function.__globals__:
                yield from _resolve(name, function.__globals__[name], code.co_names, set())
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        yield name, cell.cell_contents


def _resolve(
    name: str, value: Any, attributes: tuple[str, ...], seen: set[int]
) -> Iterator[tuple[str, Any]]:
    """A value, or the attributes of a module (and of modules in it) that the code may read."""
    if not isinstance(value, types.ModuleType):
        yield name, value
        return
    if value.__name__.partition(".")[0] in _TRUSTED or id(value) in seen:
        return
    seen.add(id(value))
    for attribute in attributes:
        if attribute in vars(value):
            yield from _resolve(f"{name}.{attribute}", vars(value)[attribute], attributes, seen)
