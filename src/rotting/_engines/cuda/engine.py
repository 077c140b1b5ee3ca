"""The CUDA engine: one thread a run, with the same loops and policies as the other engines.

Runs go to the device in portions; only outcomes come back. The portions and the block size change
no result: a run depends on its number alone. The compiled kernels are in
`rotting._engines.cuda.kernels`.

The bandits and pi_max's reward on them do not depend on the policy, so they are computed once for
all policies that are compared on the same runs, and stay on the device: drawing and laying out 2^18
bandits on the host takes as long as UCB1's kernel.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np

from rotting._cache import BoundedCache
from rotting._engines.baseline import Baseline, play_baseline
from rotting._engines.compiled.numba_hooks import register, register_gpu_forms, register_loops
from rotting._engines.cuda.kernels import kernel_of, lie_together
from rotting._engines.loop import Outcome, Scratch, play
from rotting._engines.plan import CHUNK_TABLES, Plan, check_stop, with_tables
from rotting._progress import Progress
from rotting.bandits import World
from rotting.kernel.state import leaves, rebuild

MOST_RUNS = 1 << 18  # a portion: enough to fill any device
_PROCESSOR = 227 * 1024  # bytes of shared memory a multiprocessor has, on the devices tuned for
# of a multiprocessor: their registers allow no more, and with fewer registers all is slower
_THREADS = 256
_MOST_DECISIONS = 2**30 - 1  # counts are kept in 32 bits, and some are doubled
_MEMORY = 0.4  # share of free memory for the states of a policy or of pi_max
_KEPT = 1 / 16  # share of the device's memory for bandits and baselines kept for the next policy


class Problems(NamedTuple):
    """The bandits and the baseline of a portion of runs, on the device, for any policy."""

    models: Any  # [run, arm], the runs next to each other in memory
    constants: Any  # [run, arm]
    baseline: Baseline  # what the regret is measured against


def _size(problems: Problems) -> int:
    """Bytes."""
    arrays = (problems.models, problems.constants, *problems.baseline)
    return int(sum(array.nbytes for array in arrays))


_PROBLEMS = BoundedCache[Problems](most=0, size=_size)  # `most` is set once the device is known


def require() -> Any:
    """numba's CUDA target with a device; the error without one says what is missing."""
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

    config.CUDA_LOW_OCCUPANCY_WARNINGS = 0  # few runs cannot fill a device
    return cuda


def _missing(reason: str) -> str:
    return (
        f"engine must be one that can run here, got 'cuda': {reason}; it needs an NVIDIA GPU with "
        "its driver and pip install 'rotting[cuda]'. engine='cpu' needs neither"
    )


def simulate(plan: Plan, outcome: Outcome, progress: Progress, block: int = 32) -> float:
    """Play all runs of a plan on the device; returns the seconds spent in kernels."""
    if plan.scenario.closes:
        raise ValueError(
            "engine must be 'cpu' or 'reference' where arms come and go (openings of the "
            "scenario), got 'cuda'"
        )
    if plan.scenario.crowd is not None:
        raise ValueError("engine must be 'cpu' or 'reference' for an audience, got 'cuda'")
    cuda = require()
    scenario, runs = plan.scenario, plan.request.runs
    if scenario.horizon > _MOST_DECISIONS:
        raise ValueError(
            f"horizon must be at most {_MOST_DECISIONS} for engine='cuda', got {scenario.horizon}"
        )
    register()
    register_gpu_forms()
    register_loops((play, play_baseline))
    total, free = _memory(cuda)
    _PROBLEMS.most = int(_KEPT * total)
    kernel, shared = kernel_of(cuda, play, plan.fresh, scenario.arm_count, block)
    fresh, checkpoints = _to_device(cuda, plan.fresh), cuda.to_device(plan.request.checkpoints)
    size = min(MOST_RUNS, runs, scenario.runs_a_chunk(min(free // 8, 4 * CHUNK_TABLES)))
    blocks = _blocks(cuda, plan, size, block, shared)
    work = _repeated(cuda, plan.fresh, blocks * block)
    scratch = _repeated(cuda, Scratch.empty(scenario.arm_count), blocks * block)
    stop = cuda.to_device(np.zeros(1, dtype=np.int64))
    spent = 0.0
    for first in range(0, runs, size):
        last = min(first + size, runs)
        world, problems, seconds = _problems(cuda, plan, first, last, checkpoints, block)
        params = _to_device(cuda, with_tables(plan.params, world))
        rows = [
            cuda.device_array((last - first, *array.shape[1:]), array.dtype) for array in outcome
        ]
        kernel[blocks, block](
            params,
            fresh,
            work,
            scratch,
            world,
            problems.models,
            problems.constants,
            plan.keys.noise,
            plan.keys.draw,
            plan.request.first_run + first,
            checkpoints,
            *problems.baseline,
            *rows,
            stop,
        )
        spent += seconds + _wait(cuda)
        for target, source in zip(outcome, rows, strict=True):
            target[first:last] = source.copy_to_host()
        check_stop(int(stop.copy_to_host()[0]), scenario.arm_count, plan.request.name)
        progress(last, runs)
    return spent


def _wait(cuda: Any) -> float:
    """Wait for the kernel that was just started; returns the seconds it took."""
    begun = time.perf_counter()
    cuda.synchronize()
    return time.perf_counter() - begun


def _memory(cuda: Any) -> tuple[int, int]:
    """Bytes of the device's memory: total, and free."""
    free, total = cuda.current_context().get_memory_info()
    return int(total), int(free)


def _to_device(cuda: Any, values: Any) -> Any:
    """A nested tuple with its arrays on the device."""
    moved = (
        cuda.to_device(np.ascontiguousarray(leaf.value))
        if isinstance(leaf.value, np.ndarray)
        else leaf.value
        for leaf in leaves(values)
    )
    return rebuild(values, moved)


def _repeated(cuda: Any, state: Any, threads: int) -> Any:
    """Uninitialised arrays for the states of all threads."""
    # arrays that lie in shared memory are not used here, but they are small
    arrays = (
        cuda.device_array(
            (threads, *leaf.value.shape) if lie_together(leaf) else (*leaf.value.shape, threads),
            leaf.value.dtype,
        )
        for leaf in leaves(state)
    )
    return rebuild(state, arrays)


def _blocks(cuda: Any, plan: Plan, runs: int, block: int, shared: int) -> int:
    """The number of blocks to start: all that fit at once. A thread plays run after run."""
    # so states stay in the caches, and a large array is needed for each thread, not for each run
    states = (plan.fresh, plan.oracle_fresh, Scratch.empty(plan.scenario.arm_count))
    each = sum(leaf.value.nbytes for state in states for leaf in leaves(state))
    free = _memory(cuda)[1]
    fits = int(free * _MEMORY) // (each * block)
    if fits < 1:
        raise ValueError(
            f"the device must have memory for {block} runs of {each:,} bytes, got {free:,} free"
        )
    a_processor = max(1, min(_THREADS // block, _PROCESSOR // (shared + 1024)))
    most = int(cuda.get_current_device().MULTIPROCESSOR_COUNT * a_processor)
    blocks = min(fits, most, -(-runs // block))
    rounds = -(-runs // (blocks * block))
    even: int = -(-runs // (rounds * block))  # so that all threads play equally many
    return even


_SHARED_WORLDS: list[tuple[World, Any]] = []  # the latest scenario's tables, here and on the device


def _world_on_device(cuda: Any, world: World) -> Any:
    """The tables on the device; those of the latest scenario are kept."""
    if not _SHARED_WORLDS or _SHARED_WORLDS[0][0] is not world:
        _SHARED_WORLDS[:] = [(world, _to_device(cuda, world))]
    return _SHARED_WORLDS[0][1]


def _problems(
    cuda: Any, plan: Plan, first: int, last: int, checkpoints: Any, block: int
) -> tuple[Any, Problems, float]:
    """Tables, bandits and baseline of a range of runs, and the seconds spent in kernels.

    Kept ones are used again. A fixed bandit has one baseline.
    """
    fixed = plan.scenario.fixed
    key = (plan.baseline_key(first, last), last - first)
    found = _PROBLEMS.find(key)
    if found is not None and plan.world is not None:
        return _world_on_device(cuda, plan.world), found, 0.0
    tables, bandits = plan.chunk(first, last)
    world = _world_on_device(cuda, tables)
    models, constants = (cuda.to_device(np.asfortranarray(array)) for array in bandits)
    own = 1 if fixed else last - first
    baseline, seconds = _baseline(
        cuda, plan, world, models[:own], constants[:own], checkpoints, block
    )
    made = Problems(models, constants, baseline)
    if plan.world is not None:
        _PROBLEMS.keep(key, made)
    return world, made, seconds


def _baseline(
    cuda: Any, plan: Plan, world: Any, models: Any, constants: Any, checkpoints: Any, block: int
) -> tuple[Baseline, float]:
    """The baseline of these bandits, computed on the device, and the seconds in kernels."""
    shape = (models.shape[0], checkpoints.size)
    baseline = Baseline(cuda.device_array(shape, np.float64), cuda.device_array(shape, np.float64))
    arms = plan.scenario.arm_count
    kernel, shared = kernel_of(cuda, play_baseline, plan.oracle_fresh, arms, block)
    blocks = _blocks(cuda, plan, shape[0], block, shared)
    kernel[blocks, block](
        _to_device(cuda, with_tables(plan.oracle, world)),
        _to_device(cuda, plan.oracle_fresh),
        _repeated(cuda, plan.oracle_fresh, blocks * block),
        _repeated(cuda, Scratch.empty(arms), blocks * block),
        world,
        models,
        constants,
        checkpoints,
        *baseline,
    )
    return baseline, _wait(cuda)
