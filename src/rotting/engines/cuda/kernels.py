"""The CUDA engine's kernels: their text, and where each array of a thread lies.

A thread's small arrays lie in shared memory, their integers in 32 bits. Of the larger ones, a table
[arm, ...] lies together for each thread, since threads are at different arms; a plain list has the
thread as its last axis, since threads are mostly at the same round.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rotting.bandits import Bandits
from rotting.engines.compiled.overloads import room_of
from rotting.engines.loop import Keys, Outcome, Scratch, Standard, benchmark, play

SHARED = 46_000  # bytes of shared memory that a block may use without asking for more
_LARGE = 1024  # numbers; in a smaller table threads find each other's lines useful
_COMPILED: dict[Any, Any] = {}


def kernel_of(cuda: Any, loop: str, fresh: Any, arms: int, block: int) -> tuple[Any, int]:
    """The kernel that plays one loop for policies of one kind, and the shared memory of a block.

    Its source is written here because arrays in shared memory need their sizes in it. Compiled
    when it is first used.
    """
    source, scope, size = source_of(loop, fresh, arms, block)
    key = (type(fresh), source)  # the same for two windows of different length
    if key not in _COMPILED:
        scope |= {"cuda": cuda, "State": type(fresh)}
        exec(source, scope)
        _COMPILED[key] = cuda.jit(scope["kernel"], shared_memory_carveout=100)
    return _COMPILED[key], size


_PLAY = """
def kernel(params, fresh, work, room, world, models, constants, noise, draw, first, checkpoints,
           optimal, single, regret, pulls, total, adversarial, stop):
    slot = cuda.grid(1)
    lane = cuda.threadIdx.x
    {locals}
    for r in range(slot, models.shape[0], cuda.gridsize(1)):
        {bandit}
        own = r if optimal.shape[0] > 1 else 0
        play(params, fresh, State({state}), Scratch({scratch}), world, Bandits({bandits}),
             Keys(noise, draw), first + r, checkpoints,
             Standard(optimal[own:own + 1], single[own:own + 1]),
             Outcome(regret[r:r + 1], pulls[r:r + 1], total[r:r + 1], adversarial[r:r + 1]), stop)
"""

_BENCHMARK = """
def kernel(params, fresh, work, room, world, models, constants, checkpoints, optimal, single):
    slot = cuda.grid(1)
    lane = cuda.threadIdx.x
    {locals}
    for r in range(slot, models.shape[0], cuda.gridsize(1)):
        {bandit}
        benchmark(params, fresh, State({state}), Scratch({scratch}), world, Bandits({bandits}),
                  checkpoints, Standard(optimal[r:r + 1], single[r:r + 1]))
"""


def source_of(loop: str, fresh: Any, arms: int, block: int) -> tuple[str, dict[str, Any], int]:
    """The text of a kernel, the names it uses, and its shared memory in bytes."""
    scope: dict[str, Any] = {
        "play": play, "benchmark": benchmark, "Scratch": Scratch, "Bandits": Bandits, "Keys": Keys,
        "Standard": Standard, "Outcome": Outcome,
    }  # fmt: skip
    own = {"models": np.zeros((1, arms), np.int64), "constants": np.zeros((1, arms))}
    holders = {"work": fresh._asdict(), "room": Scratch.empty(arms)._asdict(), "own": own}
    inside = small_arrays(holders, block) - {("work", name) for name in room_of(type(fresh))}
    whole = together(fresh)
    lines: list[str] = []

    def place(holder: str, name: str, array: Any) -> str:
        axes = ", ".join([":"] * array.ndim)
        if (holder, name) not in inside:
            if holder == "own":
                return f"{name}[r:r + 1]"
            thread = "slot" if whole.get(name) and holder == "work" else f"{axes}, slot"
            return f"{holder}.{name}[{thread}]"
        dtype = _narrow(array)
        kind = f"kind_{dtype.name}"
        scope[kind] = dtype.type
        shape = (*array.shape, block)
        lines.append(f"{holder}_{name} = cuda.shared.array({shape}, {kind})[{axes}, lane]")
        return f"{holder}_{name}"

    parts = {holder: ", ".join(place(holder, name, array) for name, array in arrays.items())
             for holder, arrays in holders.items()}  # fmt: skip
    bandit = ["pass"]
    for name in own:
        if ("own", name) in inside:
            bandit.append(f"for i in range({arms}):")
            bandit.append(f"    own_{name}[0, i] = {name}[r, i]")
    text = {"play": _PLAY, "benchmark": _BENCHMARK}[loop].format(
        locals="\n    ".join(lines), bandit="\n        ".join(bandit), state=parts["work"],
        scratch=parts["room"], bandits=parts["own"],
    )  # fmt: skip
    size = sum(_bytes(holders[holder][name]) for holder, name in inside) * block
    return text, scope, size


def _narrow(array: Any) -> Any:
    """The type of an array in shared memory. Integers of states are counts, places and rounds."""
    return np.dtype(np.int32) if array.dtype == np.int64 else array.dtype


def _bytes(array: Any) -> int:
    return int(array.size * _narrow(array).itemsize)


def together(state: Any) -> dict[str, bool]:
    """Which arrays of a state lie together for each thread, where they are not in shared memory."""
    room = room_of(type(state))
    return {name: array.ndim > 1 and (array.size >= _LARGE or name in room)
            for name, array in state._asdict().items()}  # fmt: skip


def small_arrays(holders: dict[str, dict[str, Any]], block: int) -> set[tuple[str, str]]:
    """The arrays that go into shared memory: single numbers and one an arm, the smallest first.

    There an element of every thread has its own bank, whichever arm each thread is at. Anywhere
    else threads at different arms wait for each other, and that is most of the time a run takes.
    """
    arms = holders["room"]["pulls"].size
    every = [(_bytes(array), holder, name)
             for holder, arrays in holders.items() for name, array in arrays.items()
             if array.size <= max(arms, 3)]  # fmt: skip
    inside, used = set(), 0
    for size, holder, name in sorted(every):
        if used + size * block > SHARED:
            break
        used += size * block
        inside.add((holder, name))
    return inside
