"""Recognises the columns of the key, the arm, the time, the reward, ... by their names."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rotting import _checks

ROLES = ("key", "arm", "time", "reward", "exposure", "propensity")

_PEOPLE = "user visitor client customer cookie device member account person subscriber recipient"
_THINGS = "arm item action creative ad banner variant option offer message article product template"
_WITH_ID = {"key": f"{_PEOPLE} household profile patient", "arm": f"{_THINGS} content treatment"}
_OTHERS = {
    "key": "key uid",
    "arm": "campaignid",
    "time": "time timestamp ts date datetime shownat predictedat servedat sentat createdat "
    "eventtime eventtimestamp impressiontime showntime",
    "reward": "reward rewards click clicks clicked isclick isclicked conversion converted y "
    "outcome response success purchase purchased opened payoff revenue",
    # A column called n may count anything: it is never recognised.
    "exposure": "exposure exposurenumber pull pullnumber impressionnumber showing showingnumber",
    "propensity": "propensity propensityscore pscore actionprob actionprobability probability prob",
}
_NONE = "none"
_SAID = {
    "key": "no column for the key: the arm itself is used up, as in the paper",
    "arm": "no column for the arm: all rows are showings of one arm",
    "time": "no column for the time: rows are taken in the order of the table",
    "exposure": "no column for the exposure: showings are counted, per key and arm",
    "propensity": "no column for the propensity",
}


def names_of(role: str) -> frozenset[str]:
    """The common names of a role, in lower case and without separators.

    >>> {"userid", "uid"} <= names_of("key"), "itemid" in names_of("arm")
    (True, True)
    """
    stems = _WITH_ID.get(role, "").split()
    return frozenset(stems + [stem + "id" for stem in stems] + _OTHERS[role].split())


@dataclass(frozen=True)
class Roles:
    """The column of each role, and the notes that say so."""

    columns: Mapping[str, str]
    sentences: tuple[str, ...]


def assign(
    columns: Sequence[str], given: Mapping[str, Any], *, each_row_a_key: bool = False
) -> Roles:
    """The column of each role: as named, or recognised by a common name.

    Args:
        given: A column's name by role; None to recognise it, False or "none" for no column.
        each_row_a_key: Whether, without a column for the key, every row has a key of its own.

    Raises:
        ValueError: A named column is not there, two roles have one column, a common name is there
            twice, or the reward (or both key and arm) has no column.

    >>> found = assign(["User ID", "ad", "y"], {"time": False})
    >>> dict(found.columns)
    {'key': 'User ID', 'arm': 'ad', 'reward': 'y'}
    >>> found.sentences[0]
    "key: column 'User ID' (by its name)"
    """
    named = _named(columns, given)
    unused = [name for name in columns if name not in named.values()]
    taken, sentences = {}, []
    for role in ROLES:
        if role in named:
            taken[role] = named[role]
            sentences.append(f"{role}: column {named[role]!r} (as named)")
            continue
        found, sentence = (None, "") if _refused(given.get(role)) else _recognised(role, unused)
        if found is not None:
            taken[role] = found
            sentence = f"{role}: column {found!r} (by its name)"
        elif role == "key" and each_row_a_key:
            sentence = "no column for the key: each row is the end of a story of its own"
        sentences.append(sentence or _SAID.get(role, ""))
    _enough(taken, columns, each_row_a_key)
    return Roles(taken, tuple(sentences))


def _enough(taken: Mapping[str, str], columns: Sequence[str], each_row_a_key: bool) -> None:
    if "reward" not in taken:
        raise ValueError(
            f"no column for the reward: name it with reward (--reward); {_listed(columns)}"
        )
    if not each_row_a_key and "key" not in taken and "arm" not in taken:
        raise ValueError(
            "no column for the key and none for the arm: name at least one of them with key or arm "
            f"(--key, --arm); {_listed(columns)}"
        )


def _named(columns: Sequence[str], given: Mapping[str, Any]) -> dict[str, str]:
    named: dict[str, str] = {}
    for role in ROLES:
        name = given.get(role)
        if name is None or (_refused(name) and name not in columns):
            if name is not None and role == "reward":
                raise ValueError(f"reward must be the name of a column, got {name!r}")
            continue
        if not isinstance(name, str):
            raise ValueError(f"{role} must be the name of a column, False or None, got {name!r}")
        try:
            _checks.known("column", name, columns)
        except ValueError as wrong:
            text = str(wrong).split("; known: ")[0]
            ending = "" if text.endswith("?") else ";"
            raise ValueError(f"{role}: {text}{ending} {_listed(columns)}") from None
        for other, taken in named.items():
            if taken == name:
                raise ValueError(
                    f"{other} and {role} must be different columns, got {name!r} for both"
                )
        named[role] = name
    return named


def _refused(name: Any) -> bool:
    return name is False or (isinstance(name, str) and name.lower() == _NONE)


def _recognised(role: str, unused: Sequence[str]) -> tuple[str | None, str]:
    known = names_of(role)
    found = [name for name in unused if re.sub(r"[\s_\-.]", "", name.lower()) in known]
    if len(found) < 2:
        return (found[0] if found else None), ""
    several = " and ".join(repr(name) for name in found[:3])
    if role == "exposure":  # it can be counted as well
        return None, f"columns {several} could be the exposure: none is taken, showings are counted"
    raise ValueError(
        f"columns {several} could both be the {role}: name one with {role} (--{role} {found[0]})"
    )


def _listed(columns: Sequence[str]) -> str:
    shown = ", ".join(" ".join(name.split())[:40] for name in columns[:20])
    return f"the columns are {shown}{', ...' if len(columns) > 20 else ''}"
