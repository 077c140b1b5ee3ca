"""Marks plain functions that compiled code may call.

A policy calls small shared pieces (draws, tie-breaks, windows). They stay plain Python here, so
that importing them costs nothing and they can be read and run without a compiler;
`rotting.engines.compiled.overloads` makes the marked ones known to the compiler when it is first
needed.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import numpy as np

P = ParamSpec("P")
R = TypeVar("R")

# (the function as Python sees it, the body that is compiled), waiting to be registered
PENDING: list[tuple[Callable[..., Any], Callable[..., Any]]] = []
CALLED: set[Callable[..., Any]] = set()  # bodies that are called where they are not inlined
# (the function, its other form for a GPU)
GPU_FORMS: list[tuple[Callable[..., Any], Callable[..., Any]]] = []


def dispatched(function: Callable[P, R]) -> Callable[P, R]:
    """Mark a function whose compiled form is not its body: it is found by the types it gets."""
    function.dispatched = True  # type: ignore[attr-defined]
    return function


def shared(function: Callable[P, R]) -> Callable[P, R]:
    """Let compiled policies call this plain function.

    >>> @shared
    ... def twice(x: float) -> float:
    ...     return 2.0 * x
    >>> twice(1.5)
    3.0
    """
    PENDING.append((function, function))
    return function


def seldom(function: Callable[P, R]) -> Callable[P, R]:
    """Mark a function, `shared` as well, that need not be fast: it is called, not inlined.

    What every policy's loop calls is then compiled once, not once more with every policy. It goes
    below `shared` or `wrapping`.
    """
    CALLED.add(function)
    return function


def on_gpu(usual: Callable[P, R]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Let GPUs run this function instead of the usual one. Both must give the same answer.

    A processor predicts branches and goes on; the threads of a GPU's warp, when they take different
    branches (divergence), wait for each other. Few functions are worth two forms.
    """

    def mark(form: Callable[P, R]) -> Callable[P, R]:
        GPU_FORMS.append((usual, form))
        return form

    return mark


def wrapping(function: Callable[P, R]) -> Callable[P, R]:
    """Like `shared`, for arithmetic modulo 2^64: plain Python must not warn when it wraps."""

    @functools.wraps(function)
    def quiet(*args: P.args, **kwargs: P.kwargs) -> R:
        with np.errstate(over="ignore"):
            return function(*args, **kwargs)

    PENDING.append((quiet, function))
    return quiet
