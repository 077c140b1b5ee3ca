"""Twins of the policies that do not learn."""

from twins.common import History, Opened, choosable


def uniform(
    history: History, arms: int, uniforms: list[float], opened: Opened | None = None
) -> set[int]:
    """Arm number int(u K) of the K that may be chosen, u the uniform number of the round."""
    found = choosable(arms, opened)
    return {found[int(uniforms[0] * len(found))]}


def round_robin(history: History, arms: int, opened: Opened | None = None) -> set[int]:
    """Play the arms in turn: after the arm pulled last the next one, after the last the first."""
    last = history[-1][0] if history else -1
    found = choosable(arms, opened)
    return {next((arm for arm in found if arm > last), found[0])}
