"""Plain functions that compiled code may call, and functions with a variant for each type.

A policy calls small shared pieces (draws, tie-breaks, windows). They stay plain Python here, so
importing them costs nothing, and they can be read and run without a compiler.
`rotting._engines.compiled.numba_hooks` registers the marked ones with the compiler at first use.

Some pieces differ by a type: without an audience, counts by key do not exist. Such a function is
declared once, with a variant for each type beside it (`by_type`). Plain Python, the compilers of
CPU and GPU, and the fingerprint of compiled code all find the variants in the same table.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, ParamSpec, Protocol, TypeVar

import numpy as np

__all__ = [
    "by_type",
    "on_gpu",
    "seldom",
    "shared",
    "wrapping",
]

P = ParamSpec("P")
R = TypeVar("R")
Result = TypeVar("Result", covariant=True)
Body = Callable[..., Any]
F = TypeVar("F", bound="Dispatched[..., Any]")


class Table:
    """The bodies of a function, by the type of one of its arguments, or of a part of it.

    `generate` makes the compiled body for types without a variant, from numba's types of all
    arguments. Without `generate` that body is `compiled`, and without that the default.
    """

    def __init__(self, default: Body, argument: str, compiled: Body | None = None) -> None:
        name, *path = argument.split(".")
        self.names = list(inspect.signature(default).parameters)
        if name not in self.names:
            raise ValueError(f"argument must be one of {', '.join(self.names)}, got {name!r}")
        self.argument, self.place, self.path = argument, self.names.index(name), path
        self.default = default
        self._compiled = compiled or default
        self.generate: Body | None = None
        self.variants: dict[type, Body] = {}

    def find(self, kind: Any, default: Any) -> Any:
        return self.variants.get(kind, default)

    def of(self, *kinds: type) -> Callable[[Body], Body]:
        """A decorator that declares the variant of these types."""

        def declare(body: Body) -> Body:
            if body.__name__ == "_":
                body.__name__ = body.__qualname__ = (
                    f"{self.default.__name__}_of_{kinds[0].__name__}"
                )
            for kind in kinds:
                self.variants[kind] = body
            return body

        return declare

    def compiled_body(self, *types: Any) -> Body:
        """The body for numba's types of the arguments."""
        found = types[self.place]
        for name in self.path:
            fields = getattr(found, "fields", ())
            found = found.types[fields.index(name)] if name in fields else None
        kind = getattr(found, "instance_class", None)
        body: Body | None = None if kind is None else self.find(kind, None)
        if body is not None:
            return body
        made: Body = self._compiled if self.generate is None else self.generate(*types)
        return made

    def bodies(self) -> list[Body]:
        """All bodies that compiled code may come from, except generated ones."""
        others = [self._compiled] if self.generate is None else []
        return list(dict.fromkeys([*others, *self.variants.values()]))


class Dispatched(Protocol[P, Result]):
    """A function whose body is found by a type."""

    table: Table
    of: Callable[..., Callable[[Body], Body]]

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Result:
        """Call the body for the types of these arguments, in plain Python."""


# functions with variants, to be registered with the compiler
DECLARED: list[Dispatched[..., Any]] = []


def declared(function: F) -> F:
    """Let compiled code call a function with variants."""
    DECLARED.append(function)
    return function


def dispatched(table: Table) -> Any:
    """The function that looks bodies up in a table; its arguments are spelt out, for speed."""
    arguments = ", ".join(table.names)
    lines = [
        f"def call({arguments}):",
        "    try:",
        f"        kind = type({table.argument})",
        "    except AttributeError:  # it has no such part",
        "        kind = None",
        f"    return find(kind, default)({arguments})",
    ]
    if not table.path:
        lines[1:5] = [f"    kind = type({table.argument})"]
    find = table.variants.get if type(table) is Table else table.find
    scope: dict[str, Any] = {"find": find, "default": table.default}
    exec("\n".join(lines), scope)
    made: Any = functools.update_wrapper(scope["call"], table.default)
    made.table, made.of = table, table.of
    return made


def by_type(argument: str) -> Callable[[Callable[P, R]], Dispatched[P, R]]:
    """Declare a function whose body depends on the type of an argument.

    Use it where a state may hold one of several parts, as `NoKeys` or `Exposures`. Compiled code
    contains the variant's body only, so a part that is absent costs nothing. The choice is made
    by the exact type; subclasses do not count.

    Args:
        argument: The argument that decides, or a part of it by its path: "exposure", or
            "state.arms.exposure". A path that does not exist counts as a type without a variant.

    Returns:
        A decorator. What it decorates is the body for all types without a variant; the
        result has a decorator `of(*types)` that declares the variant of these types.

    Raises:
        ValueError: The decorated function has no such argument.

    >>> @by_type("shape")
    ... def corners(shape: Any) -> int:
    ...     return 0
    >>> @corners.of(list)
    ... def _(shape: Any) -> int:
    ...     return len(shape)
    >>> corners([1, 2, 3]), corners(None)
    (3, 0)
    """

    def declare(default: Callable[P, R]) -> Dispatched[P, R]:
        made: Dispatched[P, R] = dispatched(Table(default, argument))
        return declared(made)

    return declare


# (the function as Python sees it, the body to compile), to be registered with the compiler
PENDING: list[tuple[Callable[..., Any], Callable[..., Any]]] = []
CALLED: set[Callable[..., Any]] = set()  # bodies that are called, not inlined
# (the function, its other form for a GPU)
GPU_FORMS: list[tuple[Callable[..., Any], Callable[..., Any]]] = []


def shared(function: Callable[P, R]) -> Callable[P, R]:
    """Let compiled policies call this plain function.

    Every function that a verb calls needs this mark, helpers in your own module included. Its body
    follows the rules of compiled code: plain loops, `math`, indexing and other marked functions,
    and no new arrays.

    Args:
        function: A plain function; it stays as it is.

    Returns:
        The function itself.

    >>> @shared
    ... def twice(x: float) -> float:
    ...     return 2.0 * x
    >>> twice(1.5)
    3.0
    """
    PENDING.append((function, function))
    return function


def seldom(function: Callable[P, R]) -> Callable[P, R]:
    """Mark a `shared` function as rarely called: compiled code calls it and does not inline it.

    Inlined code is compiled again with every policy; a called function once. Use it for rare cases
    and long bodies.

    Args:
        function: A function; the mark goes below `shared` or `wrapping`.

    Returns:
        The function itself.

    >>> @shared
    ... @seldom
    ... def total(values: Any) -> float:
    ...     found = 0.0
    ...     for value in values:
    ...         found += value
    ...     return found
    >>> total([1.0, 2.0])
    3.0
    """
    CALLED.add(function)
    return function


def on_gpu(usual: Callable[P, R]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Give a `shared` function a second form for GPUs. Both must return the same results.

    A processor predicts branches and goes on; the threads of a GPU's warp, when they take different
    branches (divergence), wait for each other. Few functions are worth two forms.

    Args:
        usual: The form for CPUs.

    Returns:
        A decorator for the GPU's form, which it leaves as it is.

        @shared
        def larger(a: float, b: float) -> float:
            return a if a > b else b


        @on_gpu(larger)
        def larger_without_branch(a: float, b: float) -> float:
            return max(a, b)
    """

    def mark(form: Callable[P, R]) -> Callable[P, R]:
        GPU_FORMS.append((usual, form))
        return form

    return mark


def wrapping(function: Callable[P, R]) -> Callable[P, R]:
    """Like `shared`, for arithmetic modulo 2^64: plain Python then wraps without NumPy's warning.

    Args:
        function: A function of `uint64` words.

    Returns:
        The function with overflow warnings off. Compiled code gets the body itself.

    >>> @wrapping
    ... def next_word(word: Any) -> Any:
    ...     return word + np.uint64(1)
    >>> int(next_word(np.uint64(2**64 - 1)))
    0
    """

    @functools.wraps(function)
    def quiet(*args: P.args, **kwargs: P.kwargs) -> R:
        with np.errstate(over="ignore"):
            return function(*args, **kwargs)

    PENDING.append((quiet, function))
    return quiet
