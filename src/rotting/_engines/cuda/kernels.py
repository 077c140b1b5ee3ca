"""The CUDA engine's kernels: their source text, and the memory of each array of a thread.

A thread's small arrays lie in shared memory, their integers in 32 bits. Of the larger ones, a table
[arm, ...] is contiguous for each thread, since threads are at different arms; a plain list has the
thread as its last axis, since threads are mostly at the same round.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from rotting._engines.baseline import Baseline, play_baseline
from rotting._engines.loop import Keys, NoEvents, Outcome, Scratch, play
from rotting.bandits import Bandits
from rotting.kernel.state import Leaf, is_part, leaves

SHARED = 46_000  # bytes of shared memory that a block may use without a request for more
_LARGE = 1024  # numbers; in a smaller table threads profit from each other's cache lines
_COMPILED: dict[Any, Any] = {}


def kernel_of(
    cuda: Any, loop: Callable[..., None], fresh: Any, arms: int, block: int
) -> tuple[Any, int]:
    """The kernel that runs one loop for policies of one kind, and the shared memory of a block.

    Its source is generated because arrays in shared memory need their sizes in it. It is compiled
    when it is first used.
    """
    source, scope, size = source_of(loop, fresh, arms, block)
    # policies that differ in numbers only, such as the length of a window, share a kernel
    key = (source, tuple(value for name, value in scope.items() if name.startswith("Part")))
    if key not in _COMPILED:
        scope["cuda"] = cuda
        exec(source, scope)
        _COMPILED[key] = cuda.jit(scope["kernel"], shared_memory_carveout=100)
    return _COMPILED[key], size


_PLAY = """
def kernel(params, fresh, work, scratch, world, models, constants, noise, draw, first, checkpoints,
           optimal, single, regret, pulls, total, adversarial, stop):
    slot = cuda.grid(1)
    lane = cuda.threadIdx.x
    {locals}
    for r in range(slot, models.shape[0], cuda.gridsize(1)):
        {bandit}
        own = r if optimal.shape[0] > 1 else 0
        play(params, fresh, {state}, {scratch}, world, Bandits({bandits}),
             NoEvents(), Keys(noise, draw), first + r, checkpoints,
             Baseline(optimal[own:own + 1], single[own:own + 1]),
             Outcome(regret[r:r + 1], pulls[r:r + 1], total[r:r + 1], adversarial[r:r + 1]), stop)
"""

_BASELINE = """
def kernel(params, fresh, work, scratch, world, models, constants, checkpoints, optimal, single):
    slot = cuda.grid(1)
    lane = cuda.threadIdx.x
    {locals}
    for r in range(slot, models.shape[0], cuda.gridsize(1)):
        {bandit}
        play_baseline(params, fresh, {state}, {scratch}, world, Bandits({bandits}),
                      NoEvents(), checkpoints, Baseline(optimal[r:r + 1], single[r:r + 1]))
"""


def source_of(
    loop: Callable[..., None], fresh: Any, arms: int, block: int
) -> tuple[str, dict[str, Any], int]:
    """The source of a kernel, the names it uses, and its shared memory in bytes."""
    scope: dict[str, Any] = {
        "play": play,
        "play_baseline": play_baseline,
        "Bandits": Bandits,
        "NoEvents": NoEvents,
        "Keys": Keys,
        "Baseline": Baseline,
        "Outcome": Outcome,
    }
    own = Bandits(np.zeros((1, arms), np.int64), np.zeros((1, arms)))
    holders = {"work": fresh, "scratch": Scratch.empty(arms), "own": own}
    inside = small_arrays(holders, block)
    lines: list[str] = []

    def place(holder: str, leaf: Leaf) -> str:
        axes = ", ".join([":"] * leaf.value.ndim)
        if (holder, leaf.path) not in inside:
            if holder == "own":
                return f"{leaf.path}[r:r + 1]"
            thread = "slot" if holder == "work" and lie_together(leaf) else f"{axes}, slot"
            return f"{holder}.{leaf.path}[{thread}]"
        dtype = _narrow(leaf.value)
        kind = f"kind_{dtype.name}"
        scope[kind] = dtype.type
        name = f"{holder}_{leaf.path.replace('.', '_')}"
        shape = (*leaf.value.shape, block)
        lines.append(f"{name} = cuda.shared.array({shape}, {kind})[{axes}, lane]")
        return name

    def built(holder: str, part: Any, found: Any) -> str:
        """The expression that builds a part from its arrays."""
        inner = [
            built(holder, x, found) if is_part(x) else place(holder, next(found)) for x in part
        ]
        known = [name for name, kind in scope.items() if kind is type(part)]
        name = known[0] if known else f"Part{len(scope)}"
        scope[name] = type(part)
        return f"{name}({', '.join(inner)})"

    text = {play: _PLAY, play_baseline: _BASELINE}[loop]
    state, scratch = (
        built(holder, holders[holder], leaves(holders[holder])) for holder in ("work", "scratch")
    )
    bandits = ", ".join(place("own", leaf) for leaf in leaves(own))
    bandit = ["pass"]
    for leaf in leaves(own):
        if ("own", leaf.path) in inside:
            bandit.append(f"for i in range({arms}):")
            bandit.append(f"    own_{leaf.path}[0, i] = {leaf.path}[r, i]")
    text = text.format(
        locals="\n    ".join(lines),
        bandit="\n        ".join(bandit),
        state=state,
        scratch=scratch,
        bandits=bandits,
    )
    size = sum(
        _bytes(leaf.value)
        for holder, part in holders.items()
        for leaf in leaves(part)
        if (holder, leaf.path) in inside
    )
    return text, scope, size * block


def _narrow(array: Any) -> Any:
    """The type of an array in shared memory: integers of states are counts, places and rounds."""
    return np.dtype(np.int32) if array.dtype == np.int64 else array.dtype


def _bytes(array: Any) -> int:
    return int(array.size * _narrow(array).itemsize)


def lie_together(leaf: Leaf) -> bool:
    """Whether an array outside shared memory is contiguous for each thread."""
    return leaf.value.ndim > 1 and (leaf.value.size >= _LARGE or leaf.uncleared)


def small_arrays(holders: dict[str, Any], block: int) -> set[tuple[str, str]]:
    """The arrays that go into shared memory: single numbers and one per arm, the smallest first.

    There an element of every thread has its own bank, whichever arm each thread is at. Elsewhere
    threads at different arms wait for each other, which is most of the time of a run.
    """
    arms = holders["scratch"].pulls.size
    every = [
        (_bytes(leaf.value), holder, leaf.path)
        for holder, part in holders.items()
        for leaf in leaves(part)
        if leaf.value.size <= max(arms, 3) and not leaf.uncleared
    ]
    inside, used = set(), 0
    for size, holder, path in sorted(every):
        if used + size * block > SHARED:
            break
        used += size * block
        inside.add((holder, path))
    return inside
