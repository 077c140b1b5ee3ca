"""The CUDA engine: one thread a run, with the same loops and policies as everywhere else.

Runs go to the device in portions; only outcomes come back. The portions and the block size change
nothing: a run depends on its number alone. What is compiled is in `rotting.engines.cuda.kernels`.

The bandits and what pi_max collects on them do not depend on the policy, so they are worked out
once for all policies that are compared on the same runs.
"""

from __future__ import annotations

import dataclasses
import time
from typing import Any, NamedTuple

import numpy as np

from rotting.engines.compiled.overloads import register, register_gpu_forms, register_loops
from rotting.engines.cuda.kernels import kernel_of, together
from rotting.engines.loop import Outcome, Scratch, Standard, benchmark, play
from rotting.engines.plan import Plan, Progress, Standards

MOST_RUNS = 1 << 18  # a portion: enough to fill any device
_PROCESSOR = 227 * 1024  # bytes of shared memory it has, on the devices this was tuned for
_THREADS = 256  # a processor's threads: their registers leave no room for more
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
    kernel, shared = kernel_of(cuda, "play", plan.fresh, plan.scenario.arm_count, block)
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


def _wait(cuda: Any) -> None:
    """Wait for a kernel that has just been started, and note how long it took."""
    begun = time.perf_counter()
    cuda.synchronize()
    SPENT[0] += time.perf_counter() - begun


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
    wholes = together(state).values()
    shapes = [(threads, *array.shape) if whole else (*array.shape, threads)
              for array, whole in zip(state, wholes, strict=True)]  # fmt: skip
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
    key = Standards.key(dataclasses.replace(plan, first_run=first, runs=count))
    if key in _PROBLEMS:
        return _PROBLEMS[key]
    most = _KEPT * cuda.current_context().get_memory_info()[1]
    size = 16 * count * (plan.scenario.arm_count + plan.checkpoints.size)
    keep = key is not None and 4 * size <= most
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
    kernel, shared = kernel_of(cuda, "benchmark", plan.oracle_fresh, arms, block)
    blocks = _blocks(cuda, plan, shape[0], block, shared)
    kernel[blocks, block](
        _to_device(cuda, plan.oracle), _to_device(cuda, plan.oracle_fresh),
        _repeated(cuda, plan.oracle_fresh, blocks * block),
        _repeated(cuda, Scratch.empty(arms), blocks * block), device["world"], models, constants,
        device["checkpoints"], *standard,
    )  # fmt: skip
    _wait(cuda)
    return standard
