"""Levine, Crammer & Mannor, "Rotting Bandits", NIPS 2017: its section Simulations."""

from rotting.papers.levine2017 import tables
from rotting.papers.levine2017.published import RUNS
from rotting.papers.levine2017.reproduction import Reproduction, decisions, reproduce
from rotting.papers.levine2017.setups import (
    FAMILY,
    HORIZON,
    SETUPS,
    SIGMA,
    anv,
    av,
    non_parametric,
    reported_policies,
)
from rotting.papers.levine2017.writing import write
from rotting.papers.paper import Paper

__all__ = [
    "FAMILY",
    "HORIZON",
    "PAPER",
    "SETUPS",
    "SIGMA",
    "anv",
    "av",
    "non_parametric",
    "reported_policies",
]

PAPER: Paper[Reproduction] = Paper(
    title='Levine, Crammer & Mannor, "Rotting Bandits", NIPS 2017',
    scenarios=SETUPS,
    runs=RUNS,
    steps=decisions,
    reproduce=reproduce,
    write=write,
    as_data=tables.as_data,
    show=tables.show,
)
