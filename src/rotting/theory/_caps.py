"""Frequency caps that follow from curves: when the best play turns to another arm.

Curves that never rise are played best by taking the highest next value, again and again (the
paper's Lemma 2.1). A user is then shown one arm until another one is worth more.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rotting.kernel.arrays import FloatArray


class Cap(NamedTuple):
    """After how many showings of an arm to one user the best play turns to another one.

    `showings` is 0 for an arm whose turn does not come, None for one that is not left, as far as
    the curves go.
    """

    showings: int | None
    rival: float | None = None  # what the arm that it turns to is worth then
    other: int | None = None  # which arm that is
    showing: int | None = None  # and its how-manieth showing


def caps_of(curves: FloatArray) -> list[Cap]:
    """The cap of every arm, from what its showings to one user are worth, [arm, showing].

    With equal values the arm is kept that was shown last.

    >>> caps_of(np.array([[0.9, 0.7, 0.4, 0.2], [0.5, 0.5, 0.3, 0.3]]))
    [Cap(showings=2, rival=0.5, other=1, showing=1), Cap(showings=2, rival=0.4, other=0, showing=3)]
    >>> caps_of(np.array([[0.9, 0.8], [0.5, 0.5]]))[1].showings
    0
    """
    arms, length = curves.shape
    shown = np.zeros(arms, dtype=np.int64)
    found: dict[int, Cap] = {}
    last = -1
    while length > 0:
        worth = curves[np.arange(arms), shown]
        arm = int(worth.argmax())
        if last >= 0 and worth[last] == worth[arm]:
            arm = last
        if last not in (-1, arm):
            turn = Cap(int(shown[last]), float(worth[arm]), arm, int(shown[arm]) + 1)
            found.setdefault(last, turn)
        last = arm
        shown[arm] += 1
        if shown[arm] == length:
            break
    return [found.get(arm, Cap(None if arm == last else 0)) for arm in range(arms)]
