"""The compiled engine: chunks of runs on all cores, with progress, stopped by Ctrl-C."""

from __future__ import annotations

import itertools
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

import numpy as np

from rotting.engines.compiled.compiling import compiled, explained
from rotting.engines.loop import INTERRUPTED, Outcome, Standard, benchmark, play
from rotting.engines.plan import Plan, Progress, Standards, run_chunk, shared_standard

_DECISIONS_A_CHUNK = 2_000_000  # some 50 ms: smooth progress, no overhead to speak of
_CHUNKS_A_THREAD = 4  # at least, so that threads end together


def simulate(plan: Plan, outcome: Outcome, threads: int, progress: Progress) -> None:
    """Play all runs of a plan on a number of threads."""
    play_compiled = compiled(play, type(plan.params))
    benchmark_compiled = compiled(benchmark, type(plan.oracle))
    standard = shared_standard(benchmark_compiled, plan)
    known = Standards.find(plan)
    made = Standards.room(plan) if known is None else None
    stop = np.zeros(1, dtype=np.int64)
    even = -(-plan.runs // (threads * _CHUNKS_A_THREAD))
    size = max(1, min(_DECISIONS_A_CHUNK // plan.scenario.horizon, even))

    def chunk(first: int, last: int) -> int:
        own = standard
        if known is not None:
            own = Standard(known.optimal[first:last], known.single[first:last])
        used = run_chunk(play_compiled, benchmark_compiled, plan, first, last, own, outcome, stop)
        if made is not None:
            made.optimal[first:last], made.single[first:last] = used
        return last - first

    with explained(f"the policy with {type(plan.params).__module__}.Params"):
        chunk(0, 0)  # compiles, or loads what was compiled before; threads would do it twice
    parts = iter((first, min(first + size, plan.runs)) for first in range(0, plan.runs, size))
    done = 0
    waiting: set[Future[int]] = set()
    with ThreadPoolExecutor(max_workers=threads) as pool:
        try:
            while done < plan.runs:
                # a few ahead of the threads: enough to keep them busy, soon stopped
                for part in itertools.islice(parts, 3 * threads - len(waiting)):
                    waiting.add(pool.submit(chunk, *part))
                finished, waiting = wait(waiting, timeout=0.2, return_when=FIRST_COMPLETED)
                done += sum(future.result() for future in finished)
                if finished:
                    progress(done, plan.runs)
            if made is not None:
                Standards.keep(plan, made)
        except BaseException:
            stop[0] = stop[0] or INTERRUPTED
            for future in waiting:
                future.cancel()
            raise
