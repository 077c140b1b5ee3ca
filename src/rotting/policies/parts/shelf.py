"""A state for each key: nothing is shared.

One state is worked on, that of the key which is present. The others lie on the shelf, each as a row
of numbers: every array of the state in turn, whole numbers as floats, which is exact up to 2^53.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, NamedTuple

import numpy as np

from rotting.arrays import FloatArray, IntArray
from rotting.compilable import dispatched, shared
from rotting.policies.parts.exposures import present_key
from rotting.policies.parts.openings import closable
from rotting.state import (
    Counts,
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


class Shelf(NamedTuple):
    """The state that is worked on, and those of all keys."""

    inner: Any  # the state of the key in `whose`
    rows: Annotated[FloatArray, Finite((-math.inf, math.inf))]  # [key, number]
    fresh: Annotated[FloatArray, Unchanged()]  # the row of a key that was never met
    whose: Annotated[IntArray, Place("rows")]  # whose state is worked on; its row is old
    flags: Flags  # of each arm: 1 if it is open
    reopened: Counts  # how often that has changed
    told: Counts  # of each key: how many of those changes its state was told

    def for_keys(self, keys: int) -> Shelf:
        """The same for more keys."""
        more = keys - self.told.size
        return self._replace(
            rows=np.vstack([self.rows[:keys], np.tile(self.fresh, (max(0, more), 1))]),
            told=np.append(self.told[:keys], np.zeros(max(0, more), dtype=np.int64)),
        )

    def grown(self, larger: Shelf, state: Any) -> Shelf:
        """The same for more arms: every row is that of a larger state."""
        made = larger.for_keys(max(self.told.size, larger.told.size))
        for key in np.flatnonzero((self.rows != self.fresh).any(axis=1)).tolist():
            store(grown(_read(self.inner, self.rows[key]), _copy(larger.inner)), made.rows, key)
        made.told[: self.told.size] = self.told
        flags = larger.flags.copy()
        flags[: self.flags.size] = self.flags
        inner = grown(self.inner, larger.inner)
        return made._replace(inner=inner, whose=self.whose, flags=flags, reopened=self.reopened)

    def wrong(self, state: Any, params: Any, waiting: Any) -> str | None:
        """A row that is no state which any play could have led to."""
        fresh = _read(self.inner, self.fresh)
        whole = np.concatenate([_is_whole(value) for value in values(self.inner)])
        for key, row in enumerate(self.rows):
            counts = row[whole]
            if np.any((counts != np.trunc(counts)) | (np.abs(counts) > _LARGEST)):
                return f"rows of key {key} must hold whole numbers for counts"
            try:
                check(_read(self.inner, row), fresh, params)
            except ValueError as error:
                return f"rows of key {key}: {error}"
        return None


def empty_shelf(inner: Any, arms: int) -> Shelf:
    """A shelf for one key, from a state at its start."""
    inner = closable(inner)  # before it is written as a row: its arrays must stay the same ones
    for leaf in leaves(inner):
        if leaf.value.dtype.kind == "u":
            raise ValueError(
                "a state on a shelf must hold numbers that floats can, but "
                f"{leaf.path} holds {leaf.value.dtype.name}"
            )
    rows = np.zeros((1, sum(value.size for value in values(inner))))
    store(inner, rows, 0)
    return Shelf(
        inner=inner,
        rows=rows,
        fresh=rows[0].copy(),
        whose=np.zeros(1, dtype=np.int64),
        flags=np.ones(arms, dtype=np.int64),
        reopened=np.zeros(1, dtype=np.int64),
        told=np.zeros(1, dtype=np.int64),
    )


@dispatched
def store(state: Any, rows: Any, key: Any) -> Any:
    """Write a state into its key's row."""
    end = 0
    for value in values(state):
        begin, end = end, end + value.size
        rows[key, begin:end] = value.ravel()


@dispatched
def fetch(state: Any, rows: Any, key: Any) -> Any:
    """Read a state from its key's row."""
    end = 0
    for value in values(state):
        begin, end = end, end + value.size
        value[...] = rows[key, begin:end].reshape(value.shape)


@shared
def turn_shelf(params: Any, shelf: Shelf, exposure: Any) -> None:
    """Work on the state of the key that is present; `params` are those of its policy.

    What has opened or closed since the key was met last, its policy is told then (lazy).
    """
    key = present_key(exposure)
    if shelf.whose[0] != key:
        store(shelf.inner, shelf.rows, shelf.whose[0])
        fetch(shelf.inner, shelf.rows, key)
        shelf.whose[0] = key
        if shelf.told[key] != shelf.reopened[0]:
            shelf.told[key] = shelf.reopened[0]
            reopen(params, shelf.inner, shelf.flags)


@shared
def reopen_shelf(params: Any, shelf: Shelf, flags: Any) -> None:
    """The arms with a flag are open from now on, for all keys."""
    for i in range(flags.size):
        shelf.flags[i] = flags[i]
    shelf.reopened[0] += 1
    shelf.told[shelf.whose[0]] = shelf.reopened[0]
    reopen(params, shelf.inner, flags)


def _is_whole(value: Any) -> Any:
    return np.full(value.size, value.dtype.kind != "f")


def _copy(state: Any) -> Any:
    return rebuild(state, iter([value.copy() for value in values(state)]))


def _read(like: Any, row: Any) -> Any:
    made = _copy(like)
    fetch(made, row[np.newaxis], 0)
    return made
