"""Registration of the package's functions with numba: the one place that uses its extensions.

Functions with variants (`compilable.by_type`, and the verbs of policies) are found by the types of
NamedTuples when a loop is compiled, through `numba.extending.overload`; functions marked `shared`
are registered as they are.

Two warnings from experience. Never compile a verb with `inline="always"`: numba 0.68 then drops
the writes to the state's arrays silently. And numba's cache does not notice an edit in another file
than the one it compiles: see `compiled.fingerprint`.
"""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from rotting._engines.state_block import restart
from rotting.kernel.compilable import CALLED, DECLARED, GPU_FORMS, PENDING
from rotting.kernel.state import Uncleared, marks_of
from rotting.policies.parts import per_key_state

_CALLED = {"no_cfunc_wrapper": True}  # they are not called from C
_INLINED = {**_CALLED, "forceinline": True}
LOCK = threading.RLock()  # of the compiler: one thread at a time
if hasattr(os, "register_at_fork"):  # a forked child lacks the thread that held the lock
    os.register_at_fork(after_in_child=LOCK._at_fork_reinit)  # type: ignore[attr-defined]
_KNOWN: list[Callable[..., Any]] = []  # functions registered with the compiler


def make_known(function: Callable[..., Any], find: Callable[..., Any], **options: Any) -> None:
    """Register a function whose body is found by the types of its arguments."""
    from numba.extending import overload

    _KNOWN.append(function)
    overload(function, strict=False, **options)(find)


def clear_compiled(functions: Sequence[Callable[..., Any]] = ()) -> None:
    """Clear numba's compiled forms of these functions, or of all of them.

    Numba would use them again, with their old constants, in later compilations.
    """
    from numba.core.registry import cpu_target

    context = cpu_target.typing_context
    context.refresh()
    for function in functions or _KNOWN:
        for template in context.resolve_value_type(function).templates:
            template._impl_cache.clear()


def _copied_fields(state: Any, path: str = "") -> Iterator[tuple[str, int]]:
    """Path and number of dimensions of the arrays that a run clears; `state` is numba's type."""
    from numba.core import types as numba_types

    types: Any = numba_types
    for name, member in zip(state.fields, state.types, strict=True):
        if isinstance(member, (types.NamedTuple, types.NamedUniTuple)):
            yield from _copied_fields(member, f"{path}{name}.")
        elif not any(
            isinstance(mark, Uncleared) for mark in marks_of(state.instance_class).get(name, ())
        ):
            yield path + name, member.ndim


def _field_copier(state: Any) -> Callable[..., Any]:
    """A function that copies the arrays of a state, with its loops written out for the compiler."""
    lines = ["def copy(fresh, work):", "  pass"]
    for name, ndim in _copied_fields(state):
        indices = [f"i{axis}" for axis in range(ndim)]
        for axis, index in enumerate(indices):
            lines.append(f"{'  ' * (axis + 1)}for {index} in range(fresh.{name}.shape[{axis}]):")
        place = ", ".join(indices)
        lines.append(f"{'  ' * (ndim + 1)}work.{name}[{place}] = fresh.{name}[{place}]")
    scope: dict[str, Any] = {}
    exec("\n".join(lines), scope)
    copier: Callable[..., Any] = scope["copy"]
    return copier


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

    In the line `array` is the array's path, `place` the index of the number in it, `kind` its type
    and `end` its place in the row.
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
    """The body of `policies.parts.per_key_state.store` for states of that type."""
    return _made("store", state, "rows[key, end] = {array}[{place}]")


def fetching(state: Any) -> Callable[..., Any]:
    """The body of `policies.parts.per_key_state.fetch` for states of that type."""
    return _made("fetch", state, "{array}[{place}] = np.{kind}(rows[key, end])")


restart.table.generate = lambda fresh, work: _field_copier(fresh)
per_key_state.store.table.generate = lambda state, rows, key: storing(state)
per_key_state.fetch.table.generate = lambda state, rows, key: fetching(state)


def register() -> None:
    """Register all new functions that have variants or are marked `shared`."""
    with LOCK:
        while DECLARED:
            function = DECLARED.pop()
            make_known(function, function.table.compiled_body, jit_options=_INLINED)
        while PENDING:
            outer, body = PENDING.pop()
            options = _CALLED if body in CALLED else _INLINED
            make_known(outer, lambda *args, _body=body: _body, jit_options=options)


@functools.cache
def register_gpu_forms() -> None:
    """Register the functions' forms for a GPU."""
    from numba.extending import overload

    for usual, form in GPU_FORMS:
        overload(usual, strict=False, jit_options=_INLINED, target="cuda")(
            lambda *args, _form=form: _form
        )


@functools.cache
def register_loops(loops: tuple[Callable[..., Any], ...]) -> None:
    """Register loops that compiled code calls, such as the CUDA engine's kernels."""
    from numba.extending import overload

    for loop in loops:
        overload(loop, strict=False)(lambda *args, _body=loop: _body)
