"""The compiled engine: chunks of runs on all cores, with progress, stopped by Ctrl-C."""

from __future__ import annotations

import itertools
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any

import numpy as np

from rotting._engines.compiled.compiler import compiled, explained, first_call
from rotting._engines.loop import INTERRUPTED, NoEvents, Outcome
from rotting._engines.plan import CHUNK_TABLES, MOST_DECISIONS, Plan, loops_of, run_chunk
from rotting._progress import Progress

_DECISIONS_A_CHUNK = MOST_DECISIONS  # small enough for smooth progress
_CHUNKS_A_THREAD = 4  # the least number, so that threads end at about the same time


def compiled_loops(plan: Plan) -> tuple[Any, Any]:
    """The loops that play a plan and its baseline; compiled at their first call."""
    layout = "" if isinstance(plan.events, NoEvents) else "arms come and go"
    play, play_baseline = loops_of(plan)
    loop = compiled(play, plan.params, plan.fresh, layout)
    return loop, compiled(play_baseline, plan.oracle, plan.oracle_fresh, layout)


def must_compile(plan: Plan) -> bool:
    """Whether playing a plan begins with compiling, which takes seconds."""
    loop, _ = compiled_loops(plan)
    return not (loop.signatures or loop._cache.is_filled)


def simulate(plan: Plan, outcome: Outcome, threads: int, progress: Progress) -> None:
    runs = plan.request.runs
    loop, baseline_loop = compiled_loops(plan)
    stop = np.zeros(1, dtype=np.int64)
    even = -(-runs // (threads * _CHUNKS_A_THREAD))
    most = plan.scenario.runs_a_chunk(CHUNK_TABLES // threads)
    size = max(1, min(_DECISIONS_A_CHUNK // plan.scenario.horizon, even, most))

    def chunk(first: int, last: int) -> int:
        run_chunk((loop, baseline_loop), plan, first, last, outcome, stop)
        return last - first

    if not (loop.signatures and baseline_loop.signatures):
        with first_call(plan.params):
            chunk(0, 0)  # compiles, or loads from the cache; threads would do it twice
    parts = iter((first, min(first + size, runs)) for first in range(0, runs, size))
    done = 0
    waiting: set[Future[int]] = set()
    # params of other types are compiled in the threads: rare, and it may fail too
    with explained(plan.params), ThreadPoolExecutor(max_workers=threads) as pool:
        try:
            while done < runs:
                # queue a few chunks ahead: threads stay busy, and Ctrl-C waits for few chunks
                for part in itertools.islice(parts, 3 * threads - len(waiting)):
                    waiting.add(pool.submit(chunk, *part))
                finished, waiting = wait(waiting, timeout=0.2, return_when=FIRST_COMPLETED)
                done += sum(future.result() for future in finished)
                if finished:
                    progress(done, runs)
        except BaseException:
            stop[0] = stop[0] or INTERRUPTED
            for future in waiting:
                future.cancel()
            raise
