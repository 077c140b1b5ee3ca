"""m*: the pulls needed to identify a model among its family (Eq. 11, section 4)."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from rotting import _checks
from rotting.kernel.arrays import FloatArray
from rotting.models import Family
from rotting.theory import _far
from rotting.theory._balance import first_true
from rotting.theory._decrease import decreasing_from
from rotting.theory._detection import METHODS, RULES, misdetection, wrong_nearest
from rotting.theory._star_down import LIMIT, blocks_down

_FARTHEST_SEARCH = 1 << 26  # numbers of pulls searched before the start of a proof
_NEAR = 1 << 30  # below, sums of floats separate neighbours, and are faster


def m_star(
    family: Family,
    p: float,
    sigma: float,
    rule: str = "sum",
    method: str = "exact",
    *,
    even: bool = False,
    constant: float = 0.0,
    limit: int = LIMIT,
) -> FloatArray:
    """m*(p; theta): the pulls after which each theta is misdetected with probability at most p.

    It is the smallest m such that the probability is at most p for every n >= m (Eq. 11).

    For n^-theta and plateaus with thetas below 1/2 "every n" is meant literally: once all pairs of
    models separate for ever (`decreasing_from`) their order is fixed and no probability rises.
    Values beyond 10^100 count as infinite. If that point is beyond 2^26 pulls and a model is safe
    there already, the point itself is returned, an upper bound on m*. For other families nothing is
    proved, and every n up to `limit` is searched.

    Args:
        family: The models.
        p: The probability of misdetection.
        sigma: The noise level.
        rule: "sum", or "difference" for m*_diff.
        method: "exact" for Gaussian noise, or "bound"; see `misdetection`.
        even: Whether only even n count, as in the proof of Theorem 4.2.
        constant: The arm's constant, which shifts the difference at odd n.
        limit: The largest n searched, unless a proof covers all larger ones.

    Returns:
        An array with one number a theta, in Theta's order. It is infinite if there is none, if it
        exceeds 10^100, or, where nothing is proved, if the probability exceeds p at `limit`.

    Raises:
        ValueError: An argument is outside its range.

    >>> from rotting import models
    >>> family = models.Plateau(length=100).over([0.1, 0.4])
    >>> m_star(family, p=0.01, sigma=0.2 ** 0.5)
    array([264., 264.])
    """
    p = _checks.number("p", p, above=0, below=1)
    sigma = _checks.number("sigma", sigma, above=0, most=1e100)
    constant = _checks.number("constant", constant, most=1e100, least=-1e100)
    limit = _checks.integer("limit", limit, least=2)
    _checks.choice("rule", rule, RULES)
    _checks.choice("method", method, METHODS)
    family, unit = family.unscaled
    sigma, constant = sigma / unit, constant / unit
    step = 2 if even else 1
    start = settled_from(family, rule, constant)
    places = range(len(family))

    def wrong(n: Any) -> FloatArray:
        return misdetection(family, n, sigma, rule, method, constant)

    if start is None or math.isinf(start):  # nothing is proved: search every n
        top = limit - limit % step
        never = _never_separated(family, rule) if p < 0.5 else set()
        last = _last_above(wrong, p, top, step, [k not in never for k in places])
        ends = [math.inf if n == top or k in never else n + step for k, n in enumerate(last)]
        return np.array(ends, dtype=np.float64)
    # from the start on every chain (even n; odd n) is decided by bisection; before it, by search
    chains = [int(start) + int(start) % 2] if even else [int(start), int(start) + 1]
    far = [_far_wrong(family, k, p, sigma, rule, method, constant) for k in places]
    late = [max(_last_of_chain(each, n) for n in chains) for each in far]
    searched = min(chains[0] - 1, max(limit, _FARTHEST_SEARCH))
    early = _last_above(wrong, p, searched, step, [n == 0 for n in late])
    hidden = float(start) if start - 1 > searched else 0.0  # not searched: the proved start
    pairs = zip(late, early, strict=True)
    return np.array([float(a + step) if a else max(float(b + step), hidden) for a, b in pairs])


def _never_separated(family: Family, rule: str) -> set[int]:
    """The places in Theta of models that are proved never to separate from some other model.

    Their misdetection tends to one half at least.
    """
    found: set[int] = set()
    for (i, a), (j, b) in itertools.combinations(enumerate(family.members), 2):
        if decreasing_from(a, b, rule) == math.inf:
            found |= {i, j}
    return found


@functools.lru_cache(maxsize=64)
def settled_from(family: Family, rule: str, constant: float = 0.0) -> float | None:
    """The n from which every pair of the family is proved to separate for ever.

    None if that is not proved for all pairs, infinite if some pair never does; 2 for a single
    model.
    """
    starts = [
        decreasing_from(a, b, rule, constant) for a, b in itertools.combinations(family.members, 2)
    ]
    if any(start is not None and math.isinf(start) for start in starts):
        return math.inf
    known = [start for start in starts if start is not None]
    return max([2, *known]) if len(known) == len(starts) else None


def _last_above(
    wrong: Callable[[Any], FloatArray], p: float, limit: int, step: int, wanted: list[bool]
) -> list[int]:
    """The last n <= limit at which each wanted theta is misdetected too often, or 0."""
    found = [0] * len(wanted)
    open_places = [k for k, asked in enumerate(wanted) if asked]
    for n in blocks_down(limit, step):
        if not open_places:
            break
        probabilities = wrong(n)
        for k in list(open_places):
            above = np.flatnonzero(probabilities[k] > p)
            if above.size:
                found[k] = int(n[above[-1]])
                open_places.remove(k)
    return found


def _last_of_chain(sure: Callable[[int], bool], start: int) -> float:
    """The last of start, start + 2, ... at which `sure` is false, or 0 if it always holds."""
    found = first_true(sure, start, 2, farthest=10**100)
    return 0 if found == start else found - 2


def _far_wrong(
    family: Family, k: int, p: float, sigma: float, rule: str, method: str, constant: float
) -> Callable[[int], bool]:
    """A function of n of any size: whether theta k's misdetection is at most p."""

    def sure(n: int) -> bool:
        if n < _NEAR:
            return float(misdetection(family, n, sigma, rule, method, constant)[k, 0]) <= p
        own = _far.statistic(family.members[k], n, rule)
        gaps = [
            [float(_far.DIGITS.subtract(_far.statistic(member, n, rule), own))]
            for member in family.members
        ]
        shift = -constant if rule == "difference" and n % 2 == 1 else 0.0
        spread = np.array([sigma * math.sqrt(n)])
        return float(wrong_nearest(np.array(gaps), spread, np.array([shift]), method)[k, 0]) <= p

    return sure
