"""Levine, Crammer & Mannor, "Rotting Bandits", NIPS 2017: its section Simulations."""

from rotting.papers.levine2017 import tables
from rotting.papers.levine2017.published import RUNS
from rotting.papers.levine2017.reproduction import Reproduction, decisions, reproduce
from rotting.papers.levine2017.setups import (
    FAMILY,
    HORIZON,
    SETUPS,
    SHORT,
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
    "SHORT",
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
    settings={"swucb_b": "The constant B of SWUCB, 2 if not given: the paper does not state it."},
    spellings={**SHORT, "CTO_SIM": "cto", "D-CTO_SIM-UCB": "dcto", "D-CTO_UCB-SIM": "dcto"},
)
