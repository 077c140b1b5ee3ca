"""Frequency caps that follow from curves: the showing after which the best play changes arms.

Curves that never rise are played best by taking the highest next value, again and again (the
paper's Lemma 2.1). A user is then shown one arm until another one has the higher next value.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rotting.kernel.arrays import FloatArray


class Cap(NamedTuple):
    """The number of showings of an arm to one user after which the best play turns to another arm.

    Attributes:
        showings: 0 for an arm that is never played; None for one that is played until the curves
            end.
        rival: The value of the next arm at that point.
        other: The number of the next arm.
        showing: Which showing of the next arm it is, from 1.
    """

    showings: int | None
    rival: float | None = None
    other: int | None = None
    showing: int | None = None


def caps_of(curves: FloatArray) -> list[Cap]:
    """The cap of every arm, from the values of its showings to one user, [arm, showing].

    With equal values the arm shown last is kept.

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
