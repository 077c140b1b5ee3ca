"""Nested states: taken apart, put together, grown, and checked."""

from __future__ import annotations

import math
import re
from typing import Annotated, Any, NamedTuple

import numpy as np
import pytest

from rotting.kernel.arrays import FloatArray, IntArray
from rotting.kernel.state import (
    Counts,
    Finite,
    Flags,
    Leaf,
    Numbers,
    Place,
    Uncleared,
    Values,
    Within,
    check,
    grown,
    kinds,
    leaves,
    marks_of,
    rebuild,
    silent,
)


class Ring(NamedTuple):
    """A part in which things move when it grows: what came last stands at the end."""

    place: Annotated[IntArray, Place("kept", least=-1)]
    kept: Annotated[FloatArray, Finite((math.nan,)), Uncleared()]

    def grown(self, larger: Ring, state: State) -> Ring:
        """At the end of the longer array; moved by what the state around it says."""
        larger.kept[-self.kept.size :] = self.kept
        return larger._replace(place=self.place + larger.kept.size - self.kept.size)


class Inner(NamedTuple):
    ring: Ring
    table: Numbers  # two axes, both of which may grow


class State(NamedTuple):
    counts: Counts
    inner: Inner
    value: Values
    flag: Flags


def state_of(size: int) -> State:
    ring = Ring(np.zeros(2, dtype=np.int64), np.full(size, math.nan))
    counts, flag = np.zeros(2, dtype=np.int64), np.zeros(1, dtype=np.int64)
    return State(counts, Inner(ring, np.zeros((size, size + 1))), np.full(2, -math.inf), flag)


PATHS = ["counts", "inner.ring.place", "inner.ring.kept", "inner.table", "value", "flag"]


def test_leaves_are_in_order_and_know_their_part() -> None:
    state = state_of(3)
    found = list(leaves(state))
    assert [leaf.path for leaf in found] == PATHS
    assert [leaf.around[0] for leaf in found[1:4]] == [
        state.inner.ring,
        state.inner.ring,
        state.inner,
    ]
    assert found[3].value is state.inner.table
    assert [leaf.path for leaf in found if leaf.uncleared] == ["inner.ring.kept"]
    assert found[1].marks == (Place("kept", -1),)


def test_rebuilding_puts_every_value_in_its_place() -> None:
    state = state_of(3)
    again = rebuild(state, iter([leaf.value for leaf in leaves(state)]))
    assert kinds(again) == kinds(state) == (State, Inner, Ring)
    pairs = zip(leaves(again), leaves(state), strict=True)
    assert all(one.value is other.value for one, other in pairs)
    numbered: Any = rebuild(state, iter(range(6)))
    assert numbered == State(0, Inner(Ring(1, 2), 3), 4, 5)  # type: ignore[arg-type]


def test_a_grown_array_keeps_its_contents_at_the_front() -> None:
    old = state_of(2)
    old.inner.table[:] = [[1, 2, 3], [4, 5, 6]]
    old.counts[:] = 7, 8
    new = grown(old, state_of(4))
    assert new.inner.table.shape == (4, 5)
    np.testing.assert_array_equal(new.inner.table[:2, :3], [[1, 2, 3], [4, 5, 6]])
    assert new.inner.table.sum() == 21
    assert new.counts is old.counts  # of the same size: not even copied


def test_a_part_may_grow_in_a_way_of_its_own() -> None:
    old = state_of(2)
    old.inner.ring.kept[:] = 1.0, 2.0
    old.inner.ring.place[:] = 1, 0
    new = grown(old, state_of(5)).inner.ring
    assert new.place.tolist() == [4, 3]
    np.testing.assert_array_equal(new.kept, [math.nan, math.nan, math.nan, 1.0, 2.0])


class Holder(NamedTuple):
    """A part is grown with the tuple that holds it at hand."""

    size: IntArray
    part: Asking


class Asking(NamedTuple):
    kept: IntArray

    def grown(self, larger: Asking, state: Holder) -> Asking:
        return Asking(np.repeat(state.size, 3))


def test_a_part_is_told_the_tuple_that_holds_it() -> None:
    def made(size: int) -> Holder:
        return Holder(np.array([size]), Asking(np.zeros(size, dtype=np.int64)))

    assert grown(made(9), made(10)).part.kept.tolist() == [9, 9, 9]


def test_a_good_state_passes() -> None:
    state = state_of(3)
    state.inner.ring.place[:] = -1, 2
    state.value[:] = -math.inf, 4.0
    state.flag[0] = 1
    check(state, state_of(3))


def replaced(path: str, array: Any) -> State:
    """A state with another array in one place."""
    fresh = state_of(3)
    return rebuild(
        fresh, iter([array if leaf.path == path else leaf.value for leaf in leaves(fresh)])
    )


@pytest.mark.parametrize(
    ("path", "array", "words"),
    [
        (
            "counts",
            np.zeros(3, dtype=np.int64),
            r"must be int64 of shape \(2,\), got int64 of shape \(3,",
        ),
        ("counts", np.zeros(2, dtype=np.int32), r"must be int64 of shape .*, got int32"),
        ("inner.table", np.zeros((4, 3)), r"must be float64 of shape \(3, 4\), got .* \(4, 3\)"),
        ("counts", np.array([0, -1]), "must lie between 0 and"),
        ("flag", np.array([2]), "must lie between 0 and 1"),
        ("inner.ring.place", np.array([0, 3]), "must lie between -1 and 2"),
        ("inner.ring.place", np.array([-2, 0]), "must lie between -1 and 2"),
        ("inner.ring.kept", np.array([0, math.inf, math.nan]), "must be finite"),
        ("inner.table", np.full((3, 4), math.nan), "must be finite"),
        ("inner.table", np.full((3, 4), -math.inf), "must be finite"),
        ("value", np.array([0, math.inf]), "must be finite"),
        ("value", np.array([0, math.nan]), "must be finite"),
    ],
)
def test_a_wrong_state_is_refused_by_its_path(path: str, array: Any, words: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(path)} of the state {words}"):
        check(replaced(path, array), state_of(3))


def test_fields_that_say_nothing_are_checked_for_shape_and_type() -> None:
    """Hints that cannot be resolved, as a class made in a function has them, say nothing."""

    class OutOfReach(NamedTuple):
        nothing: int = 0

    class Local(NamedTuple):
        counts: Annotated[FloatArray, OutOfReach()]

    assert marks_of(Local) == {}
    assert marks_of(Ring)["place"] == (Place("kept", -1),)
    fresh = Local(np.zeros(2))
    check(Local(np.full(2, math.nan)), fresh)
    with pytest.raises(ValueError, match="counts of the state must be float64 of shape"):
        check(Local(np.zeros(3)), fresh)


class Chained(NamedTuple):
    """A part that says what its fields must be together."""

    first: Counts
    second: Counts

    def wrong(self, state: Any, params: Any, waiting: Any) -> str | None:
        most = params.most - len(waiting)
        fine = self.first[0] + self.second[0] + state.more[0] <= most
        return None if fine else f"first must leave {most} to the others"


class Chains(NamedTuple):
    one: Chained
    two: Chained
    more: Counts


class Limit(NamedTuple):
    most: int


class Limits(NamedTuple):
    most: int
    two: Limit  # of the policy whose state has that name


def test_a_part_is_asked_what_is_wrong_with_it() -> None:
    def chains(*numbers: int) -> Chains:
        a, b, c, d, e = (np.array([n]) for n in numbers)
        return Chains(Chained(a, b), Chained(c, d), e)

    fresh, params = chains(0, 0, 0, 0, 0), Limits(9, Limit(2))
    check(chains(4, 4, 1, 0, 1), fresh, params)
    with pytest.raises(ValueError, match=r"^one\.first must leave 9"):
        check(chains(4, 5, 1, 0, 1), fresh, params)
    with pytest.raises(ValueError, match=r"^two\.first must leave 2"):
        check(chains(4, 4, 1, 1, 1), fresh, params)
    with pytest.raises(ValueError, match=r"^two\.first must leave 1"):
        check(chains(4, 3, 1, 0, 1), fresh, params, waiting=[(0, 1)])


def test_whole_numbers_that_say_nothing_are_named() -> None:
    class Own(NamedTuple):
        spoken: Counts
        place: IntArray
        later: Annotated[IntArray, Uncleared()]
        mean: FloatArray

    whole = np.zeros(1, dtype=np.int64)
    assert marks_of(Own)["spoken"] == (Within(0),)
    assert silent(Own(whole, whole, whole, np.zeros(1))) == ["place", "later"]
    assert silent(state_of(3)) == []


def test_numbers_may_have_to_be_positive() -> None:
    def wrong(value: float) -> str | None:
        return Finite(above=0.0).wrong(Leaf("x", np.array([1.0, value]), (), ()), None)

    assert wrong(5e-324) is None
    for value in (0.0, -1.0, math.inf, math.nan):
        assert wrong(value) == "must be finite and above 0"


def test_an_empty_array_holds_nothing_wrong() -> None:
    empty = Leaf("counts", np.zeros(0, dtype=np.int64), (), ())
    assert Within(3).wrong(empty, None) is None
