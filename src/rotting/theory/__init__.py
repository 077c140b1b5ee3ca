"""The paper's theory as functions: detection, balance, assumptions, bounds, advice; and more.

`advise` answers most questions at once: the bounds and assumptions for your arms, noise and
horizon. The other functions are the pieces of it, each named after its symbol in the paper.
"""

from rotting.theory._advice import Advice, Guarantee, advise
from rotting.theory._assumptions import (
    Verdict,
    check_assumptions,
    check_difference_detection,
    check_rotting,
    check_rotting_models,
    check_simultaneous,
)
from rotting.theory._audience import audience_regret_bound
from rotting.theory._averaging_window import averaging_window
from rotting.theory._balance import bal, mean_star
from rotting.theory._bounds import (
    best_alpha,
    lower_bound_order,
    swa_precision,
    swa_regret_bound,
    trivial_regret_bound,
    wswa_regret_bound,
)
from rotting.theory._decrease import decreasing_from
from rotting.theory._detection import ddet, det, misdetection, statistic
from rotting.theory._likelihood import (
    likelihood_misdetection,
    likelihood_savings,
    m_star_likelihood,
    squared_distance,
)
from rotting.theory._parametric import (
    cto_regret_bound,
    dcto_ucb_regret_bound,
    t_sim,
    t_sim_by_balance,
)
from rotting.theory._plays import Play, best_play, estimated_best_play
from rotting.theory._samples import m_star
from rotting.theory._star_down import StarDown, ddet_star, det_star, hardest_star, star_down
from rotting.theory._sums import cumulative

__all__ = [
    "Advice",
    "Guarantee",
    "Play",
    "StarDown",
    "Verdict",
    "advise",
    "audience_regret_bound",
    "averaging_window",
    "bal",
    "best_alpha",
    "best_play",
    "check_assumptions",
    "check_difference_detection",
    "check_rotting",
    "check_rotting_models",
    "check_simultaneous",
    "cto_regret_bound",
    "cumulative",
    "dcto_ucb_regret_bound",
    "ddet",
    "ddet_star",
    "decreasing_from",
    "det",
    "det_star",
    "estimated_best_play",
    "hardest_star",
    "likelihood_misdetection",
    "likelihood_savings",
    "lower_bound_order",
    "m_star",
    "m_star_likelihood",
    "mean_star",
    "misdetection",
    "squared_distance",
    "star_down",
    "statistic",
    "swa_precision",
    "swa_regret_bound",
    "t_sim",
    "t_sim_by_balance",
    "trivial_regret_bound",
    "wswa_regret_bound",
]
