"""Reference figures: mean regret and its standard error over 100 runs with common noise.

They are of an independent implementation after the authors' public code. FEWA 4 at L = 0.233 came
without an error; EFF-FEWA has no reference.
"""

from __future__ import annotations

RUNS = 100

SETUPS = {"L11": "L = 0.233", "L24": "L = 4.24", "ten": "Fig. 2"}

# policy: setup: (mean, standard error)
FIGURES: dict[str, dict[str, tuple[float, float]]] = {
    "RAW-UCB 1.4": {"L11": (87, 5), "L24": (12.4, 0.4), "ten": (275, 5)},
    "RAW-UCB 4": {"L11": (161, 4), "L24": (32, 1), "ten": (450, 5)},
    "EFF-RAW 1.4, m = 1.1": {"L11": (96, 5), "L24": (12.3, 0.4), "ten": (293, 6)},
    "EFF-RAW 1.4, m = 2": {"L11": (118, 4), "L24": (17, 1), "ten": (347, 6)},
    "FEWA 0.06": {"L11": (103, 6), "L24": (15, 0.5), "ten": (305, 9)},
    "FEWA 4": {"L11": (291, 2), "L24": (187, 2), "ten": (1436, 4)},
    "wSWA .002": {"L11": (263, 15), "L24": (31, 2), "ten": (876, 24)},
    "wSWA .02": {"L11": (189, 12), "L24": (113, 0.2), "ten": (905, 11)},
    "wSWA .2": {"L11": (120, 6), "L24": (1051, 1), "ten": (5077, 7)},
}
