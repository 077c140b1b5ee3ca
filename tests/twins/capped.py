"""Twin of the frequency cap: another twin's rule among the arms that are below it."""

from twins.common import History, Opened, choosable, pull_counts
from twins.sampling import Stream, thompson
from twins.ucb1 import ucb1


def below(counts: list[int], allowed: list[int], cap: int) -> set[int]:
    """Return the arms shown fewer than `cap` times; all that are allowed if there is none."""
    return {arm for arm in allowed if counts[arm] < cap} or set(allowed)


def capped_ucb1(
    history: History, arms: int, cap: int, c: float = 2.0, opened: Opened | None = None
) -> set[int]:
    """UCB1 as if the arms that have reached the cap were closed."""
    allowed = choosable(arms, opened)
    among = below(pull_counts(history, arms), allowed, cap)
    return ucb1(history, arms, c, Opened([set(allowed)], [among]))


def capped_thompson(
    history: History,
    arms: int,
    cap: int,
    stream: Stream,
    sigma: float | None = None,
    opened: Opened | None = None,
) -> set[int]:
    """Thompson sampling as if the arms that have reached the cap were closed."""
    allowed = choosable(arms, opened)
    among = below(pull_counts(history, arms), allowed, cap)
    return thompson(history, arms, stream, sigma, Opened([set(allowed)], [among]))


def below_cap_of_key(
    history: History, keys: list[int], key: int, arms: int, cap: int, window: int | None = None
) -> Opened:
    """Return what a key may be shown; the rule of the policy that decides sees all that happened.

    `keys` are those of the rounds so far. A window counts only the rounds since its last multiple.
    """
    start = 0 if window is None else len(history) // window * window
    shown = [0] * arms
    for (arm, _), who in list(zip(history, keys, strict=True))[start:]:
        shown[arm] += who == key
    every = list(range(arms))
    return Opened([set(every)], [below(shown, every, cap)])
