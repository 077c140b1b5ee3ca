"""Compiling the loops for one policy, with a cache that outlives the process and notices edits."""

from __future__ import annotations

import contextlib
import sys
import threading
import types
from collections.abc import Callable, Iterator
from typing import Any

from rotting.bandits import Bandits, World
from rotting.engines import image
from rotting.engines.baseline import Baseline
from rotting.engines.compiled import overloads
from rotting.engines.compiled.fingerprint import fingerprint
from rotting.engines.loop import Keys, Outcome, Scratch
from rotting.state import kinds
from rotting.verbs import KINDS

_LOCK = threading.RLock()
_DONE: dict[tuple[str, tuple[type, ...], str], Callable[..., Any]] = {}


def compiled(
    loop: Callable[..., Any], params: Any, state: Any, layout: str = ""
) -> Callable[..., Any]:
    """A loop compiled for the policy that has these params and this state.

    `layout` tells apart forms of the loop that close over different types.
    """
    key = (loop.__qualname__, kinds(params) + kinds(state), layout)
    with _LOCK:
        if key not in _DONE:
            _DONE[key] = _compile(loop, params, state, layout)
        return _DONE[key]


def _can_be_found_again(kind: type) -> bool:
    """Whether another process can import this type; one made in a script or notebook it cannot."""
    module = sys.modules.get(kind.__module__)
    found = getattr(module, kind.__qualname__, None) is kind
    return found and kind.__module__ != "__main__"


def _compile(loop: Any, params: Any, state: Any, layout: str) -> Callable[..., Any]:
    import numba

    overloads.register()
    # a policy may hold others, whose verbs it calls
    verbs = [verb for kind in kinds(params) if kind in KINDS for verb in KINDS[kind].compiled]
    others = (image.Image, Scratch, World, Bandits, Keys, Baseline, Outcome)
    handed = (*kinds(params), *kinds(state), *others)
    fields = [f"{kind}{getattr(kind, '_fields', '')}" for kind in handed]
    mark = fingerprint([loop, image.copy_words, *verbs], [*fields, layout])
    cache = mark is not None and all(map(_can_be_found_again, kinds(params)))
    # Its own copy with its own name: numba then keeps a cache index per policy and fingerprint,
    # so that no index refers to a module that another process cannot import.
    copy = types.FunctionType(
        loop.__code__, loop.__globals__, loop.__name__, loop.__defaults__, loop.__closure__
    )
    owner = type(params).__module__.replace(".", "_")
    copy.__qualname__ = f"{loop.__name__}_{owner}_{mark}"
    copy.__module__ = loop.__module__
    # Without numba's runtime there is no reference counting, which takes most of the time
    # otherwise; the price is that nothing compiled may allocate.
    result: Callable[..., Any] = numba.njit(
        nogil=True, error_model="numpy", cache=cache, _nrt=False, no_cfunc_wrapper=True
    )(copy)
    return result


@contextlib.contextmanager
def explained(name: str) -> Iterator[None]:
    """Say of a policy that cannot be compiled what stands in the way, in a line."""
    try:
        yield
    except Exception as error:
        if not type(error).__module__.startswith("numba."):
            raise
        lines = [line.strip() for line in str(error).splitlines()]
        telling = [line for line in lines if any(word in line for word in _TELLING)]
        reason = telling[-1] if telling else (lines[0] if lines else type(error).__name__)
        raise ValueError(
            f"{name} cannot be compiled: {reason} (CONTRIBUTING.md has the rules of compiled code; "
            "engine='reference', or compiled=False online, plays it as it is)"
        ) from error


_TELLING = (
    "Untyped global name",
    "NRT required",
    "Cannot unify",
    "No implementation of function",
    "Unknown attribute",
    "Use of unsupported",
    "Invalid use of",
)
