"""The twin of SteadyUCB."""

import math
from fractions import Fraction

from twins.common import History, Opened, argmax, choosable, unpulled


class Noise:
    """The estimate of sigma: squared differences, each with its epoch."""

    def __init__(self) -> None:
        self.firsts: list[float] = []
        self.epochs: list[list[float]] = [[], []]  # the last two, d^2 / 2 each

    def squares(self) -> list[float]:
        """Those that count."""
        return [square for epoch in self.epochs for square in epoch]

    def sigma(self) -> float:
        """The root of their mean times 1 + 4 / m, m being their number.

        While there are fewer than two it is the root of the first rewards' variance.
        """
        squares = self.squares()
        m = len(squares)
        if m >= 2:
            return math.sqrt(sum(squares) / m * (1 + 4 / m))
        if len(self.firsts) < 2:
            return 0.0
        exact = [Fraction(r) for r in self.firsts]
        mean = sum(exact) / len(exact)
        return math.sqrt(sum((r - mean) ** 2 for r in exact) / (len(exact) - 1))

    def count(self, square: float) -> None:
        """Put a difference into the epoch, which ends when it has 16 and twice the last one's."""
        before, now = self.epochs
        now.append(square)
        if len(now) >= max(16, 2 * len(before)):
            self.epochs = [now, []]


class Arm:
    """An arm's rewards, and where windows may start: as numbers of rewards before the window."""

    def __init__(self) -> None:
        self.rewards: list[float] = []
        self.milestones: dict[int, int] = {}  # by level
        self.start = 0  # of its window

    def sum_before(self, start: int) -> float:
        """The sum of the first rewards."""
        total = 0.0
        for reward in self.rewards[:start]:
            total += reward
        return total

    def window(self, start: int) -> list[float]:
        """The rewards from there on."""
        return self.rewards[start:]

    def set_milestone(self, scale: float) -> int:
        """Before the next reward: level l has 2^l dividing k, the rewards so far; returns l.

        It is placed at k, or at the milestone of a lower level with more sum - slope k.
        """
        k = len(self.rewards)
        if k == 0:
            return 0
        level = max(power for power in range(k) if k % 2**power == 0)
        window = self.window(self.start)
        slope = sum(window) / len(window) - scale / 8 / math.sqrt(2**level)
        places = [k] + [self.milestones[lower] for lower in range(level)]
        self.milestones[level] = max(places, key=lambda j: self.sum_before(j) - slope * j)
        return level

    def choose_window(self, level: int, scale: float) -> None:
        """The one with the least mean + scale / sqrt(h): of some levels, and three others.

        Levels 0 to 3 always, and two of the higher ones; the window before, the latest reward alone
        and all rewards.
        """
        levels = [0, 1, 2, 3, 4 + 2 * level, 5 + 2 * level]
        latest = len(self.rewards) - 1
        starts = [self.start, latest, *(self.milestones.get(one, 0) for one in levels), 0]

        def worth(start: int) -> float:
            window = self.window(start)
            return sum(window) / len(window) + scale / math.sqrt(len(window))

        self.start = min(starts, key=worth)


class Play:
    """A play of SteadyUCB, reward by reward."""

    def __init__(self, arms: int, sigma: float | None, alpha: float) -> None:
        self.arms = [Arm() for _ in range(arms)]
        self.noise = Noise()
        self.given = sigma
        self.alpha = alpha
        self.t = 0
        self.sizes: list[int] = []  # open arms in every round
        self.milestones: list[dict[int, int]] = []  # after each round, of the arm pulled in it

    def sigma(self) -> float:
        """As it is given, or known now."""
        return self.noise.sigma() if self.given is None else self.given

    def log(self) -> float:
        """ln(t / K + 10), with the last t of 1, 2, ..., 64, 66, 68, ...: a 64th more each time."""
        t = 1
        while t + 1 + t // 64 <= self.t:
            t += 1 + t // 64
        return math.log(t / self.sizes[t - 1] + 10)

    def learn(self, number: int, reward: float, size: int) -> None:
        """Learn the reward of an arm, in a round with K open arms."""
        self.t += 1
        self.sizes.append(size)
        arm = self.arms[number]
        square = None
        if not arm.rewards:
            self.noise.firsts.append(reward)
        else:
            square = (reward - arm.rewards[-1]) ** 2 / 2
            if not any(self.noise.squares()):
                self.noise.count(square)
                square = None
        scale = math.sqrt(2 * self.alpha * self.log()) * self.sigma()
        level = arm.set_milestone(scale)
        arm.rewards.append(reward)
        arm.choose_window(level, scale)
        self.milestones.append(dict(arm.milestones))
        if square is not None:
            fell = arm.start == len(arm.rewards) - 1
            self.noise.count(min(square, max(self.noise.squares())) if fell else square)

    def scores(self, c: float, few: float) -> list[float]:
        """Each arm's mean(h) + (1 + few/h) sqrt(2 c s^2 L / h), s = sigma, L as in `log`."""
        found = []
        for arm in self.arms:
            window = arm.window(arm.start)
            h = len(window)
            if h == 0:
                found.append(-math.inf)
                continue
            padding = math.sqrt(2 * c * self.sigma() ** 2 * self.log() / h)
            found.append(sum(window) / h + (1 + few / h) * padding)
        return found


_PLAYS: dict[tuple[int, float | None, float], tuple[History, Play]] = {}


def play(
    history: History,
    arms: int,
    sigma: float | None,
    alpha: float = 3.5,
    opened: Opened | None = None,
) -> Play:
    """The play with that history; it continues the last one, if that is a beginning of it."""
    key = (arms, sigma, alpha)
    sizes = [arms if opened is None else len(opened.open[t]) for t in range(len(history))]
    seen, found = _PLAYS.get(key, ([], Play(arms, sigma, alpha)))
    if history[: len(seen)] != seen or sizes[: len(seen)] != found.sizes:
        seen, found = [], Play(arms, sigma, alpha)
    for t in range(len(seen), len(history)):
        found.learn(*history[t], sizes[t])
    _PLAYS[key] = (list(history), found)
    return found


def steady_scores(
    history: History,
    arms: int,
    sigma: float | None,
    alpha: float = 3.5,
    c: float = 0.9,
    few: float = 0.3,
    opened: Opened | None = None,
) -> list[float]:
    """What the arms are ranked by."""
    return play(history, arms, sigma, alpha, opened).scores(c, few)


def steady_ucb(
    history: History,
    arms: int,
    sigma: float | None,
    alpha: float = 3.5,
    c: float = 0.9,
    few: float = 0.3,
    opened: Opened | None = None,
) -> set[int]:
    """Each arm once; then the highest index, or any of those that rounding cannot tell apart."""
    start = unpulled(history, arms, opened)
    if start:
        return start
    scores = steady_scores(history, arms, sigma, alpha, c, few, opened)
    return argmax({arm: scores[arm] for arm in choosable(arms, opened)})
