"""Parameters whose type declares what is allowed; they are checked when the object is made.

    @dataclass(frozen=True)
    class Window(Checked):
        tau: Count
        sigma: Positive | None = None
        restart: Annotated[str, OneOf("forget", "keep")] = "forget"

Making a `Window` checks every field whose type carries a rule, stores it converted (1e3 becomes
the integer 1000, "unknown" becomes None where None is allowed) and then calls `check`, where a
class writes the rules between its fields. Every refusal is a ValueError that names the argument,
its value and its range.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import math
import sys
import types
import typing
from dataclasses import dataclass
from typing import Annotated, Any

from rotting import _checks

__all__ = [
    "UNKNOWN",
    "Checked",
    "Count",
    "Flag",
    "NonNegative",
    "Number",
    "OneOf",
    "Positive",
    "Probability",
    "Real",
    "Rounds",
    "Rule",
    "Switch",
    "Whole",
    "is_unknown",
    "may_be_unknown",
]


class Rule:
    """The allowed values of a parameter, as part of its type: `Annotated[float, Number(above=0)]`.

    To write a rule of your own, derive from it and define `check`.

    >>> class Even(Rule):
    ...     def check(self, name, value):
    ...         if value % 2:
    ...             raise ValueError(f"{name} must be even, got {value}")
    ...         return value
    >>> Pairs = Annotated[int, Even()]  # a type for fields of a `Checked` dataclass
    >>> Even().check("arms", 3)
    Traceback (most recent call last):
    ValueError: arms must be even, got 3
    """

    def check(self, name: str, value: Any) -> Any:
        """Check a value and convert it.

        Args:
            name: The argument's name, for the refusal.
            value: What the user gave.

        Returns:
            The value in the form in which it is stored.

        Raises:
            ValueError: The value is not allowed.
        """
        raise TypeError(f"{type(self).__name__} does not define check")


@dataclass(frozen=True)
class Number(Rule):
    """A number inside open (above, below) or closed (least, most) ends, at most 1e100 in size.

    Positive numbers are at least 1e-100, so that squares neither overflow nor vanish.

    Attributes:
        above: An open lower end.
        below: An open upper end.
        least: A closed lower end.
        most: A closed upper end.

    >>> Number(least=0, below=1).check("gamma", 1)
    Traceback (most recent call last):
    ValueError: gamma must be a number >= 0 and < 1, got 1
    """

    above: float = -math.inf
    below: float = math.inf
    least: float = -math.inf
    most: float = math.inf

    def check(self, name: str, value: Any) -> float:
        return _checks.moderate(
            name, value, above=self.above, below=self.below, least=self.least, most=self.most
        )


@dataclass(frozen=True)
class Whole(Rule):
    """A whole number from `least` to `most`, also one written as a float, such as 1e6.

    Attributes:
        least: The lower end.
        most: The upper end, 2^62 by default.

    >>> Whole(least=1).check("runs", 1e3)
    1000
    """

    least: int
    most: int = _checks.LARGEST

    def check(self, name: str, value: Any) -> int:
        return _checks.integer(name, value, self.least, self.most)


class OneOf(Rule):
    """One of a few words.

    Args:
        words: The words.

    >>> OneOf("forget", "keep").check("restart", "keep")
    'keep'
    """

    def __init__(self, *words: str) -> None:
        self.words = words

    def __repr__(self) -> str:
        return f"OneOf({', '.join(map(repr, self.words))})"

    def check(self, name: str, value: Any) -> str:
        return _checks.choice(name, value, self.words)


@dataclass(frozen=True)
class Flag(Rule):
    """True or False; numbers are refused.

    >>> Flag().check("constants", True)
    True
    """

    def check(self, name: str, value: Any) -> bool:
        return _checks.flag(name, value)


Real = Annotated[float, Number()]
Positive = Annotated[float, Number(above=0)]
NonNegative = Annotated[float, Number(least=0)]
Probability = Annotated[float, Number(above=0, below=1)]
Count = Annotated[int, Whole(least=1)]
Rounds = Annotated[int, Whole(least=1, most=_checks.EXACT)]
Switch = Annotated[bool, Flag()]


UNKNOWN = ("unknown", "none")  # words for None in files and command lines, in any case


def is_unknown(value: Any) -> bool:
    """Whether a value says that a parameter is not known: None, or one of the words `UNKNOWN`.

    Args:
        value: Any value.

    >>> [is_unknown(value) for value in (None, "unknown", "None", "", 0)]
    [True, True, True, False, False]
    """
    return value is None or (isinstance(value, str) and value.lower() in UNKNOWN)


class Checked:
    """Base of frozen dataclasses whose fields are checked by the rules in their types.

    A subclass may define `check`, for rules between its fields, and `argument`, for the names of
    its fields in refusals.

    Raises:
        ValueError: A field's value is not allowed.

    >>> @dataclass(frozen=True)
    ... class Range(Checked):
    ...     low: Real
    ...     high: Real
    ...     nodes: Count | None = None
    ...
    ...     def check(self) -> None:
    ...         _checks.number("high", self.high, above=self.low)
    >>> Range(0, 1, nodes=1e3)
    Range(low=0.0, high=1.0, nodes=1000)
    >>> Range(0, 1, nodes="unknown")
    Range(low=0.0, high=1.0, nodes=None)
    >>> Range(0, 1, nodes=0)
    Traceback (most recent call last):
    ValueError: nodes must be an integer >= 1, got 0
    >>> Range(2, 1)
    Traceback (most recent call last):
    ValueError: high must be a number > 2, got 1.0
    """

    def __post_init__(self) -> None:
        for name, rule, optional in _rules(type(self)):  # type: ignore[arg-type]
            value = getattr(self, name)
            if optional and is_unknown(value):
                self._set(name, None)
            else:
                self._set(name, rule.check(self.argument(name), value))
        self.check()

    def check(self) -> None:
        """Refuse combinations of fields that do not fit; each field has been checked before.

        Values that follow from the fields, or need another conversion, are stored by `_set`.

        Raises:
            ValueError: The fields do not fit together.
        """

    def argument(self, field: str) -> str:
        """The name of a field in refusals."""
        return field

    def _set(self, field: str, value: Any) -> None:
        """Store a field of a frozen dataclass while it is being made."""
        object.__setattr__(self, field, value)


@functools.cache
def _rules(cls: type) -> tuple[tuple[str, Rule, bool], ...]:
    """The fields that have a rule: name, rule, and whether None is also allowed."""
    found = []
    for field in dataclasses.fields(cls):
        hint = _hint(cls, field.name)
        rule = _rule_in(hint)
        if rule is not None:
            found.append((field.name, rule, _allows_none(hint)))
    return tuple(found)


def may_be_unknown(cls: type, field: str) -> bool:
    """Whether a field of a class may be None.

    Args:
        cls: A subclass of `Checked`.
        field: The field's name.

    >>> from rotting.policies import RAWUCB, SteadyUCB
    >>> may_be_unknown(SteadyUCB, "sigma"), may_be_unknown(RAWUCB, "sigma")
    (True, False)
    """
    return any(name == field and optional for name, _, optional in _rules(cls))


def _hint(cls: type, field: str) -> Any:
    """The type of a field with its rules, also where the annotation is a text."""
    owner = next(base for base in cls.__mro__ if field in inspect.get_annotations(base))
    stated = types.SimpleNamespace(__annotations__={field: inspect.get_annotations(owner)[field]})
    # a class made by executed text has no module for names, but its methods have their globals
    names = dict(vars(sys.modules.get(owner.__module__, types)))
    for method in vars(owner).values():
        names.update(getattr(method, "__globals__", {}))
    try:
        return typing.get_type_hints(stated, names, dict(vars(owner)), include_extras=True)[field]
    except NameError as error:
        raise TypeError(
            f"the type of {owner.__name__}.{field} must be known where the class is used, "
            f"not only to type checkers: {error}"
        ) from None


def _rule_in(hint: Any) -> Rule | None:
    """The rule that a type carries, or one of its alternatives does."""
    if typing.get_origin(hint) is Annotated:
        return next((rule for rule in hint.__metadata__ if isinstance(rule, Rule)), None)
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return next(filter(None, map(_rule_in, typing.get_args(hint))), None)
    return None


def _allows_none(hint: Any) -> bool:
    if typing.get_origin(hint) is Annotated:
        return _allows_none(typing.get_args(hint)[0])
    return type(None) in typing.get_args(hint)
