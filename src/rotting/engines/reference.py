"""The readable engine: the same loops in plain Python, run by run. Slow, and trusted."""

from __future__ import annotations

import numpy as np

from rotting.engines.loop import Outcome, benchmark, play
from rotting.engines.plan import Plan, Progress, run_chunk, shared_standard


def simulate(plan: Plan, outcome: Outcome, progress: Progress) -> None:
    """Play all runs of a plan, one after the other."""
    standard = shared_standard(benchmark, plan)
    stop = np.zeros(1, dtype=np.int64)
    for run in range(plan.runs):
        run_chunk(play, benchmark, plan, run, run + 1, standard, outcome, stop, clear=True)
        progress(run + 1, plan.runs)
