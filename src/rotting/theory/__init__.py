"""The paper's theory as functions. So far: detection by sums and halves, and the bounds of SWA."""

from rotting.theory.bounds import (
    averaging_window,
    best_alpha,
    swa_precision,
    swa_regret_bound,
    trivial_regret_bound,
    wswa_regret_bound,
)
from rotting.theory.detection import ddet, ddet_star, det, m_star, misdetection, statistic
from rotting.theory.sums import cumulative

__all__ = [
    "averaging_window",
    "best_alpha",
    "cumulative",
    "ddet",
    "ddet_star",
    "det",
    "m_star",
    "misdetection",
    "statistic",
    "swa_precision",
    "swa_regret_bound",
    "trivial_regret_bound",
    "wswa_regret_bound",
]
