"""States: NamedTuples of arrays, nested, and what their fields say about themselves.

A policy's state is made of *parts*, `State(arms: Arms, window: Window, ...)`. All that is done to
whole states is done here, for any nesting: taking them apart and putting them together again,
growing them, and checking one that comes from outside.

What may stand in a field is part of its type, for instance `pulls: Counts` or `last:
Annotated[IntArray, Place("before", least=-1)]`. A field that says nothing is checked for its shape
and type only (`silent` lists those that should say something). What fields must be together, links
that form chains for instance, a part or a state says in a method `wrong(state, params, waiting)`.
"""

from __future__ import annotations

import functools
import math
import typing
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, NamedTuple, TypeVar

import numpy as np

from rotting.kernel.arrays import FloatArray, IntArray

S = TypeVar("S")


class Within(NamedTuple):
    """Whole numbers from `least` to `most`."""

    least: int
    most: int = 2**62

    def wrong(self, leaf: Leaf, fresh: Any) -> str | None:
        """What is wrong with an array, if anything; `fresh` is the array as it was at its start."""
        array = leaf.value
        if array.size and (array.min() < self.least or array.max() > self.most):
            return f"must lie between {self.least} and {self.most}"
        return None


class Place(NamedTuple):
    """Places along an axis of another array; below zero: nowhere.

    The array is named by its path from the part that the field lies in, or from one around that:
    `Place("history.before")`. With `end` the place after the last is one too, as in a count.
    """

    of: str  # the path of that array
    least: int = 0  # -1 where "nowhere" is allowed
    axis: int = 0  # which of its axes
    end: bool = False  # whether the place after the last is allowed

    def wrong(self, leaf: Leaf, fresh: Any) -> str | None:
        """As in `Within`."""
        size = leaf.find(self.of).shape[self.axis]
        return Within(self.least, size - 1 + self.end).wrong(leaf, fresh)


class AtMost(NamedTuple):
    """Counts that another array of the same shape is never behind: rewards of pulls."""

    of: str

    def wrong(self, leaf: Leaf, fresh: Any) -> str | None:
        """As in `Within`."""
        wrong = np.any((leaf.value < 0) | (leaf.value > leaf.find(self.of)))
        return f"must be counts of at most {self.of}" if wrong else None


class Finite(NamedTuple):
    """Finite numbers, or one of the exceptions: an infinity, or NaN for what is not known."""

    exceptions: tuple[float, ...] = ()  # allowed as well
    above: float = -math.inf  # all finite ones are larger

    def wrong(self, leaf: Leaf, fresh: Any) -> str | None:
        """As in `Within`."""
        fine = np.isfinite(leaf.value) & (leaf.value > self.above)
        for other in self.exceptions:
            fine |= np.isnan(leaf.value) if math.isnan(other) else leaf.value == other
        if fine.all():
            return None
        return "must be finite" + (f" and above {self.above:g}" if self.above > -math.inf else "")


class Unchanged(NamedTuple):
    """What it was at the start: nothing writes here."""

    def wrong(self, leaf: Leaf, fresh: Any) -> str | None:
        """As in `Within`."""
        return None if np.array_equal(leaf.value, fresh) else "must be what it was at the start"


class Uncleared(NamedTuple):
    """Nothing is read here before it was written: a new run need not clear the array."""

    def wrong(self, leaf: Leaf, fresh: Any) -> str | None:
        """As in `Within`."""
        return None


Counts = Annotated[IntArray, Within(0)]  # pulls, rewards, rounds
Flags = Annotated[IntArray, Within(0, 1)]
Numbers = Annotated[FloatArray, Finite()]
PositiveNumbers = Annotated[FloatArray, Finite(above=0.0)]
Values = Annotated[FloatArray, Finite((-math.inf,))]  # minus infinity where nothing is known


class Leaf(NamedTuple):
    """An array (or, in params, a number) of a nested tuple: where it is and what it may hold."""

    path: str  # as "window.total"
    value: Any
    marks: tuple[Any, ...]  # what its field says about it
    around: tuple[Any, ...]  # the NamedTuples that it lies in, the innermost first

    def find(self, path: str) -> Any:
        """An array by its path from the innermost part that has it."""
        name, *more = path.split(".")
        found = next(getattr(part, name) for part in self.around if hasattr(part, name))
        for name in more:
            found = getattr(found, name)
        return found

    @property
    def uncleared(self) -> bool:
        """Whether a new run need not clear it."""
        return any(isinstance(mark, Uncleared) for mark in self.marks)

    @property
    def silent(self) -> bool:
        """Whether it holds whole numbers and does not say which."""
        speaks = any(hasattr(m, "wrong") and not isinstance(m, Uncleared) for m in self.marks)
        return not speaks and self.value.dtype.kind != "f"


def leaves(state: Any, path: str = "", around: tuple[Any, ...] = ()) -> Iterator[Leaf]:
    """Everything in a nested tuple, in order.

    >>> class Inner(NamedTuple):
    ...     counts: Counts
    >>> class Outer(NamedTuple):
    ...     inner: Inner
    ...     more: Any
    >>> [leaf.path for leaf in leaves(Outer(Inner(np.zeros(2)), np.ones(1)))]
    ['inner.counts', 'more']
    """
    around = (state, *around)
    for name, value in zip(state._fields, state, strict=True):
        if is_part(value):
            yield from leaves(value, f"{path}{name}.", around)
        else:
            marks = marks_of(type(state)).get(name, ())  # type: ignore[arg-type]
            yield Leaf(path + name, value, marks, around)


def values(state: Any) -> Iterator[Any]:
    """The values of `leaves`, without their paths: a good deal faster."""
    for value in state:
        if isinstance(value, tuple):
            yield from values(value)
        else:
            yield value


def rebuild(like: S, values: Iterator[Any]) -> S:
    """The same nested tuple with other values, taken in the order of `leaves`."""
    tree: Any = like
    made: S = type(tree)(*(rebuild(x, values) if is_part(x) else next(values) for x in tree))
    return made


def kinds(value: Any) -> tuple[type, ...]:
    """The types of all tuples in a nested one, the outermost first."""
    found = [type(value)]
    for item in value:
        if is_part(item):
            found += kinds(item)
    return tuple(found)


def is_part(value: Any) -> bool:
    """Whether this is a NamedTuple."""
    return isinstance(value, tuple) and hasattr(value, "_fields")


@functools.cache
def marks_of(kind: Any) -> dict[str, tuple[Any, ...]]:
    """What the fields of a NamedTuple type say about themselves."""
    try:
        hints = typing.get_type_hints(kind, include_extras=True)
    except (NameError, TypeError, AttributeError):  # names that only their author's scope knows
        return {}
    return {name: getattr(hint, "__metadata__", ()) for name, hint in hints.items()}


def grown(old: S, larger: S) -> S:
    """A state with the contents of the old one and the size of the larger, fresh one.

    An array that has become longer keeps its contents at the front. A part in which things move
    when it grows (a ring buffer, a free list) has a method `grown(larger, state)` of its own; the
    state is the tuple that holds it.
    """
    pairs: Any = zip(old, larger, strict=True)  # type: ignore[call-overload]
    made: S = type(old)(*(_grown(a, b, old) for a, b in pairs))
    return made


def _grown(old: Any, larger: Any, state: Any) -> Any:
    if is_part(old):
        return old.grown(larger, state) if hasattr(old, "grown") else grown(old, larger)
    if old.shape == larger.shape:
        return old
    larger[tuple(slice(0, extent) for extent in old.shape)] = old
    return larger


def silent(state: Any) -> list[str]:
    """The arrays of whole numbers whose fields do not say what they may hold, by path.

    Compiled code may use any of them as a place in another array. Floats are no places.

    >>> class Own(NamedTuple):
    ...     pulls: Counts
    ...     last: IntArray
    ...     mean: FloatArray
    >>> silent(Own(np.zeros(2, dtype=np.int64), np.zeros(2, dtype=np.int64), np.zeros(2)))
    ['last']
    """
    return [leaf.path for leaf in leaves(state) if leaf.silent]


def check(
    state: Any, fresh: Any, params: Any = None, waiting: Sequence[tuple[int, int]] = ()
) -> None:
    """Refuse a state that no play could have led to: compiled code would read and write anywhere.

    Its arrays must have the shapes and types of the fresh one's and hold what their fields allow,
    and its parts must find nothing wrong. `waiting` are the pulls, as pairs (arm, pull), whose
    rewards may still come.
    """
    for leaf, model in zip(leaves(state), leaves(fresh), strict=True):
        array, wanted = leaf.value, model.value
        check_form(leaf.path, wanted, _type_name(array.dtype), array.shape)
        for mark in leaf.marks:
            wrong = mark.wrong(leaf, wanted) if hasattr(mark, "wrong") else None
            if wrong is not None:
                raise ValueError(f"{leaf.path} of the state {wrong}")
    _check_parts(state, state, params, waiting, "")


def check_form(path: str, wanted: Any, dtype: Any, shape: Any) -> None:
    """Refuse an array of a state that has not the type and shape of the wanted one."""
    # compared as types too: True equals 1, and 3.0 equals 3
    whole = type(shape) is tuple and all(type(extent) is int for extent in shape)
    name = _type_name(wanted.dtype)
    if not whole or shape != wanted.shape or dtype != name:
        raise ValueError(
            f"{path} of the state must be {name} of shape {wanted.shape}, "
            f"got {str(dtype)[:40]} of shape {str(shape)[:80]}"
        )


@functools.cache
def _type_name(dtype: Any) -> str:
    return str(dtype.name)  # NumPy puts it together anew each time


def _check_parts(
    part: Any, holder: Any, params: Any, waiting: Sequence[tuple[int, int]], path: str
) -> None:
    """Ask every part what is wrong with it, the outermost last.

    The params of a policy that another one holds have the name of its state.
    """
    if hasattr(part, "for_keys"):  # what one key has of its own; the pulls are those of all keys
        waiting = ()
    for name, value in zip(part._fields, part, strict=True):
        if is_part(value):
            inner = getattr(params, name, None)
            known = inner if is_part(inner) else params
            _check_parts(value, part, known, waiting, f"{path}{name}.")
    if hasattr(part, "wrong"):
        wrong = part.wrong(holder, params, waiting)
        if wrong is not None:
            raise ValueError(f"{path}{wrong}")
