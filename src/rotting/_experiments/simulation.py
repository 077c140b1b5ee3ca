"""`simulate`: many runs of a policy on a scenario."""

from __future__ import annotations

import contextlib
import os
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from rotting import _checks, _provenance
from rotting._engines import foreign, memory
from rotting._engines.cluster import BACKENDS
from rotting._engines.loop import Outcome
from rotting._engines.plan import Plan, Request, empty_outcome, prepare
from rotting._experiments.results import GREEDY, Result
from rotting._progress import Progress, bar, in_steps
from rotting.bandits import IntArray, Scenario
from rotting.kernel import random
from rotting.policies._base import Policy

ENGINES = ("cpu", "reference", "cuda")
NOISES = ("independent", "common")


def simulate(
    policy: Any,
    scenario: Scenario,
    *,
    runs: int,
    seed: int = 0,
    engine: str = "cpu",
    threads: int | None = None,
    noise: str = "independent",
    checkpoints: int | npt.ArrayLike = 100,
    progress: bool | Progress = False,
    first_run: int = 0,
    backend: str = "threads",
    address: str | None = None,
) -> Result:
    """Play a policy on many bandits of a scenario and record its regret.

    The same seed gives the same bits, on any engine and with any number of threads or chunks.

    Args:
        policy: A `Policy`, or any object with the online interface: `select()`, which returns an
            arm number (or an object with an `arm`), and `update(decision, reward)`. Such an object
            is copied for each run and played at Python speed, whatever the engine. If it draws
            random numbers, give a function that makes one from a seed; copies would repeat the
            same draws.
        scenario: The arms, the noise and the horizon.
        runs: The number of independent bandits.
        seed: The seed of all random numbers.
        engine: "cpu" (compiled, all cores), "reference" (plain Python) or "cuda" (an NVIDIA GPU).
        threads: The number of threads of the engine "cpu"; all cores if None.
        noise: "independent": policies share the bandits but not the noise, as in the paper;
            "common": all policies see the same rewards.
        checkpoints: The number of rounds, evenly spread, at which the regret is recorded; or the
            rounds themselves, the last one the horizon.
        progress: True for a bar in the terminal; or a function called with (runs done, runs).
        first_run: The number of the first run, to play runs 100 to 199 separately from runs 0 to
            99.
        backend: "threads" of this machine, or "dask" or "ray": a cluster, with the same bits.
        address: The address of the cluster; without one a cluster is started on this machine.

    Returns:
        A `Result`.

    Raises:
        ValueError: An argument is outside its range, the policy cannot play the scenario, the
            experiment does not fit into memory, or the engine or backend cannot run here.

    >>> from rotting import Arm, NoNoise, Scenario, models, policies
    >>> scenario = Scenario([Arm(models.Constant(1.0)), Arm(models.Constant(0.0))],
    ...                     noise=NoNoise(), horizon=100)
    >>> simulate(policies.RoundRobin(), scenario, runs=2, engine="reference").final_regret
    array([50., 50.])
    """
    check_scenario(scenario)
    runs = _checks.integer("runs", runs, 1, _checks.EXACT)
    first_run = _checks.integer("first_run", first_run, least=0, most=2**62)
    _checks.choice("engine", engine, ENGINES)
    _checks.choice("noise", noise, NOISES)
    _check_backend(backend, address, engine, policy)
    if threads is not None:
        threads = _checks.integer("threads", threads, least=1)
    working = (threads or _cores()) if engine == "cpu" and backend == "threads" else 1
    memory.check([policy], scenario, runs, checkpoints, engine=engine, threads=working)
    if runs > 1:
        _warn_of_repeated_draws(policy, runs)
    times = checkpoint_times(checkpoints, scenario.horizon)
    request = Request(policy, scenario, int(random.seed_word(seed)), noise, times, first_run, runs)
    started = time.perf_counter()
    plan = prepare(request)
    memory.check_plan(plan, working)
    if not isinstance(policy, Policy):
        engine = "reference"
    outcome = empty_outcome(runs, times.size, scenario.arm_count)
    with _reporter(progress, request.name, runs) as report:
        if backend != "threads":
            from rotting._engines import cluster

            cluster.simulate(request, outcome, backend, address, report)
            on_gpu = None
        else:
            on_gpu = _engine(engine, threads)(plan, outcome, report)
    about = {
        "policy": request.name,
        "parameters": repr(policy) if isinstance(policy, Policy) else request.name,
        "scenario": scenario.name or repr(scenario),
        "horizon": scenario.horizon,
        "runs": runs,
        "first_run": first_run,
        "seed": request.seed,
        "noise": noise,
        **({"against": GREEDY} if scenario.greedy else {}),
        **({} if scenario.crowd is None else {"keys": _counts(policy)}),
        "engine": engine,
        "backend": backend,
        "seconds": time.perf_counter() - started,
        **({} if on_gpu is None else {"gpu_seconds": on_gpu}),
        **_provenance.versions("numpy"),
    }
    return Result(checkpoints=times, provenance=about, **outcome._asdict()).settle()


def must_compile(policy: Policy, scenario: Scenario) -> bool:
    """Whether simulating a policy on the engine cpu begins with compiling, which takes seconds."""
    from rotting._engines import cpu

    times = checkpoint_times(1, scenario.horizon)
    return cpu.must_compile(prepare(Request(policy, scenario, 0, NOISES[0], times, 0, 1)))


def check_scenario(scenario: Any) -> None:
    """Refuse anything but a scenario; for a function that makes one, suggest to call it."""
    if isinstance(scenario, Scenario):
        return
    hint = ""
    if callable(scenario) and not isinstance(scenario, type):
        hint = f"; did you mean {getattr(scenario, '__name__', 'it')}()?"
    raise ValueError(f"scenario must be a Scenario, got {scenario!r}{hint}")


def _warn_of_repeated_draws(policy: Any, runs: int) -> None:
    """Warn of a user's object with a random generator: its copies repeat the draws in every run."""
    held = foreign.generator_of(policy)
    if held is None:
        return
    name = type(policy).__name__
    warnings.warn(
        f"{name} holds a random generator ({held}) and is copied for each run, so all {runs} runs "
        f"repeat the same draws; give a function that makes it from a seed instead of the object, "
        f"as lambda seed: {name}(..., seed)",
        UserWarning,
        stacklevel=3,
    )


def _counts(policy: Any) -> str:
    """Whether a policy counts by key, or ignores keys."""
    return "counted" if getattr(policy, "counts_by_key", True) else "ignored"


def _engine(name: str, threads: int | None) -> Callable[[Plan, Outcome, Progress], float | None]:
    """The engine of that name: it plays a plan and returns the seconds in GPU kernels, or None.

    Engines are imported lazily, because compilers are slow to import.
    """
    if name == "cpu":
        from rotting._engines import cpu

        return lambda plan, outcome, report: cpu.simulate(
            plan, outcome, threads or _cores(), report
        )
    if name == "cuda":
        from rotting._engines.cuda import engine as cuda

        return cuda.simulate
    from rotting._engines import reference

    return reference.simulate


def _check_backend(backend: str, address: str | None, engine: str, policy: Any) -> None:
    _checks.choice("backend", backend, BACKENDS)
    if backend == "threads":
        if address is not None:
            raise ValueError(f"address must be given with backend 'dask' or 'ray', got {address!r}")
    elif engine != "cpu" or not isinstance(policy, Policy):
        raise ValueError(
            f"backend must be 'threads' for other engines than 'cpu' and for players "
            f"that are not a Policy, got {backend!r}"
        )


def checkpoint_times(checkpoints: int | npt.ArrayLike, horizon: int) -> IntArray:
    """The rounds at which the regret is recorded: evenly spread, the last one at the horizon.

    >>> checkpoint_times(4, horizon=100)
    array([ 25,  50,  75, 100])
    """
    if np.ndim(checkpoints) == 0:
        count = min(_checks.integer("checkpoints", checkpoints, least=1), horizon)
        return np.arange(1, count + 1, dtype=np.int64) * horizon // count
    times = np.asarray(checkpoints)
    allowed = f"checkpoints must be rising rounds from 1 to the horizon {horizon}"
    if times.ndim != 1 or times.size < 1 or not np.issubdtype(times.dtype, np.integer):
        raise ValueError(f"{allowed}, got {checkpoints!r}")
    if times[0] < 1 or times[-1] > horizon or np.any(np.diff(times) <= 0):
        raise ValueError(f"{allowed}, got {times.tolist()}")
    if times[-1] != horizon:
        raise ValueError(f"{allowed}, the last one the horizon itself, got {int(times[-1])}")
    return times.astype(np.int64)


def _cores() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every operating system
        return os.cpu_count() or 1


@contextlib.contextmanager
def _reporter(progress: bool | Progress, name: str, runs: int) -> Iterator[Progress]:
    """The progress function: the user's, a bar's, or one that does nothing."""
    if callable(progress):
        yield progress
        return
    with bar(runs, shown=bool(progress)) as report:
        yield in_steps(report, name)
