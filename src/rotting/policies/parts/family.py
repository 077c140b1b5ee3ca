"""Families as tables [n, theta], the form in which policies read them."""

from __future__ import annotations

from rotting.kernel.arrays import FloatArray
from rotting.models import Family, check_positive

__all__ = [
    "check_family",
    "table_of",
]


def check_family(who: str, family: Family) -> None:
    """Refuse an object that is not a family of positive models (Assumption 4.1).

    Args:
        who: The policy's name, for the message.
        family: The user's argument.

    Raises:
        ValueError: It is not a `Family`, or a model's first mean is not positive.
    """
    if not isinstance(family, Family):
        raise ValueError(f"family of {who} must be a Family, as model.over([...]), got {family!r}")
    check_positive(who, family, 1)


def table_of(who: str, family: Family, reach: int) -> FloatArray:
    """The table mu[n, theta] of a family, for n up to `reach` + 1.

    Args:
        who: The policy's name, for the message.
        family: The family.
        reach: The highest pull number, as `prepare` gets it.

    Returns:
        An array of shape (reach + 2, models); row 0 is never read.

    Raises:
        ValueError: A mean is not positive.

    >>> from rotting import models
    >>> table_of("mine", models.Polynomial().over([0.5, 1.0]), reach=3)[2].round(3)
    array([0.707, 0.5  ])
    """
    check_positive(who, family, reach + 1)
    return family.by_pull(reach + 1)
