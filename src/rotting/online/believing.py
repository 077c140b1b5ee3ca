"""What a policy believes of the pulls of a few arms, for a small picture of a player."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rotting.arrays import FloatArray, IntArray
from rotting.online.curves import bands
from rotting.online.explaining import Asked
from rotting.verbs import believe

ARMS = 8  # that are looked at: those pulled most
_POINTS = 16  # of a curve, twice; some policies take a while to say what a pull is worth


class Believed(NamedTuple):
    """Curves of some of the open arms; arrays are [arm, number], NaN where nothing is known."""

    arms: tuple[Any, ...]  # labels
    numbers: IntArray  # of pulls, or of showings to one key
    estimate: FloatArray
    low: FloatArray
    high: FloatArray
    upcoming: tuple[int, ...] | None  # the number of each arm's next pull; None for a new key
    open: int  # how many arms are


def believed(asked: Asked, most: int, upcoming: bool) -> Believed | None:
    """What is believed of pulls up to `most`; None if that is nothing."""
    desk = asked.desk
    open_arms = np.flatnonzero(desk.open)
    order = np.argsort(-desk.pulls[open_arms], kind="stable")[:ARMS]
    places = np.sort(open_arms[order]).tolist()
    if not places:
        return None
    # curves fall most in the beginning, and steps may be anywhere
    spread = (np.geomspace(1, most, _POINTS), np.linspace(1, most, _POINTS))
    numbers = np.unique(np.concatenate(spread).round().astype(np.int64))
    found = [
        [believe(asked.params, asked.state, place, n) for n in numbers.tolist()] for place in places
    ]
    arrays = bands(found)
    for array in arrays:
        array[~np.isfinite(array)] = np.nan  # an arm that was never tried may be worth anything
    if np.isnan(arrays[0]).all():
        return None
    return Believed(
        tuple(asked.arms[place] for place in places),
        numbers,
        *arrays,
        tuple(int(desk.pulls[place]) + 1 for place in places) if upcoming else None,
        len(open_arms),
    )
