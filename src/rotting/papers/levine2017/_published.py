"""The paper's own figures: the grids, and Table 1."""

from __future__ import annotations

from typing import Any

SETUPS = {"non_parametric": "NP", "av": "AV", "anv": "ANV"}
RUNS = 100

# section Simulations, "Grid Searches"
GRIDS: dict[str, tuple[str, list[Any]]] = {
    "DUCB": ("gamma", [0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999999]),
    "SWUCB": ("tau", [1000 * k for k in range(1, 21)]),
    "wSWA": ("alpha", [0.2, 0.4, 0.6, 0.8, 1.0]),
}

# Table 1. WINS[setup][row][column]: runs of 100 in which the row won against the column.
WINS: dict[str, dict[str, dict[str, int]]] = {
    "non_parametric": {
        "DUCB": {"UCB1": 100},
        "SWUCB": {"UCB1": 100, "DUCB": 100},
        "wSWA": {"UCB1": 100, "DUCB": 100, "SWUCB": 100},
    },
    "av": {
        "DUCB": {"UCB1": 55},
        "SWUCB": {"UCB1": 15, "DUCB": 22},
        "wSWA": {"UCB1": 98, "DUCB": 99, "SWUCB": 100},
        "CTO": {"UCB1": 100, "DUCB": 100, "SWUCB": 100, "wSWA": 100},
    },
    "anv": {
        "DUCB": {"UCB1": 40},
        "SWUCB": {"UCB1": 50, "DUCB": 50},
        "wSWA": {"UCB1": 97, "DUCB": 98, "SWUCB": 97},
        "D-CTO": {"UCB1": 100, "DUCB": 100, "SWUCB": 100, "wSWA": 66},
    },
}

SMALL = 1e-5  # the table's "<1e-5"

# The p-values of Table 1 that are not "<1e-5", by the same rows and columns.
P_VALUES: dict[str, dict[tuple[str, str], float]] = {
    "non_parametric": {},
    "av": {("DUCB", "UCB1"): 0.81},
    "anv": {("DUCB", "UCB1"): 0.54, ("SWUCB", "UCB1"): 0.83, ("SWUCB", "DUCB"): 0.91},
}


def p_value(setup: str, row: str, column: str) -> float | None:
    """The paper's p-value of a pair; None stands for "<1e-5"."""
    found = P_VALUES[setup]
    return found.get((row, column), found.get((column, row)))
