"""What a policy earns over equal shares, with an interval that holds whenever one looks.

The player adds up n terms D = (r - centre) weight and their squares V (`live.ledger`). Given the
past, the mean of D is the policy's mean reward at that decision less that of equal shares, so the
sum S of the D less those means is a martingale, and S / n is off from the mean lift of the n
decisions by the martingale over n. That mean is what the interval is about: arms rot and policies
learn, so the lift changes from decision to decision.

The interval is an empirical-Bernstein confidence sequence (Howard, Ramdas, McAuliffe & Sekhon,
Time-uniform, nonparametric, nonasymptotic confidence sequences, Annals of Statistics 2021, Theorem
4; the inequality for one step is Fan, Grama & Liu's, 2015). If no term is below -B, then for every
slope h in (0, 1)

    exp(h S / B - psi(h) V / B^2),    psi(h) = -log(1 - h) - h,

is a supermartingale that starts at one, and so is a mean of such with fixed weights, here over
slopes a factor sqrt(2) apart. It ever exceeds 2 / alpha with probability alpha / 2 at most (Ville).
The largest S where it does not is the bound, at all n at once; the other side is the same with -D.
As the slopes reach down to zero the bound grows like sqrt(V log log V).

Why not a normal approximation: the weight is -1 / explore on the few decisions that go against
the policy and about one on all others. Before the former have come the squares say nothing of
them; B does. B is the largest weight times the range of rewards.

What is asked for:

- The range of rewards. Where it is given (`between`) the interval holds for every n, every policy
  and all arms in that range. Where it is not, the range of the rewards seen so far stands in, and
  nothing is said before `ENOUGH` rewards have come of arms that the policy did not choose: then it
  holds as far as rewards outside what was seen are unimportant. Where the other arms pay seldom and
  much (a purchase in a hundred), give the range.
- No reward is missing, or late, because of what it is. Without a default reward late ones count
  when they come, and dropped ones never. With one, a decision counts with the default until its
  reward comes, so that clicks which come at once and silence that takes a window are no trouble;
  the lift is then that of what was earned so far, and clicks that still come are not in it.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from rotting import _checks
from rotting._live import ledger as at
from rotting.kernel.arrays import FloatArray

ENOUGH = 30  # rewards of other arms than the policy's, before a range that was seen is believed
_STEEPEST, _SLOPES, _APART = 0.9, 60, math.sqrt(2.0)
_ORDER = np.arange(_SLOPES, dtype=float)
_SLOPE: FloatArray = _STEEPEST / _APART**_ORDER
_PSI: FloatArray = -np.log1p(-_SLOPE) - _SLOPE
_LOG_WEIGHT: FloatArray = -np.log((_ORDER + 1.0) * (_ORDER + 2.0))  # they add up to less than one
_ROUNDS = 12  # of Newton's method; four or five change something


class Lift(NamedTuple):
    """What a policy earns over equal shares, a decision; NaN before the first reward compared."""

    policy: float  # estimated mean reward of the arms that the policy chooses
    equal: float  # estimated mean reward of equal shares of the arms allowed
    lift: float  # their difference
    low: float  # the interval of the lift; infinite if there is none yet
    high: float
    level: float  # the probability that no such interval, at any time, misses
    decisions: int  # with a reward; with a default reward, also those that may still have one
    control: int  # decisions of the control group among these, and those that still wait

    @property
    def relative(self) -> float:
        """The lift as a share of what equal shares earn; NaN where that is not positive."""
        return self.lift / self.equal if self.equal > 0.0 else math.nan

    def __str__(self) -> str:
        """One sentence."""
        if self.decisions == 0:
            return "nothing can be said yet: no rewards have been compared with equal shares"
        share = "" if math.isnan(self.relative) else f" ({100 * abs(self.relative):.0f} %)"
        more = "more" if self.lift >= 0.0 else "less"
        size = f"{abs(self.lift):.3g}{share} {more} a decision than equal shares"
        if math.isinf(self.low):
            interval = "no interval yet"
        else:
            ends = f"{self.low:.3g} to {self.high:.3g}"
            interval = f"{100 * self.level:g} % interval {ends}, whenever you look"
        counts = f"{self.decisions:,} decisions, {self.control:,} in the control group"
        return f"the policy earns {size} ({interval}); {counts}"


def lift_of(numbers: FloatArray, arms: int, level: float, between: Any) -> Lift:
    """The lift of a player, by the numbers in its ledger; see `Player.lift`."""
    level = _checks.number("level", level, above=0, below=1)
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
        least, most = (_checks.moderate("between", end) for end in between)
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


def largest_weight(explore: float, arms: int) -> float:
    """The largest |weight| of a decision: of another arm than the policy's, or of its own."""
    rest = 1.0 - 1.0 / arms
    return max(1.0 / explore, rest / (1.0 - explore * rest))


def evidence(sums: Any, squares: Any) -> Any:
    """The logarithm of the supermartingale; sums in units of B, squares in units of B^2."""
    return np.logaddexp.reduce(_exponents(sums, squares), axis=-1)


def furthest(squares: Any, error: float) -> Any:
    """How far the martingale may be up, ever exceeded with probability `error` at most.

    The evidence is convex and rises with the sum. Newton's method, begun above the root, comes
    down to it and never passes it, so wherever it ends is a valid bound.
    """
    known = np.asarray(squares, dtype=float)
    target = -math.log(error)
    found = np.min((target - _LOG_WEIGHT + _PSI * known[..., None]) / _SLOPE, axis=-1)
    for _ in range(_ROUNDS):
        exponents = _exponents(found, known)
        value = np.logaddexp.reduce(exponents, axis=-1)
        slope = np.sum(_SLOPE * np.exp(exponents - value[..., None]), axis=-1)
        found = found - np.maximum(value - target, 0.0) / slope
    return found


def _exponents(sums: Any, squares: Any) -> Any:
    up, across = np.asarray(sums)[..., None], np.asarray(squares)[..., None]
    return _LOG_WEIGHT + _SLOPE * up - _PSI * across


def half_width(count: Any, squares: Any, scale: Any, level: float) -> Any:
    """Half the interval of the mean lift of `count` decisions; `scale` is B."""
    return scale * furthest(squares / scale / scale, (1.0 - level) / 2.0) / count
