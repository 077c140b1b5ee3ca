"""Seznec et al., "Rotting bandits are no harder than stochastic ones", 2019: its two benchmarks.

The scenarios and policies are in `_setups`, the reference figures and their origin in `_published`.
"""

from rotting.papers._paper import Paper
from rotting.papers.seznec2019 import _report
from rotting.papers.seznec2019._published import RUNS
from rotting.papers.seznec2019._reproduction import Reproduction, reproduce, steps
from rotting.papers.seznec2019._setups import LEVELS, SIGMA, level, policies, ten_arms, two_arms

__all__ = ["LEVELS", "PAPER", "SIGMA", "level", "policies", "ten_arms", "two_arms"]

PAPER: Paper[Reproduction] = Paper(
    title='Seznec et al., "Rotting bandits are no harder than stochastic ones", 2019',
    scenarios={},  # no names of their own on the command line: the league names them
    runs=RUNS,
    steps=steps,
    reproduce=reproduce,
    write=_report.write,
    as_data=_report.as_data,
    show=_report.show,
)
