"""A state for each key: nothing is shared.

One state is worked on, that of the key which is present. The others lie on the shelf, each as a row
of numbers: every array of the state in turn, whole numbers as floats, which is exact up to 2^53.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, NamedTuple

import numpy as np

from rotting.arrays import FloatArray, IntArray
from rotting.compilable import by_type, seldom, shared
from rotting.policies.parts.exposures import Exposures, Fading, present_key
from rotting.policies.parts.openings import closable
from rotting.state import (
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
from rotting.verbs import reopen

_LARGEST = 2.0**62  # counts and places are smaller


class Own(NamedTuple):
    """What each key has of its own."""

    inner: Any  # the state of its policy
    told: Flags  # of each arm: 1 if it is open, as that policy was told last


class Shelf(NamedTuple):
    """What the present key has, and the rows of all keys."""

    own: Own  # of the key in `whose`
    rows: Annotated[FloatArray, Finite((-math.inf, math.inf))]  # [key, number]
    fresh: Annotated[FloatArray, Unchanged()]  # the row of a key that was never met
    whose: Annotated[IntArray, Place("rows")]  # whose state is worked on; its row is old
    flags: Flags  # of each arm: 1 if it is open now

    def for_keys(self, keys: int) -> Shelf:
        """The same for more keys."""
        new = np.tile(self.fresh, (max(0, keys - self.rows.shape[0]), 1))
        return self._replace(rows=np.vstack([self.rows[:keys], new]))

    def forget_key(self, key: int) -> None:
        """This one was never met."""
        self.rows[key] = self.fresh
        if self.whose[0] == key:
            fetch(self.own, self.rows, key)
            # It is told which arms are open when it is its turn: only then are params at hand.
            self.own.told[0] = 1 - self.flags[0]

    def grown(self, larger: Shelf, state: Any) -> Shelf:
        """The same for more arms: every row is that of a larger state."""
        made = larger.for_keys(max(self.rows.shape[0], larger.rows.shape[0]))
        for key in np.flatnonzero((self.rows != self.fresh).any(axis=1)).tolist():
            store(_with_arms(_read(self.own, self.rows[key]), larger.own), made.rows, key)
        made.flags[: self.flags.size] = self.flags
        return made._replace(own=_with_arms(self.own, larger.own), whose=self.whose)

    def wrong(self, state: Any, params: Any, waiting: Any) -> str | None:
        """A row that is no state which any play could have led to."""
        fresh = _read(self.own, self.fresh)
        whole = np.concatenate([_is_whole(value) for value in values(self.own)])
        for key, row in enumerate(self.rows):
            counts = row[whole]
            if np.any((counts != np.trunc(counts)) | (np.abs(counts) > _LARGEST)):
                return f"rows of key {key} must hold whole numbers for counts"
            try:
                check(_read(self.own, row), fresh, params)
            except ValueError as error:
                return f"rows of key {key}: {error}"
        return None


def empty_shelf(inner: Any, arms: int) -> Shelf:
    """A shelf for one key, from a state at its start."""
    # closable before it is written as a row: its arrays must stay the same ones
    own = Own(closable(inner), np.ones(arms, dtype=np.int64))
    for leaf in leaves(own.inner):
        if leaf.value.dtype.kind == "u":
            raise ValueError(
                "a state on a shelf must hold numbers that floats can, but "
                f"{leaf.path} holds {leaf.value.dtype.name}"
            )
    rows = np.zeros((1, sum(value.size for value in values(own))))
    store(own, rows, 0)
    whose, flags = np.zeros(1, dtype=np.int64), np.ones(arms, dtype=np.int64)
    return Shelf(own, rows, rows[0].copy(), whose, flags)


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
def turn_shelf(params: Any, shelf: Shelf, exposure: Any) -> Any:
    """Work on the state of the key that is present; `params` are those of its policy."""


@turn_shelf.of(Exposures, Fading)
def _(params: Any, shelf: Shelf, exposure: Any) -> Any:
    # the loaded state already has which arms are open; `forget_key` marks it stale
    key = present_key(exposure)
    if shelf.whose[0] != key or shelf.own.told[0] != shelf.flags[0]:
        _swap(params, shelf, key)


@shared
@seldom
def _swap(params: Any, shelf: Shelf, key: Any) -> None:
    """Put the present state back and take that of another key.

    What has opened or closed since the key was met last, its policy is told then (lazy).
    """
    store(shelf.own, shelf.rows, shelf.whose[0])
    fetch(shelf.own, shelf.rows, key)
    shelf.whose[0] = key
    changed = False
    for i in range(shelf.flags.size):
        changed = changed or shelf.own.told[i] != shelf.flags[i]
    if changed:
        _tell(params, shelf)


@shared
def _tell(params: Any, shelf: Shelf) -> None:
    """The policy that is worked on is told which arms are open."""
    for i in range(shelf.flags.size):
        shelf.own.told[i] = shelf.flags[i]
    reopen(params, shelf.own.inner, shelf.flags)


@shared
def reopen_shelf(params: Any, shelf: Shelf, flags: Any) -> None:
    """The arms with a flag are open from now on, for all keys."""
    for i in range(flags.size):
        shelf.flags[i] = flags[i]
    _tell(params, shelf)


def _with_arms(own: Own, larger: Own) -> Own:
    """What a key has, for more arms, of which its policy has not been told that they are open."""
    made = grown(own, _copy(larger))
    for leaf in leaves(made):
        if leaf.path == "told" or leaf.path.endswith("opening.flags"):
            leaf.value[own.told.size :] = 0
    return made


def _is_whole(value: Any) -> Any:
    return np.full(value.size, value.dtype.kind != "f")


def _copy(state: Any) -> Any:
    return rebuild(state, iter([value.copy() for value in values(state)]))


def _read(like: Any, row: Any) -> Any:
    made = _copy(like)
    fetch(made, row[np.newaxis], 0)
    return made
