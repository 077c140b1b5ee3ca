"""Compiled verbs one decision at a time.

Passing a NamedTuple of arrays to compiled code is slow: every field is unboxed at every call. The
arrays of a player stay where they are, so their addresses and shapes are written once into a
block of integers, and a call passes that block only.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from rotting._engines.compiled.compiler import compiled, first_call
from rotting._engines.compiled.numba_hooks import LOCK, clear_compiled, make_known
from rotting._live import steps
from rotting._live.keys import has_keys
from rotting.kernel.arrays import IntArray
from rotting.kernel.compilable import Table, dispatched
from rotting.kernel.state import kinds, leaves, values

# A layout is the nested structure of a block's contents: a tuple type with its members, or the
# type of a number or an array as a word ("float", "int64:1").
Layout = tuple[type, list[Any]] | str


def _unpack(block: Any, layout: Any) -> Any:
    """Params, state, draw and ledger from a block; compiled code only."""
    raise TypeError("unpack works in compiled code only")


unpack = dispatched(Table(_unpack, "block"))


def make_decide(layout: str) -> Callable[..., Any]:
    """`decide(block)`: a decision of the player behind the block."""

    def decide(block: Any) -> Any:
        params, state, draw, ledger = unpack(block, layout)
        return steps.decide(params, state, draw, ledger, 0)

    return decide


def make_decide_for(layout: str) -> Callable[..., Any]:
    """`decide(block, key)`: a decision for a key of an audience."""

    def decide(block: Any, key: Any) -> Any:
        params, state, draw, ledger = unpack(block, layout)
        return steps.decide(params, state, draw, ledger, key)

    return decide


def make_learn(layout: str) -> Callable[..., Any]:
    """`learn(block, arm, pull, reward)`: a reward for the player behind the block."""

    def learn(block: Any, arm: Any, pull: Any, reward: Any) -> Any:
        params, state, _, ledger = unpack(block, layout)
        return steps.learn(params, state, ledger, arm, pull, reward, 0)

    return learn


def make_learn_for(layout: str) -> Callable[..., Any]:
    """`learn(block, arm, pull, reward, key)`: a reward for a key of an audience."""

    def learn(block: Any, arm: Any, pull: Any, reward: Any, key: Any) -> Any:
        params, state, _, ledger = unpack(block, layout)
        return steps.learn(params, state, ledger, arm, pull, reward, key)

    return learn


def make_work(layout: str) -> Callable[..., Any]:
    """`work(block, what, rows, rewards, chances)`: a batch for the player behind the block."""

    def work(block: Any, what: Any, rows: Any, rewards: Any, chances: Any) -> Any:
        params, state, draw, ledger = unpack(block, layout)
        return steps.work(params, state, draw, ledger, what, rows, rewards, chances)

    return work


class Calls(NamedTuple):
    """The compiled forms of `_live.steps` for players of one policy, whatever their sizes."""

    decide: Any
    learn: Any
    work: Any  # compiled when it is first used, by `ready`


def calls_for(params: Any, state: Any, ledger: Any) -> Calls:
    """The calls, compiled at once: a service should start slowly rather than answer slowly."""
    with LOCK:  # the compiler must not be imported by several threads at once
        _register()
    layout = _layout_of(params, state, ledger)
    keys = has_keys(state, ledger)
    makers = (
        make_decide_for if keys else make_decide,
        make_learn_for if keys else make_learn,
        make_work,
    )
    calls = Calls(*(compiled(make(layout), params, state, layout) for make in makers))
    if not (calls.decide.signatures and calls.learn.signatures):
        types, block = _numba_types(), _numba_type("int64:1")
        key = (types.int64,) if keys else ()
        with first_call(params):
            calls.decide.compile((block, *key))
            calls.learn.compile((block, types.int64, types.int64, types.float64, *key))
    return calls


def ready(calls: Calls, params: Any) -> Any:
    """The call for batches, compiled on first use."""
    if not calls.work.signatures:
        shapes = ("int64:1", "int64:2", "float64:1", "float64:1")
        block, rows, rewards, chances = map(_numba_type, shapes)
        with first_call(params):
            calls.work.compile((block, _numba_types().int64, rows, rewards, chances))
    return calls.work


def pack(
    parts: tuple[Any, ...], before: tuple[Any, ...] = (), block: IntArray | None = None
) -> IntArray:
    """The arguments of a call in one block: scalars as 64 bits, arrays as address and shape.

    `parts` are params, state, draw and ledger. The owner of the block keeps the arrays alive and in
    place. NumPy takes a microsecond to return an address; for arrays that were in the same place
    of the parts `before`, the addresses are taken from their block.
    """
    words: list[int] = []
    old = iter(() if block is None else values(before))
    known = [] if block is None else block.tolist()
    place = 0
    for x in values(parts):
        was = next(old, None)
        size = 1 + was.ndim if isinstance(was, np.ndarray) else 1
        if x is was and block is not None:
            words += known[place : place + size]
        elif isinstance(x, np.ndarray):
            words += [x.__array_interface__["data"][0], *x.shape]
        elif isinstance(x, (bool, int, np.integer, np.bool_)):
            words.append(int(x))
        else:
            words.append(int(np.float64(x).view(np.int64)))
        place += size
    return np.array(words, dtype=np.int64)


def _layout_of(*parts: Any) -> str:
    """A name for the types of all fields of params, state and ledger, kept for the compiler."""
    found = tuple(kind for part in parts for kind in kinds(part))
    types = [_type_of(x) for part in parts for x in values(part)]
    known = _NAMES.get((found, *types))
    if known is not None:  # the fast path: a service makes thousands of players
        return known
    codes = [_code_of(leaf) for part in parts for leaf in leaves(part)]
    names = [f"{kind.__module__}.{kind.__qualname__}" for kind in found]
    layout = f"{'+'.join(names)}|{'|'.join(codes)}"
    words = iter(codes)
    structure = tuple(_structure(part, words) for part in parts)
    if _LAYOUTS.setdefault(layout, structure) != structure:
        # classes of these names were redefined, in a notebook or by a reload
        _LAYOUTS[layout] = structure
        _NAMES.clear()
        clear_compiled([unpack])
    _NAMES[found, *types] = layout
    return layout


def _type_of(x: Any) -> Any:
    """A key that differs for values passed to compiled code in different forms."""
    return (x.dtype.char, x.ndim, x.flags.c_contiguous) if isinstance(x, np.ndarray) else type(x)


def _structure(part: Any, codes: Any) -> Layout:
    return type(part), [
        _structure(x, codes) if hasattr(x, "_fields") else next(codes) for x in part
    ]


def _code_of(leaf: Any) -> str:
    """The type of a field, in a word; refused if compiled code cannot take it."""
    x = leaf.value
    holder = type(leaf.around[0]).__name__
    if isinstance(x, np.ndarray):
        if not x.flags.c_contiguous:
            raise ValueError(f"{leaf.path} of {holder} must be a contiguous array")
        return f"{x.dtype.name}:{x.ndim}"
    for types, code in (
        ((bool, np.bool_), "bool"),
        ((int, np.integer), "int"),
        ((float, np.floating), "float"),
    ):
        if isinstance(x, types):
            return code
    raise ValueError(f"{leaf.path} of {holder} must be a number or an array, got {x!r}")


_LAYOUTS: dict[str, tuple[Layout, ...]] = {}
_NAMES: dict[Any, str] = {}  # layouts by the types that they are made from


def _numba_types() -> Any:
    from numba.core import types

    return types


def _numba_type(layout: Layout) -> Any:
    """Numba's type of a layout."""
    from numba.np import numpy_support

    types = _numba_types()
    if not isinstance(layout, str):
        kind, members = layout[0], [_numba_type(member) for member in layout[1]]
        if members and all(member == members[0] for member in members):
            return types.NamedUniTuple(members[0], len(members), kind)
        return types.NamedTuple(members, kind)
    if ":" in layout:
        name, ndim = layout.split(":")
        return types.Array(numpy_support.from_dtype(np.dtype(name)), int(ndim), "C")
    return {"bool": types.boolean, "int": types.int64, "float": types.float64}[layout]


@functools.cache
def _register() -> None:
    from numba.core import cgutils
    from numba.extending import intrinsic
    from numba.np import arrayobj

    types = _numba_types()

    def load(context: Any, builder: Any, words: Any, place: int, member: Any) -> tuple[Any, int]:
        """The value of a member whose words start at a place, and the place of the next one."""

        def word(k: int) -> Any:
            return builder.load(cgutils.gep_inbounds(builder, words, place + k))

        if isinstance(member, types.BaseTuple):
            values = []
            for inner in member:
                value, place = load(context, builder, words, place, inner)
                values.append(value)
            return context.make_tuple(builder, member, values), place
        if not isinstance(member, types.Array):
            if member == types.float64:
                return builder.bitcast(word(0), context.get_value_type(member)), place + 1
            return context.cast(builder, word(0), types.int64, member), place + 1
        itemsize = context.get_constant(types.intp, member.dtype.bitwidth // 8)
        shape = [word(1 + axis) for axis in range(member.ndim)]
        strides = [itemsize]
        for extent in reversed(shape[1:]):
            strides.insert(0, builder.mul(strides[0], extent))
        array = arrayobj.make_array(member)(context, builder)
        arrayobj.populate_array(
            array,
            data=builder.inttoptr(word(0), array.data.type),
            shape=cgutils.pack_array(builder, shape),
            strides=cgutils.pack_array(builder, strides),
            itemsize=itemsize,
            meminfo=None,
        )
        return array._getvalue(), place + 1 + member.ndim

    def overload_unpack(block: Any, layout: Any) -> Any:
        params, state, ledger = map(_numba_type, _LAYOUTS[layout.literal_value])
        result = types.Tuple([params, state, _numba_type("uint64:1"), ledger])

        def build(typingctx: Any, block: Any) -> Any:
            def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
                words = arrayobj.make_array(block)(context, builder, args[0]).data
                value, _ = load(context, builder, words, 0, result)
                return value

            return result(block), codegen

        built = intrinsic(build)
        return lambda block, layout: built(block)

    unpack.table.generate = overload_unpack
    make_known(
        unpack, unpack.table.compiled_body, prefer_literal=True, jit_options={"forceinline": True}
    )
