"""Levine, Crammer & Mannor, "Rotting Bandits", NIPS 2017: its section Simulations."""

from rotting.papers._paper import Paper
from rotting.papers.levine2017 import _tables
from rotting.papers.levine2017._files import write
from rotting.papers.levine2017._published import RUNS
from rotting.papers.levine2017._reproduction import Reproduction, decisions, reproduce
from rotting.papers.levine2017._setups import (
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
    as_data=_tables.as_data,
    show=_tables.show,
    settings={"swucb_b": "The constant B of SWUCB, 2 if not given: the paper does not state it."},
    spellings={**SHORT, "CTO_SIM": "cto", "D-CTO_SIM-UCB": "dcto", "D-CTO_UCB-SIM": "dcto"},
)
