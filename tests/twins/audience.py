"""The twin of a simulated audience: every exposure is kept and searched each time."""

import itertools
import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from twins.common import Mean


class Rest(NamedTuple):
    """How exposures are forgotten."""

    kind: str  # "half-life" or "window"
    length: float
    unit: str  # "decisions" of the key, or "rounds" of everybody


class Showing(NamedTuple):
    """Which arm a key was shown, in which round, which was the key's how many-th decision."""

    key: int
    arm: int
    round: int
    decision: int


class Played(NamedTuple):
    """What became of a run."""

    collected: list[float]  # by each round
    shown: list[Showing]


Choose = Callable[[int, list[int], list[float]], int]


def exposure(shown: list[Showing], now: Showing, rest: Rest | None) -> float:
    """How often the arm was shown to the key before, less what has been forgotten."""
    before = [s for s in shown if s.key == now.key and s.arm == now.arm]
    if rest is None:
        return float(len(before))

    def when(showing: Showing) -> int:
        return showing.decision if rest.unit == "decisions" else showing.round

    if rest.kind == "window":
        window = math.ceil(when(now) / rest.length)
        return float(sum(math.ceil(when(s) / rest.length) == window for s in before))
    return math.fsum(0.5 ** ((when(now) - when(s)) / rest.length) for s in before)


def mean_between(curve: Mean, n: float) -> float:
    """The mean after n showings: that of showing n + 1, between two of them if n is."""
    whole = math.floor(n)
    if n == whole:
        return curve(whole + 1)
    return curve(whole + 1) + (n - whole) * (curve(whole + 2) - curve(whole + 1))


def play(
    arrivals: list[int],
    curves: list[Mean],
    choose: Choose,
    factors: list[float] | None = None,
    rest: Rest | None = None,
    opened: list[set[int]] | None = None,
) -> Played:
    """Play a run: `choose` gets the round, the open arms, and each arm's next mean for the key.

    `opened` has the arms that are open, round by round.
    """
    shown: list[Showing] = []
    gains: list[float] = []
    collected = []
    for t, key in enumerate(arrivals, start=1):
        decision = 1 + sum(s.key == key for s in shown)
        showings = [Showing(key, arm, t, decision) for arm in range(len(curves))]
        means = [
            mean_between(curve, exposure(shown, showing, rest))
            for curve, showing in zip(curves, showings, strict=True)
        ]
        open_arms = sorted(range(len(curves)) if opened is None else opened[t - 1])
        arm = choose(t, open_arms, means)
        gains.append(means[arm] * (1.0 if factors is None else factors[key]))
        shown.append(showings[arm])
        collected.append(math.fsum(gains))
    return Played(collected, shown)


def greedy(t: int, open_arms: list[int], means: list[float]) -> int:
    """pi_max in an audience: the highest next mean for the key; the first arm in a tie."""
    return max(open_arms, key=lambda arm: (means[arm], -arm))


def following(arms: Sequence[int]) -> Choose:
    """Decisions that are given, one a round."""
    return lambda t, open_arms, means: arms[t - 1]


def best_total(
    arrivals: list[int],
    curves: list[Mean],
    rest: Rest | None = None,
    opened: list[set[int]] | None = None,
) -> float:
    """The highest total of all sequences of decisions, each of which is played."""
    choices = [
        sorted(range(len(curves)) if opened is None else opened[t]) for t in range(len(arrivals))
    ]
    best = -math.inf
    for sequence in itertools.product(*choices):
        played = play(arrivals, curves, following(sequence), rest=rest, opened=opened)
        best = max(best, played.collected[-1])
    return best
