"""The readable engine: the same loops in plain Python. Slow, and the reference for others."""

from __future__ import annotations

import numpy as np

from rotting._engines.loop import Outcome
from rotting._engines.plan import Plan, loops_of, run_chunk
from rotting._progress import Progress


def simulate(plan: Plan, outcome: Outcome, progress: Progress) -> None:
    """Play all runs of a plan, in order."""
    stop = np.zeros(1, dtype=np.int64)
    for run in range(plan.request.runs):
        run_chunk(loops_of(plan), plan, run, run + 1, outcome, stop, clear_all=True)
        progress(run + 1, plan.request.runs)
