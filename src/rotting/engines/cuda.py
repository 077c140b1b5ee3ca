"""The CUDA engine: one thread a run, with the same loops and policies as everywhere else.

A thread's small arrays lie in shared memory, their integers in 32 bits. Of the larger ones, a table
[arm, ...] lies together for each thread, since threads are at different arms; a plain list has the
thread as its last axis, since threads are mostly at the same round. Runs go to the device in
portions; only outcomes come back. The portions and the block size change nothing: a run depends on
its number alone.

The bandits and what pi_max collects on them do not depend on the policy, so they are worked out
once for all policies that are compared on the same runs.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np

from rotting.bandits import Bandits
from rotting.engines.loop import Keys, Outcome, Scratch, Standard, benchmark, play
from rotting.engines.plan import Plan, Progress
from rotting.engines.verbs import register, register_gpu_forms, register_loops, room_of

MOST_RUNS = 1 << 18  # a portion: enough to fill any device
SHARED = 46_000  # bytes of shared memory that a block may use without asking for more
_PROCESSOR = 227 * 1024  # and what a processor has of it, on the devices this was tuned for
_THREADS = 256  # a processor's threads: their registers leave no room for more
_LARGE = 1024  # numbers; in a smaller table threads find each other's lines useful
_MOST_DECISIONS = 2**30 - 1  # counts are kept in 32 bits, and some are doubled
_MEMORY = 0.4  # of what is free: for a policy's states, and for pi_max's
SPENT = [0.0]  # seconds in kernels, for those who measure
_KEPT = 1 / 16  # of the device's memory: bandits and standards that stay for the next policy
_PROBLEMS: dict[Any, Problems] = {}


class Problems(NamedTuple):
    """What a portion of runs is about, whatever the policy: arrays on the device."""

    models: Any  # [run, arm], the runs next to each other in memory
    constants: Any
    standard: Standard

    @property
    def size(self) -> int:
        """Bytes."""
        return sum(array.nbytes for array in (self.models, self.constants, *self.standard))


def require() -> Any:
    """numba's CUDA target with a device, or a clear error that says what is missing."""
    try:
        import numba.cuda as cuda
    except ImportError:  # numba without its CUDA target
        raise ValueError(_missing("numba-cuda is not installed")) from None
    try:
        available = cuda.is_available()
    except Exception as error:
        raise ValueError(_missing(f"CUDA does not start ({error})")) from None
    if not available:
        try:
            cuda.cudadrv.driver.driver.ensure_initialized()
            reason = "no GPU was found"
        except Exception as error:
            reason = " ".join(str(error).split()) or "no CUDA driver was found"
        raise ValueError(_missing(reason))
    from numba import config

    config.CUDA_LOW_OCCUPANCY_WARNINGS = 0  # few runs are few runs
    return cuda


def _missing(reason: str) -> str:
    return (
        f"engine must be one that can run here, got 'cuda': {reason}; it needs an NVIDIA GPU with "
        "its driver and pip install 'rotting[cuda]'. engine='cpu' needs neither"
    )


def simulate(plan: Plan, outcome: Outcome, progress: Progress, block: int = 32) -> None:
    """Play all runs of a plan on the device."""
    cuda = require()
    if plan.scenario.horizon > _MOST_DECISIONS:
        raise ValueError(f"horizon must be at most {_MOST_DECISIONS} for engine='cuda', got "
                         f"{plan.scenario.horizon}")  # fmt: skip
    register()
    register_gpu_forms()
    register_loops((play, benchmark))
    kernel, shared = _kernel(cuda, "play", plan.fresh, plan.scenario.arm_count, block)
    device = _on_device(cuda, plan)
    size = min(MOST_RUNS, plan.runs)
    blocks = _blocks(cuda, plan, size, block, shared)
    work = _repeated(cuda, plan.fresh, blocks * block)
    scratch = _repeated(cuda, Scratch.empty(plan.scenario.arm_count), blocks * block)
    stop = cuda.to_device(np.zeros(1, dtype=np.int64))
    for first in range(0, plan.runs, size):
        last = min(first + size, plan.runs)
        run = plan.first_run + first
        problems = _problems(cuda, plan, device, run, last - first, block)
        rows = Outcome(*(cuda.device_array((last - first, *array.shape[1:]), array.dtype)
                         for array in outcome))  # fmt: skip
        kernel[blocks, block](
            device["params"], device["fresh"], work, scratch, device["world"], problems.models,
            problems.constants, plan.keys.noise, plan.keys.draw, run, device["checkpoints"],
            *problems.standard, *rows, stop,
        )  # fmt: skip
        _wait(cuda)
        for target, source in zip(outcome, rows, strict=True):
            target[first:last] = source.copy_to_host()  # type: ignore[attr-defined]
        if stop.copy_to_host()[0] != 0:
            arms = plan.scenario.arm_count
            raise ValueError(f"select must return an arm from 0 to {arms - 1}; the policy did not")
        progress(last, plan.runs)


def _kernel(cuda: Any, loop: str, fresh: Any, arms: int, block: int) -> tuple[Any, int]:
    """The kernel that plays one loop for policies of one kind, and the shared memory of a block.

    Its source is written here because arrays in shared memory need their sizes in it. Compiled
    when it is first used.
    """
    source, scope, size = _source(loop, fresh, arms, block)
    key = (type(fresh), source)  # the same for two windows of different length
    if key not in _COMPILED:
        scope |= {"cuda": cuda, "State": type(fresh)}
        exec(source, scope)
        _COMPILED[key] = cuda.jit(scope["kernel"], shared_memory_carveout=100)
    return _COMPILED[key], size


def _wait(cuda: Any) -> None:
    """Wait for a kernel that has just been started, and note how long it took."""
    begun = time.perf_counter()
    cuda.synchronize()
    SPENT[0] += time.perf_counter() - begun


_COMPILED: dict[Any, Any] = {}

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


def _source(loop: str, fresh: Any, arms: int, block: int) -> tuple[str, dict[str, Any], int]:
    """The text of a kernel, the names it uses, and its shared memory in bytes."""
    scope: dict[str, Any] = {
        "play": play, "benchmark": benchmark, "Scratch": Scratch, "Bandits": Bandits, "Keys": Keys,
        "Standard": Standard, "Outcome": Outcome,
    }  # fmt: skip
    own = {"models": np.zeros((1, arms), np.int64), "constants": np.zeros((1, arms))}
    holders = {"work": fresh._asdict(), "room": Scratch.empty(arms)._asdict(), "own": own}
    inside = small_arrays(holders, block) - {("work", name) for name in room_of(type(fresh))}
    together = _together(fresh)
    lines: list[str] = []

    def place(holder: str, name: str, array: Any) -> str:
        axes = ", ".join([":"] * array.ndim)
        if (holder, name) not in inside:
            if holder == "own":
                return f"{name}[r:r + 1]"
            thread = "slot" if together.get(name) and holder == "work" else f"{axes}, slot"
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


def _together(state: Any) -> dict[str, bool]:
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


def _to_device(cuda: Any, values: Any) -> Any:
    """A NamedTuple with its arrays on the device."""
    moved = [
        cuda.to_device(np.ascontiguousarray(value)) if isinstance(value, np.ndarray) else value
        for value in values
    ]
    return type(values)(*moved)


def _on_device(cuda: Any, plan: Plan) -> dict[str, Any]:
    return {
        "params": _to_device(cuda, plan.params),
        "fresh": _to_device(cuda, plan.fresh),
        "world": _to_device(cuda, plan.world),
        "checkpoints": cuda.to_device(plan.checkpoints),
    }


def _repeated(cuda: Any, state: Any, threads: int) -> Any:
    """Room for every thread's state, written before it is read."""
    # what lies in shared memory is not read here, but is small
    together = _together(state).values()
    shapes = [(threads, *array.shape) if whole else (*array.shape, threads)
              for array, whole in zip(state, together, strict=True)]  # fmt: skip
    return type(state)(*(cuda.device_array(shape, array.dtype)
                         for shape, array in zip(shapes, state, strict=True)))  # fmt: skip


def _blocks(cuda: Any, plan: Plan, runs: int, block: int, shared: int) -> int:
    """How many blocks to start: as many as find room at once. A thread plays run after run."""
    arrays = (*plan.fresh, *plan.oracle_fresh, *Scratch.empty(plan.scenario.arm_count))
    each = sum(array.nbytes for array in arrays)
    free = cuda.current_context().get_memory_info()[0]
    fits = int(free * _MEMORY) // (each * block)
    if fits < 1:
        raise ValueError(f"the device must have room for {block} runs of {each:,} bytes, got "
                         f"{free:,} bytes free")  # fmt: skip
    a_processor = max(1, min(_THREADS // block, _PROCESSOR // (shared + 1024)))
    most = int(cuda.get_current_device().MULTIPROCESSOR_COUNT * a_processor)
    blocks = min(fits, most, -(-runs // block))
    rounds = -(-runs // (blocks * block))
    even: int = -(-runs // (rounds * block))  # so that all threads play equally many
    return even


def _problems(
    cuda: Any, plan: Plan, device: dict[str, Any], run: int, count: int, block: int
) -> Problems:
    """Bandits and standard of so many runs, made or found; a fixed bandit has one standard."""
    first = 0 if plan.scenario.fixed else run
    key = plan.scenario, plan.seed, first, count, plan.checkpoints.tobytes()
    try:
        if key in _PROBLEMS:
            return _PROBLEMS[key]
        known = True
    except TypeError:  # a scenario that cannot be compared
        known = False
    most = _KEPT * cuda.current_context().get_memory_info()[1]
    size = 16 * count * (plan.scenario.arm_count + plan.checkpoints.size)
    keep = known and 4 * size <= most
    if keep and sum(problems.size for problems in _PROBLEMS.values()) + size > most:
        _PROBLEMS.clear()
    bandits = plan.scenario.bandits(plan.seed, first, first + count)
    models, constants = (cuda.to_device(np.asfortranarray(array)) for array in bandits)
    own = 1 if plan.scenario.fixed else count
    standard = _standard(cuda, plan, device, models[:own], constants[:own], block)
    found = Problems(models, constants, standard)
    if keep:
        _PROBLEMS[key] = found
    return found


def _standard(
    cuda: Any, plan: Plan, device: dict[str, Any], models: Any, constants: Any, block: int
) -> Standard:
    """What pi_max and the best single arm expect on these bandits, worked out on the device."""
    shape = (models.shape[0], plan.checkpoints.size)
    standard = Standard(cuda.device_array(shape, np.float64), cuda.device_array(shape, np.float64))
    arms = plan.scenario.arm_count
    kernel, shared = _kernel(cuda, "benchmark", plan.oracle_fresh, arms, block)
    blocks = _blocks(cuda, plan, shape[0], block, shared)
    kernel[blocks, block](
        _to_device(cuda, plan.oracle), _to_device(cuda, plan.oracle_fresh),
        _repeated(cuda, plan.oracle_fresh, blocks * block),
        _repeated(cuda, Scratch.empty(arms), blocks * block), device["world"], models, constants,
        device["checkpoints"], *standard,
    )  # fmt: skip
    _wait(cuda)
    return standard
