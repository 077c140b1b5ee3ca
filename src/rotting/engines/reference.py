"""The readable engine: the same loops in plain Python, run by run. Slow, and trusted."""

from __future__ import annotations

import numpy as np

from rotting.engines.baseline import play_baseline
from rotting.engines.loop import Outcome, play
from rotting.engines.plan import Plan, run_chunk
from rotting.progress import Progress


def simulate(plan: Plan, outcome: Outcome, progress: Progress) -> None:
    """Play all runs of a plan, one after the other."""
    stop = np.zeros(1, dtype=np.int64)
    for run in range(plan.request.runs):
        run_chunk(play, play_baseline, plan, run, run + 1, outcome, stop, clear_all=True)
        progress(run + 1, plan.request.runs)
