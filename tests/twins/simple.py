"""Twins of the policies that learn nothing."""

from twins.common import History


def uniform(history: History, arms: int) -> set[int]:
    """Allow every arm."""
    return set(range(arms))


def round_robin(history: History, arms: int) -> set[int]:
    """Play the arms in turn: i(t) = (t - 1) mod K."""
    return {len(history) % arms}
