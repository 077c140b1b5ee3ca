"""The verbs, dispatched on the type of the params: the one place that knows numba's extensions.

Plain Python looks the verbs up at each call; compiled code finds them when it is compiled, through
`numba.extending.overload` on the params' NamedTuple type. The functions below are what both the
plain and the compiled loops call.

Two warnings from experience. Never compile a verb with `inline="always"`: numba 0.68 then drops
the writes to the state's arrays without a word. And numba's cache does not notice an edit in
another file than the one it compiles: see `rotting.engines.compiled.fingerprint`.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any

from rotting.compilable import CALLED, GPU_FORMS, PENDING
from rotting.engines.compiled.fingerprint import dispatched
from rotting.engines.compiled.image import Image
from rotting.policies.base import KINDS, verbs_of


@dispatched
def select(params: Any, state: Any, draw: Any) -> Any:
    """Decide: the arm to pull next."""
    return verbs_of(params).select(params, state, draw)


@dispatched
def update(params: Any, state: Any, arm: Any, pull: Any, reward: Any) -> Any:
    """Learn from the reward of one pull."""
    verbs_of(params).update(params, state, arm, pull, reward)


@dispatched
def reveal(params: Any, state: Any, models: Any, constants: Any) -> Any:
    """Tell the policy the true bandit, if it is one that may know."""
    verb = verbs_of(params).reveal
    if verb is not None:
        verb(params, state, models, constants)


@dispatched
def restart(fresh: Any, work: Any) -> Any:
    """Bring a state to its start: `fresh` is an `Image` of it, or on a GPU such a state itself."""
    if isinstance(fresh, Image):
        fresh.now[: fresh.start.size] = fresh.start
    else:
        for source, target in zip(fresh, work, strict=True):
            target[...] = source


_CALLED = {"no_cfunc_wrapper": True}  # nobody calls them from C
_INLINED = {**_CALLED, "forceinline": True}
_LOCK = threading.Lock()


def room_of(state_type: type) -> set[str]:
    """The fields of a state that need not be cleared."""
    return {name for kind in KINDS.values() if kind.state is state_type for name in kind.room}


def copy_words(fresh: Any, work: Any) -> None:
    """`restart` for an `Image`, compiled."""
    for i in range(fresh.start.size):
        fresh.now[i] = fresh.start[i]


def _field_copier(state: Any) -> Callable[..., Any]:
    """A function that copies the arrays of a state, its loops written out for the compiler."""
    lines = ["def copy(fresh, work):", "  pass"]
    for name, array in zip(state.fields, state.types, strict=True):
        if name in room_of(state.instance_class):
            continue
        indices = [f"i{axis}" for axis in range(array.ndim)]
        for axis, index in enumerate(indices):
            lines.append(f"{'  ' * (axis + 1)}for {index} in range(fresh.{name}.shape[{axis}]):")
        place = ", ".join(indices)
        lines.append(f"{'  ' * (array.ndim + 1)}work.{name}[{place}] = fresh.{name}[{place}]")
    scope: dict[str, Any] = {}
    exec("\n".join(lines), scope)
    copier: Callable[..., Any] = scope["copy"]
    return copier


@functools.cache
def _register_verbs() -> None:
    from numba.extending import overload

    def nothing(params: Any, state: Any, models: Any, constants: Any) -> Any:
        return None

    overload(select, strict=False, jit_options=_INLINED)(
        lambda params, state, draw: KINDS[params.instance_class].select
    )
    overload(update, strict=False, jit_options=_INLINED)(
        lambda params, state, arm, pull, reward: KINDS[params.instance_class].update
    )
    overload(reveal, strict=False, jit_options=_INLINED)(
        lambda params, state, models, constants: KINDS[params.instance_class].reveal or nothing
    )
    overload(restart, strict=False, jit_options=_INLINED)(
        lambda fresh, work: copy_words if fresh.instance_class is Image else _field_copier(fresh)
    )


def register() -> None:
    """Make the verbs and all functions marked `shared` so far known to the compiler."""
    from numba.extending import overload

    with _LOCK:
        _register_verbs()
        while PENDING:
            outer, body = PENDING.pop()
            options = _CALLED if body in CALLED else _INLINED
            overload(outer, strict=False, jit_options=options)(lambda *args, _body=body: _body)


@functools.cache
def register_gpu_forms() -> None:
    """Make the functions' forms for a GPU known to its compiler."""
    from numba.extending import overload

    for usual, form in GPU_FORMS:
        overload(usual, strict=False, jit_options=_INLINED, target="cuda")(
            lambda *args, _form=form: _form
        )


@functools.cache
def register_loops(loops: tuple[Callable[..., Any], ...]) -> None:
    """Let compiled code call these loops: the CUDA engine's kernels do."""
    from numba.extending import overload

    for loop in loops:
        overload(loop, strict=False)(lambda *args, _body=loop: _body)
