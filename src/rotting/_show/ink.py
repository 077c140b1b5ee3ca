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
PINK, SKY, BLACK, GREY = "#CC79A7", "#56B4E9", "#000000", "#6E6E6E"
COLOURS = (BLUE, ORANGE, GREEN, RED, PINK, SKY, BLACK, GREY)
QUIET = "#BBBBBB"  # for what is there to compare with, and needs no name
_SOLID, _DASHED, _DOTTED = "-", (0, (5, 1.5)), (0, (1, 1.2))
_DASHDOT, _LONG = (0, (4, 1.5, 1, 1.5)), (0, (8, 2, 1, 2, 1, 2))
DASHES: tuple[Any, ...] = (_SOLID, _DASHED, _DASHDOT, _DOTTED, _LONG)
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*")
_Slot = tuple[str, int]  # a colour and a place among the dashes
_SLOTS: tuple[_Slot, ...] = tuple(
    (colour, place)
    for place in range(len(DASHES))
    for colour in COLOURS
    if (colour, place) != (GREY, 0)
)

# colour and place among the dashes: kin have one colour, and those drawn together others. Grey is
# never solid, because pink and green look grey to some.
_TABLE: dict[str, _Slot] = {
    "ucb1": (RED, 0),
    "thompson": (RED, 1),
    "glrucb": (RED, 2),
    "exp3s": (RED, 3),
    "swts": (RED, 4),
    "swucb": (ORANGE, 0),
    "capped": (ORANGE, 1),
    "fewa": (ORANGE, 2),
    "efffewa": (ORANGE, 3),
    "dts": (ORANGE, 4),
    "wswa": (BLUE, 0),
    "lcto": (BLUE, 1),
    "ldcto": (BLUE, 2),
    "cellucb": (BLUE, 3),
    "swa": (SKY, 0),
    "rawucb": (SKY, 1),
    "effrawucb": (SKY, 2),
    "rawucbpp": (SKY, 3),
    "mixture": (SKY, 4),
    "cto": (GREEN, 0),
    "dcto": (GREEN, 1),
    "ccto": (GREEN, 2),
    "dctoucb": (GREEN, 3),
    "fatigue": (PINK, 0),
    "ducb": (PINK, 1),
    "guarded": (PINK, 2),
    "steadyucb": (BLACK, 0),
    "posterior": (BLACK, 1),
    "perkey": (BLACK, 2),
    "roundrobin": (GREY, 1),
    "greedy": (GREY, 2),
    "uniform": (GREY, 3),
    "oracle": (GREY, 4),
}
_ALIASES = {
    "bestcap": "capped",
    "cap": "capped",
    "effraw": "effrawucb",
    "greedylast": "greedy",
    "pimax": "oracle",
    "raw": "rawucb",
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

    Words after a known policy, and numbers, say which of its kind it is.

    >>> policy_of("wSWA(alpha=0.2)"), policy_of("dcto_ucb:sigma=1"), policy_of("D-CTO, unknown")
    ('wswa', 'dctoucb', 'dcto')
    >>> policy_of("RAW-UCB 1.4"), policy_of("SteadyUCB None"), policy_of("My own 2")
    ('rawucb', 'steadyucb', 'myown')
    """
    first = re.split(r"[(:,;\[]|\s[.\d]", name.strip(), maxsplit=1)[0].replace("+", "p").lower()
    words = [re.sub(r"[^a-z0-9]", "", word) for word in first.split()]
    for count in range(len(words), 0, -1):
        policy = "".join(words[:count])
        policy = _ALIASES.get(policy, policy)
        if policy in _TABLE:
            return policy
    return "".join(words)


def ink(name: str) -> Ink:
    """The ink of a policy, by its label or name."""
    return inks([name])[name]


def inks(names: Iterable[str]) -> dict[str, Ink]:
    """An ink for each name of a figure: the policy's own, other dashes where it is there twice.

    Markers are all different while there are enough, for points in print.

    >>> two = inks(["wSWA(alpha=0.2)", "wSWA(alpha=2)", "UCB1"])
    >>> two["wSWA(alpha=0.2)"].colour == two["wSWA(alpha=2)"].colour
    True
    >>> two["wSWA(alpha=0.2)"].dashes == two["wSWA(alpha=2)"].dashes
    False
    """
    wanted = {name: _slot(policy_of(name)) for name in names}
    known_first = sorted(wanted, key=lambda name: policy_of(name) not in _TABLE)
    given: dict[str, _Slot] = {}
    for name in known_first:
        if wanted[name] not in given.values():
            given[name] = wanted[name]
    for name in known_first:
        if name not in given:
            colour, place = wanted[name]
            kin = [(colour, (place + step) % len(DASHES)) for step in range(1, len(DASHES))]
            free = (slot for slot in (*kin, *_SLOTS) if slot not in given.values())
            given[name] = next((slot for slot in free if slot in _SLOTS), wanted[name])
    found: dict[str, Ink] = {}
    for name in wanted:
        colour, place = given[name]
        taken = {each.marker for each in found.values()}
        shapes = (MARKERS[place], *MARKERS)
        marker = next((each for each in shapes if each not in taken), MARKERS[place])
        found[name] = Ink(colour, DASHES[place], marker)
    return found


def _slot(policy: str) -> _Slot:
    """That of the table; of a policy which is not in it, the one that its name falls on."""
    return _TABLE.get(policy) or _SLOTS[zlib.crc32(policy.encode()) % len(_SLOTS)]


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
