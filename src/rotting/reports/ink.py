"""Which ink a policy is drawn with: the same in every figure, for the colour-blind and in print.

Colours are Okabe & Ito's, which the colour-blind tell apart; dashes tell lines apart in print.
A policy that is not in the table, a user's own, has the ink that its name falls on.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable
from typing import Any, NamedTuple

BLUE, ORANGE, GREEN, RED = "#0072B2", "#E69F00", "#009E73", "#D55E00"
PINK, SKY, BLACK, GREY = "#CC79A7", "#56B4E9", "#000000", "#999999"
COLOURS = (BLUE, ORANGE, GREEN, RED, PINK, SKY, BLACK, GREY)
QUIET = "#BBBBBB"  # for what is there to compare with, and needs no name
_SOLID, _DASHED, _DOTTED = "-", (0, (5, 1.5)), (0, (1, 1.2))
_DASHDOT, _LONG = (0, (4, 1.5, 1, 1.5)), (0, (8, 2, 1, 2, 1, 2))
DASHES: tuple[Any, ...] = (_SOLID, _DASHED, _DASHDOT, _DOTTED, _LONG)
MARKERS = ("o", "s", "^", "D", "v")

# colour and place among the dashes; kin have one colour
_TABLE = {
    "ucb1": (RED, 0),
    "swucb": (ORANGE, 0),
    "ducb": (ORANGE, 1),
    "swa": (SKY, 0),
    "wswa": (BLUE, 0),
    "cto": (GREEN, 0),
    "ccto": (GREEN, 2),
    "dcto": (GREEN, 1),
    "dctoucb": (GREEN, 3),
    "lcto": (SKY, 1),
    "ldcto": (SKY, 2),
    "posterior": (PINK, 1),
    "steadyucb": (BLACK, 0),
    "guarded": (BLACK, 1),
    "fatigue": (PINK, 0),
    "mixture": (PINK, 2),
    "cellucb": (PINK, 3),
    "thompson": (RED, 1),
    "capped": (ORANGE, 2),
    "rawucb": (BLUE, 1),
    "effrawucb": (BLUE, 2),
    "rawucbpp": (BLUE, 3),
    "fewa": (ORANGE, 3),
    "efffewa": (ORANGE, 4),
    "glrucb": (RED, 2),
    "exp3s": (RED, 3),
    "uniform": (GREY, 0),
    "roundrobin": (GREY, 1),
    "greedy": (GREY, 2),
    "oracle": (GREY, 3),
    "pimax": (GREY, 3),
}


class Ink(NamedTuple):
    """How a line is drawn, in Matplotlib's words; `text` is the colour darkened for letters."""

    colour: str
    dashes: Any
    marker: str

    @property
    def text(self) -> str:
        """The colour, dark enough to read letters of it on white."""
        return readable(self.colour)

    @property
    def line(self) -> dict[str, Any]:
        """What `axes.plot` is to be given."""
        return {"color": self.colour, "linestyle": self.dashes}


def policy_of(name: str) -> str:
    """The policy that a label or a name on the command line begins with, in small letters.

    >>> policy_of("wSWA(alpha=0.2)"), policy_of("dcto_ucb:sigma=1"), policy_of("D-CTO, unknown")
    ('wswa', 'dctoucb', 'dcto')
    """
    first = re.split(r"[(:,;\[]", name, maxsplit=1)[0].replace("+", "p")
    return re.sub(r"[^a-z0-9]", "", first.lower())


def ink(name: str) -> Ink:
    """The ink of a policy, by its label or name."""
    return inks([name])[name]


def inks(names: Iterable[str]) -> dict[str, Ink]:
    """An ink for each name of a figure: the policy's own, other dashes where it is there twice.

    >>> two = inks(["wSWA(alpha=0.2)", "wSWA(alpha=2)", "UCB1"])
    >>> two["wSWA(alpha=0.2)"].colour == two["wSWA(alpha=2)"].colour
    True
    >>> two["wSWA(alpha=0.2)"].dashes == two["wSWA(alpha=2)"].dashes
    False
    """
    found: dict[str, Ink] = {}
    taken: set[tuple[str, int]] = set()
    for name in names:
        policy = policy_of(name)
        digest = zlib.crc32(policy.encode())
        colour, place = _TABLE.get(
            policy, (COLOURS[digest % len(COLOURS)], digest // len(COLOURS) % len(DASHES))
        )
        slots = [(colour, (place + step) % len(DASHES)) for step in range(len(DASHES))]
        slots += [(other, each) for each in range(len(DASHES)) for other in COLOURS]
        colour, place = next((slot for slot in slots if slot not in taken), slots[0])
        taken.add((colour, place))
        found[name] = Ink(colour, DASHES[place], MARKERS[place])
    return found


def readable(colour: str, least: float = 4.5) -> str:
    """The colour, darkened until its contrast with white is `least`, as letters need (WCAG 2).

    >>> readable("#E69F00") != "#E69F00", readable("#000000")
    (True, '#000000')
    """
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    while 1.05 / (_luminance(parts) + 0.05) < least:
        parts = [0.95 * part for part in parts]
    return "#" + "".join(f"{round(255 * part):02X}" for part in parts)


def _luminance(parts: list[float]) -> float:
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
