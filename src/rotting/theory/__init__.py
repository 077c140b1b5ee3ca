"""The paper's theory as functions: detection, balance, T*_SIM, regret bounds; and likelihood."""

from rotting.theory.balance import bal, mean_star
from rotting.theory.bounds import (
    averaging_window,
    best_alpha,
    swa_precision,
    swa_regret_bound,
    trivial_regret_bound,
    wswa_regret_bound,
)
from rotting.theory.detection import ddet, ddet_star, det, m_star, misdetection, statistic
from rotting.theory.likelihood import likelihood_misdetection, m_star_likelihood, squared_distance
from rotting.theory.parametric import cto_regret_bound, dcto_ucb_regret_bound, t_sim
from rotting.theory.star import det_star
from rotting.theory.sums import cumulative

__all__ = [
    "averaging_window",
    "bal",
    "best_alpha",
    "cto_regret_bound",
    "cumulative",
    "dcto_ucb_regret_bound",
    "ddet",
    "ddet_star",
    "det",
    "det_star",
    "likelihood_misdetection",
    "m_star",
    "m_star_likelihood",
    "mean_star",
    "misdetection",
    "squared_distance",
    "statistic",
    "swa_precision",
    "swa_regret_bound",
    "t_sim",
    "trivial_regret_bound",
    "wswa_regret_bound",
]
