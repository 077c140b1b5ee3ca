"""What the compiler is told: the one place that knows numba's extensions.

The verbs (`rotting.verbs`) are found by the type of the params' NamedTuple when a loop is compiled,
through `numba.extending.overload`; functions marked `shared` are made known as they are.

Two warnings from experience. Never compile a verb with `inline="always"`: numba 0.68 then drops
the writes to the state's arrays without a word. And numba's cache does not notice an edit in
another file than the one it compiles: see `compiled.fingerprint`.
"""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from rotting import verbs
from rotting.compilable import CALLED, GPU_FORMS, PENDING
from rotting.engines import attending, waiting
from rotting.engines import events as happening
from rotting.engines.compiled.shelving import fetching, storing
from rotting.engines.image import Image, copy_words, restart
from rotting.policies.parts import arms, exposures, openings, shelf
from rotting.state import Uncleared, marks_of
from rotting.verbs import KINDS

_CALLED = {"no_cfunc_wrapper": True}  # nobody calls them from C
_INLINED = {**_CALLED, "forceinline": True}
_LOCK = threading.Lock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_LOCK._at_fork_reinit)  # type: ignore[attr-defined]
_KNOWN: list[Callable[..., Any]] = []  # functions that the compiler knows from here


def make_known(function: Callable[..., Any], find: Callable[..., Any], **options: Any) -> None:
    """Tell the compiler how to find the body of a function, by the types it is called with."""
    from numba.extending import overload

    _KNOWN.append(function)
    overload(function, strict=False, **options)(find)


def forget(functions: Sequence[Callable[..., Any]] = ()) -> None:
    """Let the compiler forget what it has compiled of these functions, or of all of them.

    It would use it again, with the constants of then, in whatever is compiled next.
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
    """A function that copies the arrays of a state, its loops written out for the compiler."""
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


@functools.cache
def _register_verbs() -> None:
    def nothing_to_judge(params: Any, state: Any, arm: Any) -> Any:
        return None

    def nothing_to_reveal(params: Any, state: Any, models: Any, constants: Any) -> Any:
        return None

    def nothing_to_reopen(params: Any, state: Any, flags: Any) -> Any:
        return None

    def nothing_to_tell(params: Any, state: Any, arm: Any, pull: Any, chance: Any) -> Any:
        return None

    def known(verb: Callable[..., Any], find: Callable[..., Any]) -> None:
        make_known(verb, find, jit_options=_INLINED)

    known(verbs.choose, lambda params, state, draw: KINDS[params.instance_class].choose)
    known(verbs.pulled, lambda params, state, arm: KINDS[params.instance_class].pulled)
    known(
        verbs.update,
        lambda params, state, arm, pull, reward: KINDS[params.instance_class].update,
    )
    known(verbs.judge, lambda params, state, arm, pull: KINDS[params.instance_class].judge)
    known(
        verbs.rejudge,
        lambda params, state, arm: KINDS[params.instance_class].rejudge or nothing_to_judge,
    )
    known(
        verbs.reveal,
        lambda params, state, models, constants: (
            KINDS[params.instance_class].reveal or nothing_to_reveal
        ),
    )
    known(
        verbs.reopen,
        lambda params, state, flags: KINDS[params.instance_class].reopen or nothing_to_reopen,
    )
    known(
        verbs.chosen,
        lambda params, state, arm, pull, chance: (
            KINDS[params.instance_class].chosen or nothing_to_tell
        ),
    )
    known(
        restart,
        lambda fresh, work: copy_words if fresh.instance_class is Image else _field_copier(fresh),
    )
    known(shelf.store, lambda state, rows, key: storing(state))
    known(shelf.fetch, lambda state, rows, key: fetching(state))


@functools.cache
def _register_openings() -> None:
    """Where no arm ever closes, the questions are answered when they are compiled."""

    def yes(opening: Any, arm: Any) -> Any:
        return True

    def no(opening: Any) -> Any:
        return False

    def may(opening: Any) -> Any:
        return True

    def looked_up(opening: Any, arm: Any) -> Any:
        return opening.flags[arm] != 0

    def all_of_them(opening: Any, arms: Any) -> Any:
        return arms

    def counted(opening: Any, arms: Any) -> Any:
        return opening.count[0]

    def nothing_to_set(opening: Any, flags: Any) -> Any:
        return None

    def fixed(opening: Any) -> bool:
        return opening.instance_class is openings.AllOpen

    known = functools.partial(make_known, jit_options=_INLINED)
    known(openings.is_open, lambda opening, arm: yes if fixed(opening) else looked_up)
    known(openings.may_close, lambda opening: no if fixed(opening) else may)
    known(openings.open_arms, lambda opening, arms: all_of_them if fixed(opening) else counted)
    known(
        openings.set_open,
        lambda opening, flags: nothing_to_set if fixed(opening) else openings.set_flags,
    )


@functools.cache
def _register_exposures() -> None:
    """Where there is one count for all, nobody is asked whose turn it is."""

    def nothing_to_turn(exposure: Any, key: Any, time: Any) -> Any:
        return None

    def nothing_to_count(exposure: Any, arm: Any) -> Any:
        return None

    def yes(exposure: Any) -> Any:
        return True

    def no(exposure: Any) -> Any:
        return False

    def none(exposure: Any, arm: Any) -> Any:
        return 0.0

    def first(exposure: Any) -> Any:
        return 0

    def present(exposure: Any) -> Any:
        return exposure.present[exposures.KEY]

    def next_of_all(arms: Any, arm: Any) -> Any:
        return arms.pulls[arm] + 1

    def of_all(state: Any, pulls: Any, arm: Any) -> Any:
        return pulls[arm] + 1

    def of_nobody(params: Any, state: Any, key: Any, time: Any) -> Any:
        return None

    def one_row(params: Any, shelf: Any, exposure: Any) -> Any:
        return None

    def nobody_to_recall(state: Any, key: Any) -> Any:
        return None

    def no_key(state: Any, desk: Any, rows: Any, k: Any) -> Any:
        return 0

    def by_all(state: Any, desk: Any, key: Any, arm: Any) -> Any:
        return desk.pulls[arm]

    def nothing_to_write(state: Any, desk: Any, key: Any, pull: Any) -> Any:
        return None

    def nobody_to_call(state: Any, desk: Any, key: Any, time: Any) -> Any:
        return None

    def kind(exposure: Any) -> Any:
        return exposure.instance_class

    def choice(exposure: Any, everybody: Any, usual: Any, fading: Any) -> Any:
        if kind(exposure) is exposures.Everybody:
            return everybody
        return fading if kind(exposure) is exposures.Fading else usual

    def keyed(state: Any) -> bool:
        """Whether a state, by its type, counts by key."""
        members = dict(zip(state.fields, state.types, strict=True)) if len(state) else {}
        counts: Any = members.get("arms")
        if getattr(counts, "instance_class", None) is not arms.Arms:
            return False
        return kind(counts[-1]) is not exposures.Everybody

    known = functools.partial(make_known, jit_options=_INLINED)
    known(
        exposures.turn_to,
        lambda exposure, key, time: choice(
            exposure, nothing_to_turn, exposures.turn_to_key, exposures.turn_and_fade
        ),
    )
    known(
        exposures.expose,
        lambda exposure, arm: choice(
            exposure, nothing_to_count, exposures.expose_key, exposures.expose_and_note
        ),
    )
    known(
        exposures.freshness,
        lambda exposure, arm: choice(exposure, none, exposures.all_of_them, exposures.unfaded),
    )
    known(
        exposures.clear,
        lambda exposure: choice(exposure, None, exposures.clear_counts, exposures.clear_all),
    )
    known(exposures.present_key, lambda exposure: choice(exposure, first, present, present))
    known(exposures.counts_by_key, lambda exposure: choice(exposure, no, yes, yes))
    known(exposures.fades, lambda exposure: choice(exposure, no, no, yes))
    known(
        arms.next_pull,
        lambda arms_, arm: choice(arms_[-1], next_of_all, arms.next_of_key, arms.next_of_key),
    )
    known(
        shelf.turn_shelf,
        lambda params, shelf_, exposure: choice(
            exposure, one_row, shelf.turn_to_row, shelf.turn_to_row
        ),
    )
    known(
        attending.attend,
        lambda params, state, key, time: attending.turn_and_judge if keyed(state) else of_nobody,
    )
    known(
        attending.recall,
        lambda state, key: attending.present_again if keyed(state) else nobody_to_recall,
    )
    known(
        attending.told,
        lambda state, pulls, arm: attending.of_key if keyed(state) else of_all,
    )

    def three(state: Any, desk: Any, nobody: Any, by_state: Any, by_desk: Any) -> Any:
        """By who counts for each key: nobody, the policy in its state, or the desk."""
        if keyed(state):
            return by_state
        pooled = kind(desk.types[desk.fields.index("exposure")]) is not exposures.Everybody
        return by_desk if pooled else nobody

    of_row = attending.key_of_row
    known(attending.whose, lambda state, desk, rows, k: three(state, desk, no_key, of_row, of_row))
    known(
        attending.showings,
        lambda state, desk, key, arm: three(
            state, desk, by_all, attending.shown_by_state, attending.shown_by_desk
        ),
    )
    noted = attending.write_down_key
    known(
        attending.write_down,
        lambda state, desk, key, pull: three(state, desk, nothing_to_write, noted, noted),
    )
    known(
        attending.call,
        lambda state, desk, key, time: three(
            state, desk, nobody_to_call, attending.call_to_state, attending.call_to_desk
        ),
    )


@functools.cache
def _register_waiting() -> None:
    """Where there are no keys, nothing is written down of them."""

    def nothing_to_note(whose: Any, entry: Any, key: Any, told: Any) -> Any:
        return None

    def no_key(whose: Any, entry: Any) -> Any:
        return 0

    def as_named(whose: Any, entry: Any, pull: Any) -> Any:
        return pull

    def yes(whose: Any, entry: Any, key: Any) -> Any:
        return True

    def none(whose: Any) -> bool:
        return whose.instance_class is waiting.NoKeys

    known = functools.partial(make_known, jit_options=_INLINED)
    known(
        waiting.note,
        lambda whose, entry, key, told: nothing_to_note if none(whose) else waiting.note_key,
    )
    known(waiting.key_at, lambda whose, entry: no_key if none(whose) else waiting.found_key)
    known(
        waiting.told_at, lambda whose, entry, pull: as_named if none(whose) else waiting.found_told
    )
    known(waiting.is_of, lambda whose, entry, key: yes if none(whose) else waiting.same_key)


@functools.cache
def _register_events() -> None:
    """Where no arm ever closes, a loop has nothing to ask."""

    def none_so_far(events: Any, past: Any, t: Any, params: Any, state: Any) -> Any:
        return past

    def yes(events: Any, past: Any, arm: Any) -> Any:
        return True

    def looked_up(events: Any, past: Any, arm: Any) -> Any:
        return events.flags[past - 1, arm] != 0

    def none(events: Any) -> bool:
        return events.instance_class is happening.NoEvents

    known = functools.partial(make_known, jit_options=_INLINED)
    known(
        happening.happen,
        lambda events, past, t, params, state: (
            none_so_far if none(events) else happening.reopen_on_time
        ),
    )
    known(happening.may_pull, lambda events, past, arm: yes if none(events) else looked_up)


def register() -> None:
    """Make the verbs and all functions marked `shared` so far known to the compiler."""
    with _LOCK:
        _register_verbs()
        _register_openings()
        _register_exposures()
        _register_waiting()
        _register_events()
        while PENDING:
            outer, body = PENDING.pop()
            options = _CALLED if body in CALLED else _INLINED
            make_known(outer, lambda *args, _body=body: _body, jit_options=options)


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
