"""Families as tables [n, theta], the form in which policies read them."""

from __future__ import annotations

from rotting.kernel.arrays import FloatArray
from rotting.models import Family, check_positive


def check_family(who: str, family: Family) -> None:
    """Refuse what is not a family of positive models (Assumption 4.1)."""
    if not isinstance(family, Family):
        raise ValueError(f"family of {who} must be a Family, as model.over([...]), got {family!r}")
    check_positive(who, family, 1)


def table_of(who: str, family: Family, reach: int) -> FloatArray:
    """mu[n, theta] for pulls up to `reach`, and one more."""
    check_positive(who, family, reach + 1)
    return family.by_pull(reach + 1)
