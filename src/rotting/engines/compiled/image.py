"""A policy's state in one piece of memory, so that a run starts with a single copy.

Copied array by array, each with a loop of its own to compile, the start of a run was a good part of
what a policy took to compile.
"""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint64]
_WORD = 8  # bytes; every array begins at a whole one
_GUARD = 16  # words on either side, lest threads write to the same line of the cache


class Image(NamedTuple):
    """The words of a state at its start, and the words of the one that is played with."""

    start: Words
    now: Words  # longer, by the arrays that need no clearing


def image_of(fresh: Any, room: set[str]) -> tuple[Image, Any]:
    """The image of a state, and the state whose arrays lie in it; those named in `room` come last.

    >>> from rotting.policies.ucb1 import State
    >>> image, state = image_of(State(*(np.full(2, n) for n in range(7))), room={"pulls"})
    >>> image.now[:image.start.size] = image.start
    >>> state.time, image.start.size
    (array([0, 0]), 12)
    """
    arrays = fresh._asdict()
    for name, array in arrays.items():
        if not isinstance(array, np.ndarray) or array.dtype.hasobject:
            raise ValueError(f"{name} of the state must be an array of numbers, got {array!r}")
    names = sorted(arrays, key=lambda name: name in room)
    sizes = [-(-arrays[name].nbytes // _WORD) for name in names]
    now = np.empty(sum(sizes) + 2 * _GUARD, dtype=np.uint64)[_GUARD:-_GUARD]
    placed = {}
    for name, size, end in zip(names, sizes, itertools.accumulate(sizes), strict=True):
        array = arrays[name]
        flat = now[end - size : end].view(np.uint8)[: array.nbytes].view(array.dtype)
        placed[name] = flat.reshape(array.shape)
        if name not in room:
            placed[name][...] = array
    kept = sum(size for name, size in zip(names, sizes, strict=True) if name not in room)
    state = type(fresh)(**{name: placed[name] for name in arrays})
    return Image(now[:kept].copy(), now), state
