"""States: NamedTuples of arrays, nested, and what their fields may hold.

A policy's state is made of *parts*, `State(arms: Arms, window: Window, ...)`. This module has all
operations on whole states, for any nesting: taking them apart and putting them together, growing
them, and checking one that comes from outside.

A field's type says what it may hold, for instance `pulls: Counts` or `last: Annotated[IntArray,
Place("before", least=-1)]`. Without that a field is checked for its shape and type only; `silent`
lists the fields that need more. Invariants across fields, such as links that form chains, are
checked by a method `wrong(state, params, waiting)` of the part or the state.
"""

from __future__ import annotations

import functools
import math
import typing
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, NamedTuple, TypeVar

import numpy as np

from rotting.kernel.arrays import FloatArray, IntArray

__all__ = [
    "AtMost",
    "Counts",
    "Finite",
    "Flags",
    "Leaf",
    "Numbers",
    "Place",
    "PositiveNumbers",
    "Unchanged",
    "Uncleared",
    "Values",
    "Within",
    "check",
    "grown",
    "leaves",
    "silent",
]

S = TypeVar("S")


class Within(NamedTuple):
    """A mark for whole numbers from `least` to `most`.

    Attributes:
        least: The smallest number allowed.
        most: The largest.

    >>> Rounds = Annotated[IntArray, Within(1)]
    """

    least: int
    most: int = 2**62

    def wrong(self, leaf: Leaf, fresh: Any) -> str | None:
        """Why an array may not stand in this field, or None.

        Args:
            leaf: The array and where it is.
            fresh: The array of a state at its start.

        Returns:
            The end of a sentence that begins with the field's path.
        """
        array = leaf.value
        if array.size and (array.min() < self.least or array.max() > self.most):
            return f"must lie between {self.least} and {self.most}"
        return None


class Place(NamedTuple):
    """A mark for places along an axis of another array, such as arms or chunks.

    Attributes:
        of: The path of that array, from the part that the field lies in or from one around it, as
            "history.before".
        least: The smallest place; -1 where "nowhere" is allowed.
        axis: The axis of that array.
        end: Whether the place after the last is allowed too, as in a count.

    >>> class Own(NamedTuple):
    ...     mean: Numbers
    ...     best: Annotated[IntArray, Place("mean", least=-1)]
    >>> check(Own(np.zeros(2), np.array([2])), Own(np.zeros(2), np.array([-1])))
    Traceback (most recent call last):
    ValueError: best of the state must lie between -1 and 1
    """

    of: str
    least: int = 0
    axis: int = 0
    end: bool = False

    def wrong(self, leaf: Leaf, fresh: Any) -> str | None:
        """As for `Within`."""
        size = leaf.find(self.of).shape[self.axis]
        return Within(self.least, size - 1 + self.end).wrong(leaf, fresh)


class AtMost(NamedTuple):
    """A mark for counts that never exceed those of another array of the same shape.

    Attributes:
        of: The path of that array, as in `Place`.

    >>> class Own(NamedTuple):
    ...     pulls: Counts
    ...     rewards: Annotated[IntArray, AtMost("pulls")]
    >>> fresh = Own(np.array([0]), np.array([0]))
    >>> check(Own(np.array([1]), np.array([2])), fresh)
    Traceback (most recent call last):
    ValueError: rewards of the state must be counts of at most pulls
    """

    of: str

    def wrong(self, leaf: Leaf, fresh: Any) -> str | None:
        """As for `Within`."""
        wrong = np.any((leaf.value < 0) | (leaf.value > leaf.find(self.of)))
        return f"must be counts of at most {self.of}" if wrong else None


class Finite(NamedTuple):
    """A mark for finite numbers, with exceptions.

    Attributes:
        exceptions: Values allowed as well: an infinity, or NaN for what is unknown.
        above: All finite numbers are larger than this.
    """

    exceptions: tuple[float, ...] = ()
    above: float = -math.inf

    def wrong(self, leaf: Leaf, fresh: Any) -> str | None:
        """As for `Within`."""
        fine = np.isfinite(leaf.value) & (leaf.value > self.above)
        for other in self.exceptions:
            fine |= np.isnan(leaf.value) if math.isnan(other) else leaf.value == other
        if fine.all():
            return None
        return "must be finite" + (f" and above {self.above:g}" if self.above > -math.inf else "")


class Unchanged(NamedTuple):
    """A mark for arrays that no verb writes: they stay as `init` made them.

    >>> class Own(NamedTuple):
    ...     models: Annotated[IntArray, Unchanged()]
    >>> check(Own(np.array([1])), Own(np.array([0])))
    Traceback (most recent call last):
    ValueError: models of the state must be what it was at the start
    """

    def wrong(self, leaf: Leaf, fresh: Any) -> str | None:
        """As for `Within`."""
        return None if np.array_equal(leaf.value, fresh) else "must be what it was at the start"


class Uncleared(NamedTuple):
    """A mark for large arrays that are written before they are read; new runs do not clear them.

    It combines with others, and does not say what the array may hold.

    >>> Rewards = Annotated[FloatArray, Finite(), Uncleared()]
    """

    def wrong(self, leaf: Leaf, fresh: Any) -> str | None:
        """As for `Within`; nothing is wrong."""
        return None


Counts = Annotated[IntArray, Within(0)]
"""Whole numbers from zero: pulls, rewards, rounds."""
Flags = Annotated[IntArray, Within(0, 1)]
"""0 or 1."""
Numbers = Annotated[FloatArray, Finite()]
"""Finite floats."""
PositiveNumbers = Annotated[FloatArray, Finite(above=0.0)]
"""Finite floats above zero."""
Values = Annotated[FloatArray, Finite((-math.inf,))]
"""Finite floats, or minus infinity where there is no value yet."""


class Leaf(NamedTuple):
    """An array (or, in params, a number) of a nested tuple: where it is and what it may hold.

    Attributes:
        path: The names of the fields that lead to it, as "window.total".
        value: The array.
        marks: The marks in its field's type.
        around: The NamedTuples that it lies in, the innermost first.
    """

    path: str
    value: Any
    marks: tuple[Any, ...]
    around: tuple[Any, ...]

    def find(self, path: str) -> Any:
        """An array by its path from the innermost part that has it."""
        name, *more = path.split(".")
        found = next(getattr(part, name) for part in self.around if hasattr(part, name))
        for name in more:
            found = getattr(found, name)
        return found

    @property
    def uncleared(self) -> bool:
        """Whether a new run may leave it uncleared."""
        return any(isinstance(mark, Uncleared) for mark in self.marks)

    @property
    def silent(self) -> bool:
        """Whether it holds whole numbers without a mark that says which."""
        speaks = any(hasattr(m, "wrong") and not isinstance(m, Uncleared) for m in self.marks)
        return not speaks and self.value.dtype.kind != "f"


def leaves(state: Any, path: str = "", around: tuple[Any, ...] = ()) -> Iterator[Leaf]:
    """All arrays of a nested tuple, in order.

    Args:
        state: A state, or params.
        path: What their paths begin with.
        around: The tuples around it, the innermost first.

    Returns:
        An iterator of `Leaf`.

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
    return isinstance(value, tuple) and hasattr(value, "_fields")


@functools.cache
def marks_of(kind: Any) -> dict[str, tuple[Any, ...]]:
    """The marks in the field types of a NamedTuple type."""
    try:
        hints = typing.get_type_hints(kind, include_extras=True)
    except (NameError, TypeError, AttributeError):  # names from a scope out of reach
        return {}
    return {name: getattr(hint, "__metadata__", ()) for name, hint in hints.items()}


def grown(old: S, larger: S) -> S:
    """A state with the contents of the old one and the size of a larger, fresh one.

    An array that has become longer keeps its contents at the front. A part in which things move
    when it grows (a ring buffer, a free list) has a method `grown(larger, state)` of its own; the
    state is the tuple that holds it.

    Args:
        old: A state or a part.
        larger: The same for more arms or more decisions, as `init` makes it.

    Returns:
        A state of the larger size; it may share arrays with both.

    >>> class Own(NamedTuple):
    ...     pulls: Counts
    >>> grown(Own(np.array([3, 1])), Own(np.zeros(3, dtype=np.int64))).pulls.tolist()
    [3, 1, 0]
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
    """The arrays of whole numbers without a mark that says what they may hold.

    Compiled code may use any of them as a place in another array, so a saved state with such a
    field is loaded with `trusted=True` only. Floats are never places.

    Args:
        state: A state.

    Returns:
        Their paths.

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
    """Refuse a state that no play could have led to.

    Compiled code does not check indices: with such a state it would read and write anywhere. The
    arrays must have the shapes and types of the fresh state's and hold what their fields allow, and
    the method `wrong` of each part must find nothing.

    Args:
        state: The state to check.
        fresh: A state of the same size, as `init` makes it.
        params: The policy's params.
        waiting: The pulls whose rewards may still come, as pairs (arm, pull).

    Raises:
        ValueError: Something is wrong; the message names the field.

    >>> from rotting.policies.parts.arms import no_pulls
    >>> wrong = no_pulls(2)
    >>> wrong.observed[0] = 1
    >>> check(wrong, no_pulls(2))
    Traceback (most recent call last):
    ValueError: observed of the state must be counts of at most pulls
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
    """Refuse an array of a state that does not have the type and shape of the wanted one."""
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
    return str(dtype.name)  # NumPy builds the text at each access


def _check_parts(
    part: Any, holder: Any, params: Any, waiting: Sequence[tuple[int, int]], path: str
) -> None:
    """Call `wrong` of every part, the outermost last.

    The params of a policy that another one holds have the name of its state.
    """
    if hasattr(part, "for_keys"):  # one key's own state, but `waiting` has the pulls of all keys
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
