"""The lift of a policy over equal shares of the arms, with an interval valid at any time.

The player adds up n terms D = (r - centre) weight and their squares V (`_live.ledger`). Given the
past, the mean of D is the policy's mean reward at that decision minus that of equal shares. So the
sum S of the D minus those means is a martingale, and the mean of the D differs from the mean lift
of the n decisions by the martingale over n. The interval is for that mean lift: arms rot and
policies learn, so the lift changes from decision to decision.

The interval is an empirical-Bernstein confidence sequence (Howard, Ramdas, McAuliffe & Sekhon,
Time-uniform, nonparametric, nonasymptotic confidence sequences, Annals of Statistics 2021, Theorem
4; the inequality for one step is Fan, Grama & Liu's, 2015). If no term is below -B, then for every
slope h in (0, 1)

    exp(h S / B - psi(h) V / B^2),    psi(h) = -log(1 - h) - h,

is a supermartingale that starts at one, and so is a mixture with fixed weights, here over slopes a
factor sqrt(2) apart. It ever exceeds 2 / alpha with probability at most alpha / 2 (Ville's
inequality). The largest S where it does not is the bound, for all n at once; the other side is the
same with -D. As the slopes go down to zero, the bound grows like sqrt(V log log V).

A normal approximation would be wrong: the weight is -1 / explore on the few decisions that go
against the policy, and about one on all others. Until the former come, the squares contain no trace
of them; B does. B is the largest weight times the range of rewards.

Assumptions:

- The range of rewards. If it is given (`between`), the interval holds for every n, every policy and
  all arms with rewards in that range. If not, the range of the rewards seen so far is used, and
  there is no interval before `ENOUGH` rewards of arms that the policy did not choose. It then holds
  as far as rewards outside that range are unimportant. If the other arms pay rarely and much (a
  purchase in a hundred), give the range.
- Rewards are missing or late independently of their value. Without a default reward, late rewards
  count when they come, and dropped ones never. With one, a decision counts with the default until
  its reward comes, so it does no harm that clicks come at once and time-outs after a window. The
  lift is then that of the rewards so far, without the clicks that are still to come.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from rotting import _checks
from rotting._live import ledger as at
from rotting.kernel.arrays import FloatArray

ENOUGH = 30  # rewards of arms not chosen by the policy, before the observed range is used
_STEEPEST, _SLOPES, _APART = 0.9, 60, math.sqrt(2.0)
_ORDER = np.arange(_SLOPES, dtype=float)
_SLOPE: FloatArray = _STEEPEST / _APART**_ORDER
_PSI: FloatArray = -np.log1p(-_SLOPE) - _SLOPE
_LOG_WEIGHT: FloatArray = -np.log((_ORDER + 1.0) * (_ORDER + 2.0))  # the weights' sum is below one
_ROUNDS = 12  # of Newton's method; it converges in four or five


class Lift(NamedTuple):
    """The gain of a policy over equal shares of the arms, for each decision.

    Made by `Player.lift`. `print` shows it as a sentence. Before the first reward, estimates are
    NaN.

    Attributes:
        policy: The estimated mean reward of the arms that the policy chooses.
        equal: The estimated mean reward of equal shares of the allowed arms.
        lift: Their difference.
        low: The lower end of the interval of the lift; minus infinity if there is none yet.
        high: The upper end.
        level: The probability that none of these intervals, at any time, misses the mean lift.
        decisions: The number of decisions with a reward; with a default reward also those that may
            still get one.
        control: The number of decisions in the control group, with those that still wait.

    >>> from rotting import policies
    >>> player = policies.UCB1().online(["red", "blue"], explore=0.2, compiled=False)
    >>> for _ in range(1000):
    ...     decision = player.select()
    ...     player.update(decision, decision.arm == "red")
    >>> found = player.lift(between=(0, 1))
    >>> found.policy > found.equal, found.low < found.lift < found.high
    (True, True)
    """

    policy: float
    equal: float
    lift: float
    low: float
    high: float
    level: float
    decisions: int
    control: int

    @property
    def relative(self) -> float:
        """The lift as a share of `equal`; NaN if that is not positive."""
        return self.lift / self.equal if self.equal > 0.0 else math.nan

    def __str__(self) -> str:
        if self.decisions == 0:
            return "no estimate yet: no rewards have been compared with equal shares"
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
    """The lift of a player, from the numbers in its ledger; see `Player.lift`."""
    level = _checks.number("level", level, above=0, below=1)
    explore = float(numbers[at.EXPLORE])
    if explore == 0.0:
        raise ValueError(
            "explore must be above 0 for a comparison with equal shares, as "
            ".online(arms, explore=0.05), got 0"
        )
    default = float(numbers[at.DEFAULT])  # NaN if there is none, which min and max ignore
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
    """The ends of the possible rewards; ValueError if they do not contain those seen."""
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
    """The largest |weight| of a decision, for another arm than the policy's or for its own."""
    rest = 1.0 - 1.0 / arms
    return max(1.0 / explore, rest / (1.0 - explore * rest))


def evidence(sums: Any, squares: Any) -> Any:
    """The logarithm of the supermartingale; sums in units of B, squares in units of B^2."""
    return np.logaddexp.reduce(_exponents(sums, squares), axis=-1)


def furthest(squares: Any, error: float) -> Any:
    """The bound on the martingale that is ever exceeded with probability at most `error`.

    The evidence is convex and rises with the sum. Newton's method, started above the root, descends
    to it and never passes it, so every iterate is a valid bound.
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
