"""Compilation of the loops for one policy, with a lasting cache that notices edits."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib
import logging
import re
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from rotting._engines import state_block
from rotting._engines.audience_loop import AudienceScratch
from rotting._engines.baseline import Baseline
from rotting._engines.compiled import numba_hooks
from rotting._engines.compiled.cache import Store
from rotting._engines.compiled.fingerprint import Fingerprint, Snapshot, fingerprint_of
from rotting._engines.compiled.interrupt import interruptible
from rotting._engines.loop import Events, Keys, Outcome, Scratch
from rotting._provenance import VERSION
from rotting.bandits import Bandits, World
from rotting.kernel import compilable
from rotting.kernel.state import kinds
from rotting.kernel.verbs import KINDS, Verbs
from rotting.policies._base import POLICIES

_LOG = logging.getLogger("rotting")
_PURPOSE = {
    "play": "simulation",
    "play_baseline": "the baseline",
    "play_audience": "simulation of an audience",
    "play_audience_baseline": "the baseline of an audience",
    "play_tape": "replay",
    "follow_rows": "replay by time",
    "decide": "decisions online",
    "learn": "rewards online",
    "work": "batches online",
}


class Done(NamedTuple):
    """A compiled loop, and the snapshot it was made from."""

    loop: Any
    digest: str | None
    made_from: Snapshot


_DONE: dict[tuple[str, tuple[type, ...], str], Done] = {}
# functions as they were when they were compiled, and the verbs of params
_FUNCTIONS: dict[int, Snapshot] = {}
_VERBS: dict[type, Verbs] = {}


def compiled(loop: Callable[..., Any], params: Any, state: Any, layout: str = "") -> Any:
    """A loop compiled for the policy that has these params and this state.

    `layout` distinguishes forms of the loop that close over different types. It is compiled at its
    first call, which belongs inside `first_call`. A loop already returned stays as it is, even if
    sources change.
    """
    key = (loop.__qualname__, kinds(params) + kinds(state), layout)
    with numba_hooks.LOCK:
        done = _DONE.get(key)
        if done is None or not done.made_from.unchanged():
            seen = _fingerprint(loop, params, state, layout)
            # redefined without a change, by running a cell again: use the old one
            same = done is not None and seen.digest is not None and seen.digest == done.digest
            made = done.loop if done is not None and same else _make(loop, params, seen)
            _DONE[key] = done = Done(made, seen.digest, seen.whole)
        return done.loop


def _fingerprint(loop: Any, params: Any, state: Any, layout: str) -> Fingerprint:
    """The fingerprint of a loop: code, constants, and the fields of all its arguments."""
    # a policy may hold others, whose verbs it calls
    held = [kind for kind in kinds(params) if kind in KINDS]
    verbs = [verb for kind in held for verb in KINDS[kind].compiled]
    others = (
        state_block.StateBlock,
        Scratch,
        AudienceScratch,
        World,
        Bandits,
        Events,
        Keys,
        Baseline,
        Outcome,
    )
    handed = (*kinds(params), *kinds(state), *others)
    fields = [f"{kind}{getattr(kind, '_fields', '')}" for kind in handed]
    places = [(KINDS, kind, KINDS[kind]) for kind in held]
    return fingerprint_of([loop, *verbs], [*fields, layout, _machinery()], places)


@functools.cache
def _machinery() -> str:
    """A digest of the modules that generate machine code themselves, to which no function refers.

    How arguments are packed and unpacked, for instance: the two must be of one version. A module
    without a source file counts with the version of the library.
    """
    digest = hashlib.blake2b(VERSION.encode(), digest_size=8)
    own = sys.modules[__name__]
    calls = importlib.import_module("rotting._engines.compiled.calls")  # which imports this
    for module in (own, compilable, state_block, numba_hooks, calls):
        file = Path(str(module.__file__))
        if file.is_file():
            digest.update(file.read_bytes())
    return digest.hexdigest()


def _compile(loop: Any, params: Any, state: Any, layout: str) -> Any:
    return _make(loop, params, _fingerprint(loop, params, state, layout))


def _make(loop: Any, params: Any, seen: Fingerprint) -> Any:
    """Numba's dispatcher for a loop, which compiles it or loads it from the cache when called."""
    import numba

    _clear_changed(seen)
    numba_hooks.register()
    kind = type(params)
    # Each policy and fingerprint has a copy with its own name, so that numba does not confuse them.
    copy = types.FunctionType(
        loop.__code__, loop.__globals__, loop.__name__, loop.__defaults__, loop.__closure__
    )
    copy.__qualname__ = f"{loop.__name__}_{kind.__module__.replace('.', '_')}_{seen.digest}"
    copy.__module__ = loop.__module__
    # Without numba's runtime there is no reference counting, which takes most of the time
    # otherwise; the price is that nothing compiled may allocate.
    made: Any = numba.njit(nogil=True, error_model="numpy", _nrt=False, no_cfunc_wrapper=True)(copy)
    kept = seen.digest is not None and all(map(_can_be_found_again, kinds(params)))

    def announce(kept: bool) -> None:
        purpose = _PURPOSE.get(loop.__name__, loop.__name__)
        until = "once; kept for later" if kept else "for this process"
        _LOG.info("compiling %s for %s (%s)", title_of(params), purpose, until)

    family = f"{loop.__name__}-{kind.__module__}.{kind.__qualname__}"
    made._cache = Store(copy, family, seen.digest if kept else None, announce, seen.whole.unchanged)
    return made


def _clear_changed(seen: Fingerprint) -> None:
    """Clear the compiler's compiled forms if any of these functions has changed since.

    It keeps the compiled form of every verb and helper, by function and argument types, with the
    constants frozen in it. A helper that the user has compiled is compiled again by numba's own
    means.
    """
    before = {place: _FUNCTIONS[place] for place in seen.snapshots if place in _FUNCTIONS}
    stale = {place for place, snapshot in before.items() if not snapshot.unchanged()}
    if stale or any(_VERBS.get(kind, verbs) is not verbs for _, kind, verbs in seen.kinds):
        numba_hooks.clear_compiled()
        _FUNCTIONS.clear()
        _VERBS.clear()
    for place, dispatcher in seen.dispatchers.items():
        if dispatcher.signatures and (place in stale or place not in before):
            dispatcher.recompile()
    _FUNCTIONS.update(seen.snapshots)
    _VERBS.update({kind: verbs for _, kind, verbs in seen.kinds})


def _can_be_found_again(kind: type) -> bool:
    """Whether another process can import this type; not so for one made in a script or notebook."""
    module = sys.modules.get(kind.__module__)
    found = getattr(module, kind.__qualname__, None) is kind
    return found and kind.__module__ != "__main__"


def title_of(params: Any) -> str:
    """The title of the policy that has these params."""
    kind = type(params)
    titles = (policy.title for policy in POLICIES.values() if policy.verbs.params is kind)
    return next(titles, f"the policy with {kind.__module__}.{kind.__qualname__}")


@contextlib.contextmanager
def first_call(params: Any) -> Iterator[None]:
    """Around compilation: Ctrl-C stops it, and a failure is explained."""
    with explained(params), interruptible():
        yield


@contextlib.contextmanager
def explained(params: Any) -> Iterator[None]:
    """Turn numba's failure to compile a policy into an error that explains it in one line."""
    try:
        yield
    except Exception as error:
        if not type(error).__module__.startswith("numba."):
            raise
        reason = _reason(str(error)) or type(error).__name__
        raise ValueError(
            f"{title_of(params)} cannot be compiled: {reason} "
            "(CONTRIBUTING.md has the rules of compiled code; engine='reference', or "
            "compiled=False online, plays it as it is)"
        ) from error


# Lines of numba's message with one of these name a reason. The last such line is the innermost.
_REASONS = (
    "NameError",
    "Untyped global name",
    "NRT required",
    "Cannot bind",
    "Cannot unify",
    "Unknown attribute",
    "No implementation of function",
    "Invalid use of",
)
_LONGEST = 300  # types of nested states take lines
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_PLACE = re.compile(r"^During: .* at (\S.*) \((\d+)\)$")


def _reason(text: str) -> str:
    """The reason and its place in one line, from numba's pages of message."""
    lines = [line.strip() for line in _COLOUR.sub("", text).splitlines()]
    telling = [k for k, line in enumerate(lines) if any(word in line for word in _REASONS)]
    if not telling:
        return next(filter(None, lines), "")
    last = telling[-1]
    reason = lines[last]
    calls = [(k, line) for k, line in enumerate(lines) if line.startswith(">>>")]
    if reason.endswith("signature:"):  # the lines below name the call
        reason = " ".join([reason, *(line for k, line in calls if k > last)][:2])
    elif "NameError" in reason and calls:  # numba names the function, but no line
        reason += f", in {calls[-1][1].removeprefix('>>>').partition('(')[0].strip()}()"
    elif "NRT required" in reason:
        reason += ": it allocates memory"
    return reason[:_LONGEST] + _where(lines[last:])


def _where(lines: list[str]) -> str:
    """The first place that numba names outside itself and the loops; the user's, if any."""
    import numba

    places = [found.groups() for line in lines if (found := _PLACE.match(line))]
    ours = str(Path(__file__).parents[2])
    others = (str(Path(numba.__file__).parent), str(Path(__file__).parents[1]))
    near = [place for place in places if not place[0].startswith(others)]
    outside = [place for place in near if not place[0].startswith(ours)]
    return "".join(f", at {file}, line {line}" for file, line in (outside or near)[:1])
