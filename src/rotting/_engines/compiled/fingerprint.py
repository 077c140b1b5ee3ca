"""The fingerprint of compiled code: a digest of all that it is made from, to notice changes.

Numba keys its cache by the file of the function it compiles and does not notice an edit anywhere
else: a changed constant in a policy would silently give the old numbers. So each compiled loop
carries a digest in its name: the bytecode of its functions and, recursively, of every function
and the value of every constant they refer to, in any module. Bytecode, not source: it is what is
compiled, even if the file has been edited since it was imported. Docstrings are left out.

A digest takes long next to a small simulation. So the objects visited are kept, and while every
name still refers to the same object no new digest is needed.
"""

from __future__ import annotations

import dis
import enum
import functools
import hashlib
import inspect
import types
from collections.abc import Callable, Iterable, Iterator
from itertools import repeat
from operator import attrgetter, is_
from typing import Any, NamedTuple

import numpy as np

from rotting.kernel.compilable import Table

_TRUSTED = ("numpy", "math", "numba", "builtins")  # their versions are part of the cache's own key
_ABSENT = object()
_LOAD_GLOBAL, _LOAD_NAME = dis.opmap["LOAD_GLOBAL"], dis.opmap["LOAD_NAME"]

Name = tuple[dict[Any, Any], Any, Any]  # a namespace, a name in it, and the object it refers to


class Snapshot:
    """The state of functions at one moment: their code, and the objects they refer to."""

    def __init__(self, functions: list[Any], names: list[Name], arrays: list[Any]) -> None:
        """`names` are read by the functions; `arrays` are constants that can change in place."""
        self._functions = functions  # kept alive, so that their ids stay theirs
        self._codes = [function.__code__ for function in functions]
        self._defaults = [function.__defaults__ for function in functions]
        self._more = [function.__kwdefaults__ for function in functions]
        self._cells = [cell for function in functions for cell in function.__closure__ or ()]
        self._contents = [_content(cell) for cell in self._cells]
        self._arrays = [(array, array.tobytes()) for array in arrays]
        spaces: dict[int, tuple[dict[Any, Any], dict[Any, Any]]] = {}
        for space, name, value in names:
            spaces.setdefault(id(space), (space, {}))[1][name] = value
        self._spaces = list(spaces.values())

    def unchanged(self) -> bool:
        """Whether the functions, and all that their names refer to, are still the same objects."""
        functions, cells = self._functions, self._cells
        return (
            all(map(is_, map(attrgetter("__code__"), functions), self._codes))
            and all(map(is_, map(attrgetter("__defaults__"), functions), self._defaults))
            and all(map(is_, map(attrgetter("__kwdefaults__"), functions), self._more))
            and all(map(is_, map(_content, cells), self._contents))
            and all(
                all(map(is_, map(space.get, then, repeat(_ABSENT)), then.values()))
                for space, then in self._spaces
            )
            and all(array.tobytes() == then for array, then in self._arrays)
        )


class Fingerprint(NamedTuple):
    """The digest and the snapshots of all functions that a loop leads to."""

    digest: str | None  # None if they refer to an unknown object: the code must not be cached
    whole: Snapshot
    snapshots: dict[int, Snapshot]  # of each function, and each table of variants, alone, by its id
    dispatchers: dict[int, Any]  # numba's, for functions that the user has compiled
    kinds: list[Name]  # the names under which the first functions were found


def fingerprint_of(
    functions: Iterable[Callable[..., Any]],
    extra: Iterable[str] = (),
    kinds: Iterable[Name] = (),
) -> Fingerprint:
    """The fingerprint of functions and all they refer to; `kinds` are the names that led here."""
    digest = hashlib.blake2b(digest_size=8)
    known, places = True, list(kinds)
    found: dict[int, tuple[Any, list[Name], list[Any]]] = {}
    tables: dict[int, list[Name]] = {}  # of functions with variants
    dispatchers: dict[int, Any] = {}
    todo: list[Any] = [("", function) for function in functions]
    for text in extra:
        digest.update(f"{text}\n".encode())
    while todo:
        name, value = todo.pop()
        table = getattr(value, "table", None)
        if isinstance(table, Table):
            digest.update(f"{name}={value.__module__}.{value.__qualname__}\n".encode())
            if id(value) not in tables:
                tables[id(value)] = [(table.variants, *item) for item in table.variants.items()]
                todo += [("", body) for body in table.bodies()]
            continue
        wrapped = getattr(value, "py_func", value)  # a function that numba has wrapped
        if isinstance(wrapped, types.FunctionType):
            function: Any = inspect.unwrap(wrapped)
            digest.update(f"{name}={function.__module__}.{function.__qualname__}\n".encode())
            if wrapped is not value:
                dispatchers[id(function)] = value
            if id(function) not in found:
                digest.update(_bytecode(function.__code__).encode())
                names, references = _references(function)
                arrays = [x for _, value in references for x in _arrays_in(value)]
                found[id(function)] = function, names, arrays
                todo += references
        elif isinstance(value, np.ndarray):
            digest.update(f"{name}={value.dtype}{value.shape}".encode() + value.tobytes())
        elif isinstance(value, type):
            digest.update(f"{name}={value.__qualname__}{_members(value)}\n".encode())
        elif _is_plain(value):
            digest.update(f"{name}={type(value).__name__}:{value!r}\n".encode())
        elif isinstance(value, types.BuiltinFunctionType | np.ufunc):
            module = getattr(value, "__module__", "numpy")
            digest.update(f"{name}={module}.{value.__name__}\n".encode())
        else:
            known = False
    whole = Snapshot(
        [function for function, _, _ in found.values()],
        [
            *places,
            *(name for _, names, _ in found.values() for name in names),
            *(name for names in tables.values() for name in names),
        ],
        [array for _, _, arrays in found.values() for array in arrays],
    )
    snapshots = {place: Snapshot([function], *seen) for place, (function, *seen) in found.items()}
    snapshots |= {place: Snapshot([], names, []) for place, names in tables.items()}
    return Fingerprint(digest.hexdigest() if known else None, whole, snapshots, dispatchers, places)


def _members(kind: type) -> Any:
    """The parts of a class that compiled code may read: fields of a tuple, members of an enum."""
    if issubclass(kind, enum.Enum):
        return [(name, member.value) for name, member in kind.__members__.items()]
    return getattr(kind, "_fields", "")


def _is_plain(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(_is_plain(item) for item in value)
    plain = (bool, int, float, complex, str, bytes, np.generic, enum.Enum)
    return value is None or isinstance(value, plain)


def _references(function: Any) -> tuple[list[Name], list[tuple[str, Any]]]:
    """The names that a function reads, with their namespaces, and all objects that it refers to."""
    code, space = function.__code__, function.__globals__
    names: list[Name] = []
    found = [(f"default {k}", value) for k, value in enumerate(function.__defaults__ or ())]
    found += sorted((function.__kwdefaults__ or {}).items())
    for name in _globals_of(code):
        names.append((space, name, space.get(name, _ABSENT)))
        if name in space:
            found += _resolve(name, space[name], _attributes_of(code), names, set())
    cells = zip(code.co_freevars, function.__closure__ or (), strict=True)
    found += [(name, _content(cell)) for name, cell in cells]
    return names, found


def _content(cell: Any) -> Any:
    """The content of a closure's variable, which may be unset."""
    try:
        return cell.cell_contents
    except ValueError:
        return _ABSENT


def _arrays_in(value: Any) -> Iterator[Any]:
    """An array, or those in a tuple."""
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from _arrays_in(item)


def _resolve(
    name: str, value: Any, attributes: frozenset[str], names: list[Name], seen: set[int]
) -> Iterator[tuple[str, Any]]:
    """A value, or the attributes of a module (and of modules in it) that the code may read."""
    if not isinstance(value, types.ModuleType):
        yield name, value
        return
    if value.__name__.partition(".")[0] in _TRUSTED or id(value) in seen:
        return
    seen.add(id(value))
    space = vars(value)
    for attribute in sorted(attributes):
        if attribute in space:
            names.append((space, attribute, space[attribute]))
            yield from _resolve(f"{name}.{attribute}", space[attribute], attributes, names, seen)


@functools.cache
def _nested(code: types.CodeType) -> tuple[types.CodeType, ...]:
    """The code of a function and of the functions inside it."""
    inside = [const for const in code.co_consts if isinstance(const, types.CodeType)]
    return (code, *(each for const in inside for each in _nested(const)))


@functools.cache
def _attributes_of(code: types.CodeType) -> frozenset[str]:
    """Names of attributes that the code may read, and some more."""
    return frozenset(name for each in _nested(code) for name in each.co_names)


@functools.cache
def _globals_of(code: types.CodeType) -> tuple[str, ...]:
    """Names that a function, or one inside it, reads from its module.

    Not all of `co_names`: it holds attributes too, and a notebook's own `reward` is unrelated to a
    state's.
    """
    found = set()
    for each in _nested(code):
        for operation, argument in _instructions(each):
            if operation == _LOAD_GLOBAL:
                found.add(each.co_names[argument >> 1])  # the lowest bit marks a call
            elif operation == _LOAD_NAME:
                found.add(each.co_names[argument])
    return tuple(sorted(found))


def _instructions(code: types.CodeType) -> Iterator[tuple[int, int]]:
    """Operations with their arguments; `dis.get_instructions` takes 25 times as long."""
    high = 0
    for operation, low in zip(code.co_code[::2], code.co_code[1::2], strict=True):
        argument = high | low
        high = argument << 8 if operation == dis.EXTENDED_ARG else 0
        yield operation, argument


@functools.cache
def _bytecode(code: types.CodeType) -> str:
    # only constants that are used: no instruction reads the docstring
    used = {argument for operation, argument in _instructions(code) if operation in dis.hasconst}
    constants = [
        _bytecode(const) if isinstance(const, types.CodeType) else repr(const)
        for place, const in enumerate(code.co_consts)
        if place in used
    ]
    return f"{code.co_code.hex()}{constants}{code.co_names}{code.co_varnames}{code.co_freevars}"
