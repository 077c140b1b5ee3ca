"""An audience: many keys (users, say), for each of which the arms rot separately.

The n-th showing of arm a to key u has mean mu_a(n). One key is the bandit of the paper.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt

from rotting import _checks, _plain
from rotting.kernel import random
from rotting.kernel.arrays import FloatArray, IntArray
from rotting.parameters import Checked, Count, OneOf, Positive

ROUNDS, DECISIONS = 0, 1  # units of time
HALF_LIFE, WINDOW = 0, 1  # kinds of rest
_ZIPF = "zipf:"
_FEW = 1 << 20  # terms of a sum that are added one by one


class Rest(Checked):
    """How exposures fade from the counts: a `HalfLife` or a `Window`."""

    kind: int
    length: float
    unit: str

    @property
    def unit_code(self) -> int:
        """The unit as a number, for engines."""
        return DECISIONS if self.unit == "decisions" else ROUNDS


@_plain.register
@dataclass(frozen=True)
class HalfLife(Rest):
    """Exposures count half after this time.

    The count of exposures is then a real number, and the mean of the next showing is interpolated
    between those of the whole numbers around it.

    Attributes:
        length: The half-life, a positive number.
        unit: "decisions", the key's own, or "rounds", those of all keys.

    >>> audience = Audience(keys=1000, rest=HalfLife(20))
    >>> audience.rest
    HalfLife(length=20.0, unit='decisions')
    """

    length: Positive
    unit: Annotated[str, OneOf("decisions", "rounds")] = "decisions"

    kind = HALF_LIFE


@_plain.register
@dataclass(frozen=True)
class Window(Rest):
    """Counts of exposures start again from zero in every window, as in "three a day".

    Windows follow one another; the first begins with round 1.

    Attributes:
        length: The length of a window.
        unit: "rounds", those of all keys, or "decisions", the key's own.

    >>> audience = Audience(keys=1000, rest=Window(24_000))
    >>> audience.rest
    Window(length=24000, unit='rounds')
    """

    length: Count
    unit: Annotated[str, OneOf("decisions", "rounds")] = "rounds"

    kind = WINDOW


def check_rest(rest: Any) -> None:
    """Refuse anything but a `HalfLife`, a `Window` or None."""
    if rest is not None and not isinstance(rest, (HalfLife, Window)):
        raise ValueError(f"rest must be a HalfLife, a Window or None, got {rest!r}")


class Given:
    """Given arrivals: an array of key numbers, compared by its contents."""

    __slots__ = ("digest", "keys")

    def __init__(self, keys: IntArray) -> None:
        self.keys = keys
        self.keys.setflags(write=False)
        self.digest = hashlib.blake2b(keys.tobytes(), digest_size=16).hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Given) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return f"<{self.keys.size} given keys, {self.digest[:8]}>"


@dataclass(frozen=True)
class Audience(Checked):
    """How many keys there are, how they arrive, how they differ, and whether arms recover.

    Arrivals and factors are functions of (seed, run) alone, the same for every policy.

    Attributes:
        keys: The number of keys.
        arrivals: The key of each round: "uniform" (any key, with equal probability), "zipf:1.1"
            (key k with probability proportional to (k + 1)^-1.1), "turns" (one after the other), or
            an array of key numbers from 0, one a round.
        factors: A pair (low, high): each key has a factor on all means, drawn uniformly from that
            range in every run, and unknown to policies. None if all keys are alike.
        rest: A `HalfLife` or a `Window` after which exposures no longer count; None if they always
            do.

    Raises:
        ValueError: Arrivals are neither a known word nor key numbers below `keys`, or factors are
            not a pair of non-negative numbers in order.

    >>> audience = Audience(keys=3, arrivals="turns")
    >>> audience.arrive(seed=0, run=0, horizon=5)
    array([0, 1, 2, 0, 1], dtype=int32)
    """

    keys: Count
    arrivals: str | Sequence[int] | npt.ArrayLike | Given = "uniform"
    factors: tuple[float, float] | None = None
    rest: HalfLife | Window | None = None

    def check(self) -> None:
        _checks.integer("keys", self.keys, 1, 2**31 - 1)
        if isinstance(self.arrivals, str):
            self._check_word(self.arrivals)
        elif isinstance(self.arrivals, Given):
            self._numbers(self.arrivals.keys)  # `keys` may be fewer than when they were given
        else:
            self._set("arrivals", Given(self._numbers(self.arrivals)))
        if self.factors is not None:
            self._set("factors", _range(self.factors))
        check_rest(self.rest)

    def _check_word(self, word: str) -> None:
        if word in ("uniform", "turns"):
            return
        power = math.nan
        if word.startswith(_ZIPF):
            try:
                power = float(word.removeprefix(_ZIPF))
            except ValueError:
                power = math.nan
        if not 0.0 < power <= 10.0:
            raise ValueError(
                "arrivals must be 'uniform', 'turns', 'zipf:S' with 0 < S <= 10, or key numbers, "
                f"got {word!r}"
            )

    def _numbers(self, arrivals: Any) -> IntArray:
        allowed = f"arrivals must be key numbers from 0 to {self.keys - 1}, one a round"
        try:
            found = np.asarray(arrivals)
        except (TypeError, ValueError):
            raise ValueError(f"{allowed}, got {arrivals!r}") from None
        if found.ndim != 1 or found.size == 0 or not np.issubdtype(found.dtype, np.integer):
            raise ValueError(f"{allowed}, got {arrivals!r}")
        wrong = np.flatnonzero((found < 0) | (found >= self.keys))
        if wrong.size:
            raise ValueError(f"{allowed}, got {found[wrong[0]]} in round {wrong[0] + 1}")
        return np.array(found, dtype=np.int32)  # a copy, which becomes read-only

    @property
    def plain(self) -> bool:
        """Whether this is the bandit of the paper: one key, no factor, no rest."""
        return self.keys == 1 and self.factors is None and self.rest is None

    @property
    def highest_factor(self) -> float:
        """The highest factor that a key may have."""
        return 1.0 if self.factors is None else self.factors[1]

    def arrive(self, seed: int, run: int, horizon: int) -> Any:
        """The key of each round of a run.

        Args:
            seed: The seed of the simulation.
            run: The number of the run.
            horizon: The number of rounds.

        Returns:
            An array of key numbers, one a round.

        >>> Audience(keys=100).arrive(seed=0, run=0, horizon=4)
        array([88, 20, 81, 28], dtype=int32)
        """
        if isinstance(self.arrivals, Given):
            return self.arrivals.keys[:horizon]
        rounds = np.arange(horizon, dtype=np.uint64)
        if self.arrivals == "turns":
            return (rounds % np.uint64(self.keys)).astype(np.int32)
        uniforms = _uniforms(random.ARRIVALS, seed, run, rounds)
        if self.arrivals == "uniform":
            return (uniforms * self.keys).astype(np.int32)
        power = float(str(self.arrivals).removeprefix(_ZIPF))
        ends = np.cumsum(np.arange(1, self.keys + 1) ** -power)
        found = np.searchsorted(ends, uniforms * ends[-1], side="right")
        return np.minimum(found, self.keys - 1).astype(np.int32)

    def factors_of(self, seed: int, run: int) -> FloatArray:
        """The factor of each key in a run.

        Args:
            seed: The seed of the simulation.
            run: The number of the run.

        Returns:
            An array with one factor a key; a single 1 where all keys are alike.
        """
        if self.factors is None:
            return np.ones(1)
        low, high = self.factors
        numbers = np.arange(self.keys, dtype=np.uint64)
        found: FloatArray = low + (high - low) * _uniforms(random.FACTORS, seed, run, numbers)
        return found

    @property
    def repeats(self) -> bool:
        """Whether every run has the same arrivals, of keys that are alike."""
        return self.factors is None and self.scheduled

    @property
    def scheduled(self) -> bool:
        """Whether every run has the same arrivals: given ones, or keys in turn."""
        return isinstance(self.arrivals, Given) or self.arrivals == "turns"

    def most_of(self, seed: int, first: int, last: int, horizon: int) -> int:
        """The most rounds that a single key has in one of the runs first..last-1."""
        runs = range(first, first + 1 if self.scheduled else last)
        return max(int(np.bincount(self.arrive(seed, run, horizon)).max()) for run in runs)

    def most_arrivals(self, horizon: int) -> int:
        """An estimate, rarely too low, of the most rounds of a key; draws no arrivals."""
        if self.scheduled:
            return self.most_of(0, 0, 1, horizon)
        share = 1.0 / self.keys
        if self.arrivals != "uniform":
            power = float(str(self.arrivals).removeprefix(_ZIPF))
            share = 1.0 / _zipf_sum(self.keys, power)
        expected = share * horizon
        return min(horizon, int(expected + 8.0 * math.sqrt(expected)) + 20)

    def check_horizon(self, horizon: int) -> None:
        """Refuse given arrivals that end before the horizon.

        Args:
            horizon: The number of rounds.

        Raises:
            ValueError: The arrivals are an array with fewer rounds.
        """
        if isinstance(self.arrivals, Given) and self.arrivals.keys.size < horizon:
            raise ValueError(
                f"arrivals must have a key for each of the {horizon} rounds, "
                f"got {self.arrivals.keys.size}"
            )


def _zipf_sum(keys: int, power: float) -> float:
    """The sum of k^-power over the keys.

    Beyond 2^20 keys the tail is an integral, a little too low.
    """
    few = min(keys, _FEW)
    total = float(np.sum(np.arange(1, few + 1) ** -power))
    if keys > few:
        if power == 1.0:
            total += math.log((keys + 1) / (few + 1))
        else:
            total += ((keys + 1) ** (1 - power) - (few + 1) ** (1 - power)) / (1 - power)
    return total


def _uniforms(purpose: int, seed: int, run: int, counters: Any) -> FloatArray:
    key = random.fold(random.fold(random.seed_word(seed), np.uint64(purpose)), np.uint64(run))
    found: FloatArray = random.to_unit(random.word(key, random.step_of(key), counters))
    return found


def _range(ends: Any) -> tuple[float, float]:
    pair = ends.tolist() if isinstance(ends, np.ndarray) else ends
    if not isinstance(pair, Sequence) or isinstance(pair, str) or len(pair) != 2:
        raise ValueError(f"factors must be a pair (low, high), got {ends!r}")
    low = _checks.moderate("factors[0]", pair[0], least=0.0)
    return low, _checks.moderate("factors[1]", pair[1], least=low)
