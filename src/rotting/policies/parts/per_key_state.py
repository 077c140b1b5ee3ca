"""A policy state for each key of an audience, with nothing shared between keys.

The current key's state is loaded. The others are stored as rows of numbers: every array of the
state in turn, whole numbers as floats, which is exact up to 2^53.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, NamedTuple

import numpy as np

from rotting.kernel.arrays import FloatArray, IntArray
from rotting.kernel.compilable import by_type, seldom, shared
from rotting.kernel.state import (
    Finite,
    Flags,
    Place,
    Unchanged,
    check,
    grown,
    leaves,
    rebuild,
    values,
)
from rotting.kernel.verbs import set_open
from rotting.policies.parts.exposures import Exposures, Fading, present_key
from rotting.policies.parts.openings import closable

__all__ = [
    "KeyState",
    "PerKeyState",
    "load_key",
    "no_key_states",
    "set_open_per_key",
]

_LARGEST = 2.0**62  # counts and places are smaller


class KeyState(NamedTuple):
    """What is kept for one key.

    Attributes:
        inner: The state of its policy.
        open: 1 for each arm that was open at the policy's last `set_open`.
    """

    inner: Any
    open: Flags


class PerKeyState(NamedTuple):
    """The loaded state of one key, and rows with the states of all.

    Attributes:
        current: The state of the key in `loaded`.
        rows: [key, number]: the states of all keys; that of the loaded key is out of date.
        fresh: The row of a new key.
        loaded: The key whose state is loaded.
        flags: 1 for each arm that is open now.

    >>> from rotting import policies
    >>> from rotting.kernel.verbs import verbs_of
    >>> params = policies.UCB1().prepare(arms=2, horizon=None, reach=10)
    >>> per_key = no_key_states(verbs_of(params).init(params, 2, 10), arms=2)
    >>> per_key.for_keys(3).rows.shape[0]
    3
    """

    current: KeyState
    rows: Annotated[FloatArray, Finite((-math.inf, math.inf))]
    fresh: Annotated[FloatArray, Unchanged()]
    loaded: Annotated[IntArray, Place("rows")]
    flags: Flags

    def for_keys(self, keys: int) -> PerKeyState:
        """The same part for another number of keys."""
        new = np.tile(self.fresh, (max(0, keys - self.rows.shape[0]), 1))
        return self._replace(rows=np.vstack([self.rows[:keys], new]))

    def forget_key(self, key: int) -> None:
        """Make a key a new one."""
        self.rows[key] = self.fresh
        if self.loaded[0] == key:
            fetch(self.current, self.rows, key)
            # stale: `set_open` is called at the key's next turn, when params are at hand
            self.current.open[0] = 1 - self.flags[0]

    def grown(self, larger: PerKeyState, state: Any) -> PerKeyState:
        """The same for more arms: every row is that of a larger state."""
        made = larger.for_keys(max(self.rows.shape[0], larger.rows.shape[0]))
        for key in np.flatnonzero((self.rows != self.fresh).any(axis=1)).tolist():
            store(_with_arms(_read(self.current, self.rows[key]), larger.current), made.rows, key)
        made.flags[: self.flags.size] = self.flags
        return made._replace(current=_with_arms(self.current, larger.current), loaded=self.loaded)

    def wrong(self, state: Any, params: Any, waiting: Any) -> str | None:
        """Why a row is no state that play can lead to, or None."""
        fresh = _read(self.current, self.fresh)
        whole = np.concatenate([_is_whole(value) for value in values(self.current)])
        for key, row in enumerate(self.rows):
            counts = row[whole]
            if np.any((counts != np.trunc(counts)) | (np.abs(counts) > _LARGEST)):
                return f"rows of key {key} must hold whole numbers for counts"
            try:
                check(_read(self.current, row), fresh, params)
            except ValueError as error:
                return f"rows of key {key}: {error}"
        return None


def no_key_states(inner: Any, arms: int) -> PerKeyState:
    """The part at its start, with space for one key; players add space for more.

    Args:
        inner: A fresh state of the policy that each key has.
        arms: The number of arms.

    Returns:
        For a field of the state.

    Raises:
        ValueError: The state has 64-bit words, which floats cannot hold.
    """
    # closable before it is written as a row: its arrays must stay the same ones
    current = KeyState(closable(inner), np.ones(arms, dtype=np.int64))
    for leaf in leaves(current.inner):
        if leaf.value.dtype.kind == "u":
            raise ValueError(
                "inner of PerKey must have a state of numbers that floats can hold, but "
                f"{leaf.path} holds {leaf.value.dtype.name}"
            )
    rows = np.zeros((1, sum(value.size for value in values(current))))
    store(current, rows, 0)
    loaded, flags = np.zeros(1, dtype=np.int64), np.ones(arms, dtype=np.int64)
    return PerKeyState(current, rows, rows[0].copy(), loaded, flags)


@by_type("state")
def store(state: Any, rows: Any, key: Any) -> Any:
    """Write a state into its key's row."""
    end = 0
    for value in values(state):
        begin, end = end, end + value.size
        rows[key, begin:end] = value.ravel()


@by_type("state")
def fetch(state: Any, rows: Any, key: Any) -> Any:
    """Read a state from its key's row."""
    end = 0
    for value in values(state):
        begin, end = end, end + value.size
        value[...] = rows[key, begin:end].reshape(value.shape)


@by_type("exposure")
def load_key(params: Any, per_key: PerKeyState, exposure: Any) -> Any:
    """Load the state of the current key. Does nothing without an audience.

    Every verb of the policy that holds the others calls this first.

    Args:
        params: The params of the policy that each key has.
        per_key: The part.
        exposure: `state.arms.exposure`.
    """


@load_key.of(Exposures, Fading)
def _(params: Any, per_key: PerKeyState, exposure: Any) -> Any:
    # the loaded state already has which arms are open; `forget_key` marks it stale
    key = present_key(exposure)
    if per_key.loaded[0] != key or per_key.current.open[0] != per_key.flags[0]:
        _swap(params, per_key, key)


@shared
@seldom
def _swap(params: Any, per_key: PerKeyState, key: Any) -> None:
    """Store the loaded state and load that of another key.

    Arms that opened or closed since the key's last turn are set now (lazily).
    """
    store(per_key.current, per_key.rows, per_key.loaded[0])
    fetch(per_key.current, per_key.rows, key)
    per_key.loaded[0] = key
    changed = False
    for i in range(per_key.flags.size):
        changed = changed or per_key.current.open[i] != per_key.flags[i]
    if changed:
        _set_open(params, per_key)


@shared
def _set_open(params: Any, per_key: PerKeyState) -> None:
    for i in range(per_key.flags.size):
        per_key.current.open[i] = per_key.flags[i]
    set_open(params, per_key.current.inner, per_key.flags)


@shared
def set_open_per_key(params: Any, per_key: PerKeyState, flags: Any) -> None:
    """Open the arms with a flag, and close all others, for all keys.

    Args:
        params: The params of the policy that each key has.
        per_key: The part.
        flags: 1 for each arm that is open, 0 for the others.
    """
    for i in range(flags.size):
        per_key.flags[i] = flags[i]
    _set_open(params, per_key)


def _with_arms(current: KeyState, larger: KeyState) -> KeyState:
    """A key's state for more arms; the new ones are closed until `set_open`."""
    made = grown(current, _copy(larger))
    for leaf in leaves(made):
        if leaf.path == "open" or leaf.path.endswith("opening.flags"):
            leaf.value[current.open.size :] = 0
    return made


def _is_whole(value: Any) -> Any:
    return np.full(value.size, value.dtype.kind != "f")


def _copy(state: Any) -> Any:
    return rebuild(state, iter([value.copy() for value in values(state)]))


def _read(like: Any, row: Any) -> Any:
    made = _copy(like)
    fetch(made, row[np.newaxis], 0)
    return made
