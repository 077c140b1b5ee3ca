"""The twin of Fatigue."""

import math
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from twins.common import (
    TOLERANCE,
    Counted,
    History,
    Opened,
    choosable,
    next_pull,
    possibly_best,
    unpulled,
)
from twins.sampling import Stream

FIRST: list[int] = [*range(1, 9), 9, 11, 13, 15, 17, 21, 25, 33, 49, 65, 97, 129, 257, 513]
END = int(1.6 * 512)  # the last pull number that counts in the mean of the last cell
CELLS = len(FIRST)
LEAST = 0.001  # of a shape
KINDS = [0.45, 0.225, 0.225, 0.1]  # flat, falling once, falling gradually, free
CUT = 0.3  # chance that the free kind has another level from a cell on
LEVEL = 3  # shape of the Gamma prior of levels
FRESH = 0.9  # a shape above this has not fallen
LEAST_WEIGHT = 1e-6  # shapes that weigh less are left out of the moments
STALE = 1 / 8  # how much an arm's data may grow before its weights are recomputed

Sums = dict[int, tuple[int, float]]  # of the cells that have rewards: how many, and their sum
Moments = tuple[float, float]  # mean and variance


@cache
def cell_of(pull: int) -> int:
    """Return the cell of a pull number."""
    return sum(pull >= first for first in FIRST) - 1


def averaged(curve: Callable[[int], float]) -> list[float]:
    """Return the mean of a curve over the pulls of each cell."""
    ends = [first - 1 for first in FIRST[1:]] + [END]
    return [
        max(LEAST, sum(curve(n) for n in range(first, last + 1)) / (last - first + 1))
        for first, last in zip(FIRST, ends, strict=True)
    ]


def power(theta: float) -> Callable[[int], float]:
    """Return n^-theta."""
    return lambda n: n**-theta


def exponential(rate: float, floor: float) -> Callable[[int], float]:
    """Return what falls exponentially from one to a floor."""
    return lambda n: floor + (1 - floor) * math.exp(-rate * (n - 1))


STEPS = [
    [1.0] * j + [f] * (CELLS - j)
    for j in range(1, CELLS)
    for f in (0.08, 0.2, 0.35, 0.5, 0.65, 0.8)
]
GRADUAL = [averaged(power(theta)) for theta in (0.1, 0.2, 0.3, 0.45, 0.6, 0.8, 1.0)] + [
    averaged(exponential(r, floor))
    for r in (0.02, 0.04, 0.08, 0.15, 0.3, 0.6)
    for floor in (0.0, 0.2, 0.4, 0.6)
]
SHAPES = [[1.0] * CELLS, *STEPS, *GRADUAL]
KIND_OF = [0] + [1] * len(STEPS) + [2] * len(GRADUAL) + [3]  # the last model is the free one
SIZE = [KIND_OF.count(kind) for kind in range(4)]
START = [KINDS[kind] / SIZE[kind] for kind in KIND_OF]


class Clicks(NamedTuple):
    """Levels are Gamma(a, b); sums of rewards are Poisson, with less scatter than that."""

    a: float
    b: float

    def level(self, sums: Sums, shape: list[float]) -> tuple[float, float, float]:
        """Log evidence, mean and variance of the level that all these cells share."""
        log = self.a * math.log(self.b) - math.lgamma(self.a)
        a, b = self.a, self.b
        for cell, (n, x) in sums.items():
            phi = scatter(n, x)
            a += phi * x
            b += phi * n * shape[cell]
            if x > 0:
                log += phi * x * (math.log(shape[cell]) - math.log(x / n) + 1)
        return log + math.lgamma(a) - a * math.log(b), a / b, a / b**2


def scatter(n: int, x: float) -> float:
    """By how much a Poisson variance is too large in a cell."""
    return min(50.0, 1 / (1 - x / (n + 2)))


class Amounts(NamedTuple):
    """Levels are normal, and so are rewards."""

    mean: float
    variance: float
    noise: float  # the variance of rewards

    def level(self, sums: Sums, shape: list[float]) -> tuple[float, float, float]:
        """Log evidence, mean and variance of the level that all these cells share."""
        precision = 1 / self.variance
        pull = self.mean / self.variance
        log = 0.0
        for cell, (n, y) in sums.items():
            precision += n * shape[cell] ** 2 / self.noise
            pull += shape[cell] * y / self.noise
            log -= y**2 / (2 * n * self.noise)
        mean = pull / precision
        log += precision * mean**2 / 2 - self.mean**2 / self.variance / 2
        return log - math.log(precision * self.variance) / 2, mean, 1 / precision


Prior = Clicks | Amounts


def log_sum(logs: list[float]) -> float:
    """Return the logarithm of a sum, of logarithms."""
    top = max(logs)
    return top + math.log(sum(math.exp(log - top) for log in logs))


class Free:
    """All partitions of the cells into segments, each with its own level."""

    def __init__(self, sums: Sums, first: Prior, later: Prior) -> None:
        flat = [1.0] * CELLS
        log: dict[tuple[int, int], float] = {}
        self.level: dict[tuple[int, int], Moments] = {}
        for i in range(CELLS):
            for j in range(i, CELLS):
                part = {cell: sums[cell] for cell in range(i, j + 1) if cell in sums}
                evidence, mean, variance = (later if i else first).level(part, flat)
                cuts = (math.log(CUT) if i else 0.0) + (j - i) * math.log(1 - CUT)
                log[i, j], self.level[i, j] = evidence + cuts, (mean, variance)
        before = [0.0]  # all partitions of the cells before a cell
        for j in range(CELLS):
            before.append(log_sum([before[i] + log[i, j] for i in range(j + 1)]))
        after = [0.0] * (CELLS + 1)  # and of those from it on
        for i in reversed(range(CELLS)):
            after[i] = log_sum([log[i, j] + after[j + 1] for j in range(i, CELLS)])
        self.log = before[CELLS]
        self.chance = {
            (i, j): math.exp(before[i] + log[i, j] + after[j + 1] - self.log) for i, j in log
        }


class Posterior:
    """The posterior of an arm since its weights were last recomputed."""

    def __init__(self, sums: Sums, prior: list[float], first: Prior, later: Prior) -> None:
        found = [first.level(sums, shape) for shape in SHAPES]
        self.free = Free(sums, first, later)
        logs = [
            math.log(p) + log
            for p, log in zip(prior, [*(log for log, _, _ in found), self.free.log], strict=True)
        ]
        whole = log_sum(logs)
        self.weights = [math.exp(log - whole) for log in logs]
        self.levels: list[Moments] = [(mean, variance) for _, mean, variance in found]
        self.known: dict[int, tuple[float, Moments, Moments]] = {}

    def at(self, cell: int) -> tuple[float, Moments, Moments]:
        """The chance that it has not fallen in this cell; the moments if so, and if not."""
        if cell not in self.known:
            fresh: list[tuple[float, float, float]] = []  # weight, mean and variance
            fallen: list[tuple[float, float, float]] = []
            for w, shape, (mean, variance) in zip(
                self.weights[:-1], SHAPES, self.levels, strict=True
            ):
                if w < LEAST_WEIGHT:
                    continue
                s = shape[cell]
                (fresh if s >= FRESH else fallen).append((w, s * mean, s**2 * variance))
            for (i, j), (mean, variance) in self.free.level.items():
                if i <= cell <= j:
                    w = self.weights[-1] * self.free.chance[i, j]
                    (fallen if i else fresh).append((w, mean, variance))
            chance = sum(w for w, _, _ in fresh)
            self.known[cell] = (chance, mixed(fresh), mixed(fallen))
        return self.known[cell]

    def level(self) -> Moments:
        """Mean and variance in the first cell; those left out count as zero."""
        chance, (mean, variance), _ = self.at(0)
        square = chance * (variance + mean**2)
        return chance * mean, square - (chance * mean) ** 2


def mixed(models: list[tuple[float, float, float]]) -> Moments:
    """Mean and variance of a mixture of (weight, mean, variance)."""
    whole = sum(w for w, _, _ in models)
    if whole == 0:
        return 0.0, 0.0
    mean = sum(w * m for w, m, _ in models) / whole
    return mean, sum(w * (v + (m - mean) ** 2) for w, m, v in models) / whole


class Replay:
    """The history played again from its start, reward by reward."""

    def __init__(self, family: str, sigma: float | None) -> None:
        self.family, self.sigma = family, sigma
        self.past: list[tuple[int, int, float]] = []  # arm, pull and reward
        self.grown: list[int] = []  # how many arms there were
        self.told: list[
            tuple[int, int, float]
        ] = []  # the same, rewards clipped to [0, 1] if need be
        self.turn = 0
        self.m, self.spread = 0.5, 1.0  # mean of the levels, and their variance
        self.arms: list[Posterior | None] = []
        self.pending: list[float] = []
        self.worth: list[Moments] = []  # what an arm says of the levels' mean
        self.seen: list[Moments | None] = []  # mean and variance of its level, once weighed

    def grow(self, arms: int) -> None:
        """Set the number of arms; new ones start from the prior."""
        while len(self.arms) < arms:
            clicks = self.family == "bernoulli"
            new = Posterior({}, START, Clicks(LEVEL, 2 * LEVEL), Clicks(1, 4)) if clicks else None
            self.arms.append(new)
            self.pending.append(0.0)
            self.worth.append((0.0, 0.0))
            self.seen.append(None)

    def rewards(self, arm: int) -> list[float]:
        return [reward for pulled, _, reward in self.told if pulled == arm]

    def sums(self, arm: int) -> Sums:
        """How many rewards of an arm are in each cell, and their sum."""
        found: Sums = {}
        for pulled, pull, reward in self.told:
            if pulled == arm:
                n, total = found.get(cell_of(pull), (0, 0.0))
                found[cell_of(pull)] = (n + 1, total + reward)
        return found

    def tell(self, arms: int, arm: int, pull: int, reward: float) -> None:
        """Learn a reward; data may then have grown enough to recompute two arms' weights."""
        self.grow(arms)
        self.past.append((arm, pull, reward))
        self.grown.append(arms)
        if self.family == "bernoulli":
            reward = min(1.0, max(0.0, reward))
        self.told.append((arm, pull, reward))
        n, x = self.sums(arm)[cell_of(pull)]
        if self.family == "bernoulli":
            self.pending[arm] += (1 + 15 * reward) / (16 + n + 15 * x)
        else:
            self.pending[arm] += 1 / n
        if self.pending[arm] >= STALE:
            self.weigh(arm)
            self.turn = (self.turn + 1) % arms
            if self.family == "bernoulli" or self.rewards(self.turn):
                self.weigh(self.turn)

    def weigh(self, arm: int) -> None:
        """The levels' mean, what the other arms say of kinds, and the arm's posterior."""
        self.pending[arm] = 0.0
        prior = self.heard(arm)
        sums = self.sums(arm)
        if self.family == "bernoulli":
            self.learn_rates()
            b = LEVEL / self.m
            posterior = Posterior(sums, prior, Clicks(LEVEL, b), Clicks(1, 2 / self.m))
            mean, _ = posterior.level()
            px = sum(scatter(n, x) * x for n, x in sums.values())
            clicks = sum(x for _, x in sums.values())
            phi = px / clicks if clicks > 0 else 1.0
            self.worth[arm] = (max((LEVEL + px) / mean - b, 0.0) / phi, 0.0)
        else:
            noise = self.noise()
            self.learn_amounts(noise)
            m, spread = self.m, self.spread
            later = Amounts(m / 2, spread + m**2 / 4, noise)
            posterior = Posterior(sums, prior, Amounts(m, spread, noise), later)
            mean, variance = posterior.level()
            own = min(1.0, max(0.01, 1 - variance / spread))
            self.worth[arm] = (own, mean - (1 - own) * m)
        self.seen[arm] = posterior.level()
        self.arms[arm] = posterior

    def heard(self, arm: int) -> list[float]:
        """The prior of every model, from the other arms' posteriors."""
        others = [
            START if other is None else other.weights
            for place, other in enumerate(self.arms)
            if place != arm
        ]
        each = [sum(weights[k] for weights in others) for k in range(len(START))]
        kinds = [
            sum(w for w, kind in zip(each, KIND_OF, strict=True) if kind == q) for q in range(4)
        ]
        return [
            (2 * KINDS[q] + kinds[q]) / (2 + sum(kinds)) * (4 / SIZE[q] + w) / (4 + kinds[q])
            for w, q in zip(each, KIND_OF, strict=True)
        ]

    def learn_rates(self) -> None:
        """One step to the mean that explains all arms, with a click in two showings besides."""
        arms, b = len(self.arms), LEVEL / self.m
        clicks = showings = 0.0
        for arm in range(arms):
            e = self.worth[arm][0]
            clicks += (sum(self.rewards(arm)) + 1 / arms) / (e + b)
            showings += (e + 2 / arms) / (e + b)
        self.m = clicks / showings

    def noise(self) -> float:
        """The variance of rewards: given, or within cells, with that of all rewards added."""
        whole = [reward for *_, reward in self.told]
        least = 1e-12 * sum(reward**2 for reward in whole) / len(whole)
        if self.sigma is not None:
            return max(self.sigma**2, least)
        groups: dict[tuple[int, int], list[float]] = {}
        for arm, pull, reward in self.told:
            groups.setdefault((arm, cell_of(pull)), []).append(reward)
        within = sum(squares(group) for group in groups.values())
        freedom = sum(len(group) - 1 for group in groups.values())
        found = (within + self.variance()) / (freedom + 1)
        found = max(found, least) if len(whole) > 1 else 0.0
        return found if found > 0 else 1.0

    def variance(self) -> float:
        """Of all rewards."""
        whole = [reward for _, _, reward in self.told]
        return squares(whole) / (len(whole) - 1) if len(whole) > 1 else 0.0

    def learn_amounts(self, noise: float) -> None:
        """Mean and variance of the levels."""
        own = sum(o for o, _ in self.worth)
        if own <= 0.5:
            self.m = sum(reward for _, _, reward in self.told) / len(self.told)
            spread = self.m**2 + (self.variance() if len(self.told) > 1 else noise)
        else:
            self.m = sum(r for _, r in self.worth) / own
            seen = [each for each in self.seen if each is not None]
            spread = self.m**2 / 2 + sum((mean - self.m) ** 2 + v for mean, v in seen)
            spread /= 2 + len(seen)
        self.spread = max(spread, 1e-9 * noise)


def squares(values: list[float]) -> float:
    """Sum of squared distances from their mean."""
    mean = math.fsum(values) / len(values)
    return math.fsum((value - mean) ** 2 for value in values)


# the last replay of each kind: a history that goes on need not be played again from its start
REPLAYS: dict[tuple[str, float | None], Replay] = {}


def replayed(
    told: list[tuple[int, int, float]], arms: list[int], family: str, sigma: float | None
) -> Replay:
    """Replay the history, with the number of arms at each of its rewards."""
    replay = REPLAYS.get((family, sigma))
    length = 0 if replay is None else len(replay.told)
    if replay is None or replay.past != told[:length] or replay.grown != arms[:length]:
        replay = REPLAYS[family, sigma] = Replay(family, sigma)
        length = 0
    for count, each in zip(arms[length:], told[length:], strict=False):
        replay.tell(count, *each)
    replay.grow(arms[-1])
    return replay


def fatigue(
    history: History,
    arms: int,
    stream: Stream,
    family: str = "bernoulli",
    sigma: float | None = None,
    opened: Opened | None = None,
    counted: Counted | None = None,
) -> set[int]:
    """Thompson sampling: a uniform and a normal number for each arm that may be chosen, in turn.

    The uniform one says whether the arm has fallen, the normal one makes a gamma (by its cube root)
    or a normal draw of the two moments. What data add to the prior's precision counts up to twice.
    A uniform number at the boundary leaves both possible.
    """
    if family == "gaussian" and unpulled(history, arms, opened):
        return unpulled(history, arms, opened)
    shown = [0] * arms
    told = []
    for place, (arm, reward) in enumerate(history):
        shown[arm] += 1
        told.append((arm, shown[arm] if counted is None else counted.past[place], reward))
    if opened is None:
        counts = [arms] * (len(history) + 1)
    else:  # new arms come last, and open
        counts = [1 + max(max(now) for now in opened.open[:t]) for t in range(1, len(history) + 2)]
    replay = replayed(told, counts, family, sigma)
    scores = {}
    some = choosable(arms, opened)
    for arm in some:
        u, z = next(stream)[0], next(stream)[1]
        posterior = replay.arms[arm]
        assert posterior is not None
        chance, *moments = posterior.at(cell_of(next_pull(history, arm, counted)))
        sure = sureness(shown[arm], len(some), len(history))
        groups = [moments[0]] if u < chance + TOLERANCE else []
        groups += [moments[1]] if u >= chance - TOLERANCE and chance < 1 - TOLERANCE else []
        scores[arm] = [value_of(*group, z, sure, family, replay.spread) for group in groups]
    return possibly_best(scores)


def sureness(shown: int, arms: int, decisions: int) -> float:
    """How much more than once an arm's data count: not at all if it was hardly ever pulled."""
    return min(1.0, 2 * shown * arms / (decisions + 1))


def value_of(
    mean: float, variance: float, z: float, sure: float, family: str, spread: float
) -> float:
    """Return the draw with these moments, of data that count 1 + sure times."""
    if family == "gaussian":
        precision = 1 / variance
        if precision * spread > 1:
            precision += sure * (precision - 1 / spread)
        return mean + z / math.sqrt(precision)
    alpha = mean**2 / variance
    if alpha > LEVEL:
        alpha += sure * (alpha - LEVEL)
    alpha = max(alpha, 0.3)
    return mean * max(0.0, 1 - 1 / (9 * alpha) + z / (3 * math.sqrt(alpha))) ** 3
