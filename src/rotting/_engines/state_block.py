"""A policy's state in one block of memory, so that a run starts with a single copy.

Copying array by array would need a loop for each, a good part of a policy's compile time. Arrays
that are written before they are read (`state.Uncleared`) lie last and are not copied.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rotting.kernel.compilable import by_type
from rotting.kernel.state import leaves, rebuild

Words = npt.NDArray[np.uint64]
_WORD = 8  # bytes; every array begins at a multiple
_GUARD = 16  # words on either side: threads must not share a cache line


class StateBlock(NamedTuple):
    """The words of a state at its start, and those of the state in use."""

    start: Words  # the words at the start of a run
    now: Words  # longer by the arrays that need no clearing


def state_block_of(fresh: Any, clear_all: bool = False) -> tuple[StateBlock, Any]:
    """The block of a state, and the state whose arrays lie in it.

    `clear_all` copies the uncleared arrays as well.

    >>> class State(NamedTuple):
    ...     time: Any
    >>> block, state = state_block_of(State(np.full(2, 7)))
    >>> block.now[:block.start.size] = block.start
    >>> state.time, block.start.size
    (array([7, 7]), 2)
    """
    found = list(leaves(fresh))
    for leaf in found:
        if not isinstance(leaf.value, np.ndarray) or leaf.value.dtype.hasobject:
            raise ValueError(
                f"{leaf.path} of the state must be an array of numbers, got {leaf.value!r}"
            )
    copied = {leaf.path for leaf in found if clear_all or not leaf.uncleared}
    words = {leaf.path: -(-leaf.value.nbytes // _WORD) for leaf in found}
    now = np.empty(sum(words.values()) + 2 * _GUARD, dtype=np.uint64)[_GUARD:-_GUARD]
    placed = {}
    end = 0
    for leaf in sorted(found, key=lambda leaf: leaf.path not in copied):
        array = leaf.value
        begin, end = end, end + words[leaf.path]
        flat = now[begin:end].view(np.uint8)[: array.nbytes].view(array.dtype)
        placed[leaf.path] = flat.reshape(array.shape)
        if leaf.path in copied:
            placed[leaf.path][...] = array
    kept = sum(words[path] for path in copied)
    state = rebuild(fresh, iter(placed[leaf.path] for leaf in found))
    return StateBlock(now[:kept].copy(), now), state


@by_type("fresh")
def restart(fresh: Any, work: Any) -> Any:
    """Reset a state; `fresh` is its `StateBlock`, or on a GPU a fresh state."""
    raise TypeError(f"fresh must be a StateBlock in plain Python, got {type(fresh)!r}")


@restart.of(StateBlock)
def _(fresh: Any, work: Any) -> Any:
    for i in range(fresh.start.size):
        fresh.now[i] = fresh.start[i]
