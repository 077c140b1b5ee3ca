"""Compiled verbs one decision at a time.

Handing a NamedTuple of arrays to compiled code is slow: every field is taken apart anew. The
arrays of a player stay where they are, so their addresses and shapes are written once into a
block of integers, and that block is all that a call hands over.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from rotting.bandits import IntArray
from rotting.engines.compiled.compiling import compiled
from rotting.engines.compiled.fingerprint import dispatched, fingerprint
from rotting.engines.compiled.overloads import select, update
from rotting.policies.base import KINDS


@dispatched
def unpack(block: Any, layout: Any) -> Any:
    """Params, state and draw from a block; compiled code only."""
    raise TypeError("unpack works in compiled code only")


def make_decide(layout: str) -> Callable[..., Any]:
    """`decide(block)`: select on the player behind the block."""

    def decide(block: Any) -> Any:
        params, state, draw = unpack(block, layout)
        return select(params, state, draw)

    return decide


def make_learn(layout: str) -> Callable[..., Any]:
    """`learn(block, arm, pull, reward)`: update of the player behind the block."""

    def learn(block: Any, arm: Any, pull: Any, reward: Any) -> None:
        params, state, _ = unpack(block, layout)
        update(params, state, arm, pull, reward)

    return learn


class Stepper:
    """Params, state and draw with compiled `decide` and `learn`; keeps the arrays alive."""

    def __init__(self, params: Any, state: Any, draw: Any) -> None:
        _register()
        self._kept = params, state, draw
        layout = _layout_of(params, state)
        self.block = _pack(params, state, draw)
        self.decide = compiled(make_decide(layout), type(params), layout)
        self.learn = compiled(make_learn(layout), type(params), layout)


def _is_array(x: Any) -> bool:
    return isinstance(x, np.ndarray)


def _pack(params: Any, state: Any, draw: Any) -> IntArray:
    """Scalars as their 64 bits; arrays as address and shape."""
    words: list[int] = []
    for x in (*params, *state, draw):
        if _is_array(x):
            words += [x.ctypes.data, *x.shape]
        elif isinstance(x, (bool, int, np.integer, np.bool_)):
            words.append(int(x))
        else:
            words.append(int(np.float64(x).view(np.int64)))
    return np.array(words, dtype=np.int64)


def _layout_of(params: Any, state: Any) -> str:
    """A name for the types of all fields; known to the compiler from then on.

    The verbs' fingerprint is part of it: a policy defined anew, in a notebook or by a reload,
    must not meet the compiler's memory of the old one.
    """
    codes = [_code_of(params, name) for name in params._fields]
    codes += [_code_of(state, name) for name in state._fields]
    kind = type(params)
    verbs = KINDS[kind]
    mark = fingerprint([verbs.select, verbs.update]) or f"{id(kind)}"
    layout = f"{kind.__module__}.{kind.__qualname__}|{mark}|{'|'.join(codes)}"
    _LAYOUTS[layout] = (type(params), type(state), codes)
    return layout


def _code_of(fields: Any, name: str) -> str:
    """The type of a field, in a word; refused if compiled code cannot be handed it."""
    x = getattr(fields, name)
    if _is_array(x):
        if not x.flags.c_contiguous:
            raise ValueError(f"{name} of {type(fields).__name__} must be a contiguous array")
        return f"{x.dtype.name}:{x.ndim}"
    for kinds, code in (((bool, np.bool_), "bool"), ((int, np.integer), "int"),
                        ((float, np.floating), "float")):  # fmt: skip
        if isinstance(x, kinds):
            return code
    raise ValueError(f"{name} of {type(fields).__name__} must be a number or an array, got {x!r}")


_LAYOUTS: dict[str, tuple[type, type, list[str]]] = {}


def _numba_types() -> Any:
    from numba.core import types

    return types


def _numba_type(code: str) -> Any:
    from numba.np import numpy_support

    types = _numba_types()
    if ":" in code:
        name, ndim = code.split(":")
        return types.Array(numpy_support.from_dtype(np.dtype(name)), int(ndim), "C")
    return {"bool": types.boolean, "int": types.int64, "float": types.float64}[code]


def _named(kind: type, members: list[Any]) -> Any:
    types: Any = _numba_types()

    if members and all(member == members[0] for member in members):
        return types.NamedUniTuple(members[0], len(members), kind)
    return types.NamedTuple(members, kind)


@functools.cache
def _register() -> None:
    from numba.core import cgutils
    from numba.extending import intrinsic, overload
    from numba.np import arrayobj

    types = _numba_types()

    def load(context: Any, builder: Any, words: Any, place: int, member: Any) -> tuple[Any, int]:
        """The value of a field whose words start at a place, and where the next field starts."""

        def word(k: int) -> Any:
            return builder.load(cgutils.gep_inbounds(builder, words, place + k))

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
        params_type, state_type, codes = _LAYOUTS[layout.literal_value]
        members = [_numba_type(code) for code in codes]
        split = len(params_type._fields)  # type: ignore[attr-defined]
        result = types.Tuple(
            [
                _named(params_type, members[:split]),
                _named(state_type, members[split:]),
                _numba_type("uint64:1"),
            ]
        )

        def build(typingctx: Any, block: Any) -> Any:
            def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
                words = arrayobj.make_array(block)(context, builder, args[0]).data
                place = 0
                parts = []
                for part in result:
                    inside = list(part) if isinstance(part, types.BaseTuple) else [part]
                    values = []
                    for member in inside:
                        value, place = load(context, builder, words, place, member)
                        values.append(value)
                    is_tuple = isinstance(part, types.BaseTuple)
                    parts.append(
                        context.make_tuple(builder, part, values) if is_tuple else values[0]
                    )
                return context.make_tuple(builder, result, parts)

            return result(block), codegen

        built = intrinsic(build)
        return lambda block, layout: built(block)

    overload(unpack, strict=False, prefer_literal=True, jit_options={"forceinline": True})(
        overload_unpack
    )
