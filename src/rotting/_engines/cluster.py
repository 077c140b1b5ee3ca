"""Many machines: chunks of runs through joblib, on a Dask or Ray cluster.

A chunk is a pure function of the experiment, the seed and its range of runs. So a chunk whose
worker is lost is run again elsewhere, and the result has the same bits as that of one machine.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator

import numpy as np

from rotting._engines import cpu
from rotting._engines.loop import Outcome
from rotting._engines.plan import Request, empty_outcome, prepare
from rotting._progress import Progress

BACKENDS = ("threads", "dask", "ray")
_DECISIONS_A_CHUNK = 30_000_000  # about a second: cheap to repeat, and worth sending


def play_part(request: Request) -> Outcome:
    """One chunk, on any machine."""
    outcome = empty_outcome(request.runs, request.checkpoints.size, request.scenario.arm_count)
    cpu.simulate(prepare(request), outcome, 1, lambda done, total: None)
    return outcome


def simulate(
    request: Request, outcome: Outcome, backend: str, address: str | None, progress: Progress
) -> None:
    runs, horizon = request.runs, request.scenario.horizon
    with _cluster(backend, address) as workers:
        size = max(1, min(_DECISIONS_A_CHUNK // horizon, -(-runs // (4 * workers))))
        parts = [(start, min(start + size, runs)) for start in range(0, runs, size)]
        from joblib import Parallel, delayed

        # Dask returns chunks as they finish, which Ray's joblib cannot do
        way = {"return_as": "generator"} if backend == "dask" else {}
        found = Parallel(n_jobs=-1, batch_size=1, **way)(
            delayed(play_part)(
                dataclasses.replace(request, first_run=request.first_run + start, runs=last - start)
            )
            for start, last in parts
        )
        for (start, last), arrays in zip(parts, found, strict=True):
            for target, source in zip(outcome, arrays, strict=True):
                target[start:last] = np.asarray(source)
            progress(last, runs)


@contextlib.contextmanager
def _cluster(backend: str, address: str | None) -> Iterator[int]:
    """Connect to a cluster, or start one on this machine; yields its number of workers."""
    try:
        import joblib
    except ImportError:
        raise ValueError(_missing(backend)) from None
    if backend == "dask":
        try:
            from distributed import Client
        except ImportError:
            raise ValueError(_missing(backend)) from None
        try:
            client = Client(address) if address else Client(processes=True)
        except OSError as error:
            raise ValueError(
                f"address must be that of a Dask scheduler, got {address!r}: {error}"
            ) from None
        with client, joblib.parallel_config(backend="dask"):
            yield max(1, sum(client.nthreads().values()))
        return
    try:
        import ray
        from ray.util.joblib import register_ray
    except ImportError:
        raise ValueError(_missing(backend)) from None
    try:
        ray.init(address=address, ignore_reinit_error=True, log_to_driver=False)
    except (ConnectionError, RuntimeError, ValueError) as error:
        words = " ".join(str(error).split())
        raise ValueError(
            f"address must be that of a Ray cluster, got {address!r}: {words}"
        ) from None
    register_ray()
    try:
        with joblib.parallel_config(backend="ray"):
            yield max(1, int(ray.cluster_resources().get("CPU", 1)))
    finally:
        ray.shutdown()


def _missing(backend: str) -> str:
    return (
        f"backend must be one that can run here, got {backend!r}: it needs pip install "
        f"'rotting[{backend}]'. backend='threads' needs nothing more"
    )
