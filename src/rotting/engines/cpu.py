"""The compiled engine: chunks of runs on all cores, with progress, stopped by Ctrl-C."""

from __future__ import annotations

from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

import numpy as np

from rotting.engines.compile import compiled
from rotting.engines.loop import Outcome, benchmark, play
from rotting.engines.plan import Plan, Progress, run_chunk, shared_standard

_DECISIONS_A_CHUNK = 2_000_000  # some 50 ms: smooth progress, no overhead to speak of


def simulate(plan: Plan, outcome: Outcome, threads: int, progress: Progress) -> None:
    """Play all runs of a plan on a number of threads."""
    play_compiled = compiled(play, type(plan.params))
    benchmark_compiled = compiled(benchmark, type(plan.oracle))
    standard = shared_standard(benchmark_compiled, plan)
    stop = np.zeros(1, dtype=np.int64)
    horizon = plan.scenario.horizon
    # never so large that a thread has nothing to do
    size = max(1, min(_DECISIONS_A_CHUNK // horizon, -(-plan.runs // threads)))
    starts = list(range(0, plan.runs, size))

    def chunk(first: int) -> int:
        last = min(first + size, plan.runs)
        run_chunk(play_compiled, benchmark_compiled, plan, first, last, standard, outcome, stop)
        return last - first

    done = chunk(starts[0])  # compiles, or loads what was compiled before
    progress(done, plan.runs)
    if len(starts) == 1:
        return
    with ThreadPoolExecutor(max_workers=threads) as pool:
        waiting: set[Future[int]] = {pool.submit(chunk, first) for first in starts[1:]}
        try:
            while waiting:
                finished, waiting = wait(waiting, timeout=0.2, return_when=FIRST_COMPLETED)
                for future in finished:
                    done += future.result()
                if finished:
                    progress(done, plan.runs)
        except BaseException:
            stop[0] = 1
            for future in waiting:
                future.cancel()
            raise
