"""What the policy is worth: the comparison with equal shares, read off the desk."""

from __future__ import annotations

import math
from typing import Any

from rotting import checks
from rotting.live import ledger as at
from rotting.online.lift import ENOUGH, Lift, half_width, largest_weight
from rotting.online.roster import Roster


class Measuring(Roster):
    """The part of a player that compares its policy with equal shares."""

    __slots__ = ()

    def lift(self, *, level: float = 0.95, between: Any = None) -> Lift:
        """What the policy earns over equal shares of the arms, for a player with `explore`.

        The interval holds whenever you look, and however often: with probability `level` none of
        them ever misses the mean lift of the decisions so far. `between=(0, 1)` says which rewards
        are possible, and should be the same at every look; without it the range of the rewards
        seen stands in, which does for clicks and Gaussian rewards, and is too narrow where other
        arms pay seldom and much. Late rewards count when they come, dropped ones do not; rewards
        must not be missing or late because of what they are. Where clicks alone are sent give a
        reward window and `default_reward=0.0`: decisions then count with that until their reward
        comes. Decisions made before the first reward are left out. The method is in
        `rotting.online.lift`.
        """
        level = checks.number("level", level, above=0, below=1)
        numbers, arms = self._alone(lambda: (self._desk.numbers.copy(), self._desk.pulls.size))
        explore = float(numbers[at.EXPLORE])
        if explore == 0.0:
            raise ValueError(
                "explore must be above 0 for a comparison with equal shares, as "
                ".online(arms, explore=0.05), got 0"
            )
        default = float(numbers[at.DEFAULT])  # NaN if there is none, which is no least nor most
        seen = min(float(numbers[at.LEAST]), default), max(float(numbers[at.MOST]), default)
        given = None if between is None else _range(between, seen)
        count, control = int(numbers[at.LIFT_COUNT]), int(numbers[at.LIFT_CONTROL])
        most = math.inf if given is None else given[1] - given[0]
        if count == 0:
            return Lift(math.nan, math.nan, math.nan, -most, most, level, 0, control)
        lift = float(numbers[at.LIFT_SUM]) / count
        mean = float(numbers[at.OFFSET] + numbers[at.LIFT_REWARDS] / count)
        # A share `explore` of the rewards is those of equal shares, the rest the policy's.
        policy, equal = mean + explore * lift, mean - (1.0 - explore) * lift
        low, high = -most, most
        least, highest = seen if given is None else given
        if highest > least and (given is not None or numbers[at.LIFT_OTHERS] >= ENOUGH):
            scale = (highest - least) * largest_weight(explore, arms)
            half = float(half_width(count, float(numbers[at.LIFT_SQUARES]), scale, level))
            if math.isfinite(half):
                low, high = max(lift - half, -most), min(lift + half, most)
        return Lift(policy, equal, lift, low, high, level, count, control)


def _range(between: Any, seen: tuple[float, float]) -> tuple[float, float]:
    """The two ends of the possible rewards, or a refusal."""
    try:
        least, most = (checks.moderate("between", end) for end in between)
    except TypeError:
        least = most = math.nan
    except ValueError as error:
        raise ValueError(f"between must be two numbers, as (0, 1), got {between!r}") from error
    if not least < most:
        raise ValueError(f"between must be two numbers, the lower first, got {between!r}")
    if seen[0] < least or seen[1] > most:
        raise ValueError(
            f"between must hold all rewards, which were {seen[0]:g} to {seen[1]:g}, got {between!r}"
        )
    return least, most
