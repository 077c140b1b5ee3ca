"""`replay`: what other policies would have earned on a log."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rotting import checks, random
from rotting.arrays import FloatArray
from rotting.logs import wording
from rotting.logs.estimates import Estimate, estimate
from rotting.logs.keyed import Each, Keyed, Pooled
from rotting.logs.log import Log
from rotting.logs.propensities import Followed, Weighed, rows_in_time
from rotting.logs.replayed import LOGGED, Difference, Earned, Replay
from rotting.logs.replaying import Replayer, check_policy, cores, on_threads
from rotting.logs.tape import Sample, Source
from rotting.logs.timed import replay_by_time
from rotting.logs.unkeyed import Plain
from rotting.policies.base import Policy
from rotting.progress import Progress


def replay(
    log: Log,
    policies: Mapping[str, Policy] | Iterable[Policy],
    *,
    horizon: int | None = None,
    seed: int = 0,
    runs: int = 50,
    resamples: int = 200,
    level: float = 0.95,
    pooled: bool | None = None,
    calendar: bool | None = None,
    by_time: bool = False,
    simulator: npt.ArrayLike | None = None,
    threads: int | None = None,
    compiled: bool = True,
    progress: Progress | None = None,
) -> Replay:
    """What policies would have earned in the decisions of a log, exactly while the tape lasts.

    policies   by name, or a list; policies that count by key do so where the log has keys
    horizon    how many of the log's decisions, the first in the order of time; all if None
    runs       how often the log is replayed: policies, and a pooled tape, decide by chance
    resamples  how many logs that might have been are replayed, once each; 0 for no intervals
    pooled     whether a key's reward is that of any key at the same arm and exposure, which takes
               keys to be exchangeable; if None, where most tapes of one key and arm are too short
    calendar   what the diagnosis says: True if rewards move with the calendar. Then exposures do
               not tell a reward, and replay is refused unless `by_time`
    by_time    go through the rows in the order of time and keep those in which the policy chooses
               what was shown; right if the log chose at random, with known propensities or evenly
    simulator  means [arm, exposure - 1] of what was not logged, as fitted; or [draw, arm, exposure
               - 1], the first the estimate and the others its uncertainty. If None, each arm's own
               decreasing curve, its last level carried on
    compiled   False runs the same loops as plain Python
    progress   called with (replays done, replays)

    The mean reward is a decision's, over the log's own arrivals. Rows whose reward is not known are
    decisions too, but answer none.

    >>> from rotting import policies
    >>> log = Log(*(np.array(x, dtype=np.int32) for x in ([0] * 4, [0, 0, 1, 1])),
    ...           time=np.arange(4.0), reward=np.array([1.0, 0.0, 1.0, 1.0]),
    ...           exposure=np.array([1, 2, 1, 2], dtype=np.int32), arms=("red", "blue"))
    >>> found = replay(log, [policies.RoundRobin()], resamples=0, compiled=False)
    >>> found["RoundRobin"].reward.mean, found["RoundRobin"].exact
    (0.75, True)
    """
    asked = _asked(
        log, horizon, seed, runs, resamples, level, threads, pooled, calendar, by_time, simulator
    )
    players = named(policies, asked.keyed)
    checks.flag("compiled", compiled)
    if by_time:
        return replay_by_time(log, players, asked.horizon, seed, runs, level, compiled)
    source = asked.source(log)
    return _Replaying(source, players, asked, compiled, progress or (lambda done, of: None)).all()


@dataclass(frozen=True)
class _Asked:
    """The arguments, checked."""

    keyed: bool
    pooled: bool
    horizon: int
    seed: int
    runs: int
    resamples: int
    level: float
    threads: int
    simulator: FloatArray | None

    def source(self, log: Log) -> Source:
        if not self.keyed:
            return Plain(log, self.horizon, self.seed, self.simulator)
        kind = Pooled if self.pooled else Each
        return kind(log, self.horizon, self.seed, self.simulator)


def _asked(
    log: Log,
    horizon: Any,
    seed: Any,
    runs: Any,
    resamples: Any,
    level: Any,
    threads: Any,
    pooled: Any,
    calendar: Any,
    by_time: Any,
    simulator: Any,
) -> _Asked:
    if not isinstance(log, Log):
        raise ValueError(f"log must be a Log, as rotting.logs.read gives it, got {type(log)!r}")
    rows = int(log.key.size)
    known = int(np.count_nonzero(~np.isnan(log.reward)))
    if known == 0:
        raise ValueError(f"log must have rows with known rewards, got none in {rows} rows")
    if log.rows == "last":
        raise ValueError(
            "log must hold all rows of a story to be replayed, got rows='last': "
            "what was shown before the last row, and what it paid, is not known"
        )
    for name, value in (("pooled", pooled), ("calendar", calendar)):
        if value is not None:
            checks.flag(name, value)
    if calendar and not checks.flag("by_time", by_time):
        raise ValueError(
            "calendar must not be True for a replay by exposure, got True: rewards move with the "
            "calendar, so the n-th reward of an arm depends on when it was logged; "
            "by_time=True goes by time, and needs a log that chose at random"
        )
    keyed = log.has_keys and log.keys > 1
    if pooled and not keyed:
        raise ValueError("pooled must be False or None for a log without keys, got True")
    return _Asked(
        keyed=keyed,
        pooled=keyed and (short_tapes(log) if pooled is None else bool(pooled)),
        horizon=rows if horizon is None else checks.integer("horizon", horizon, 1, rows),
        seed=int(random.seed_word(seed)),
        runs=checks.integer("runs", runs, 1, checks.EXACT),
        resamples=checks.integer("resamples", resamples, 0, checks.EXACT),
        level=checks.number("level", level, above=0.0, below=1.0),
        threads=cores() if threads is None else checks.integer("threads", threads, least=1),
        simulator=_curves(simulator, len(log.arms)),
    )


def short_tapes(log: Log) -> bool:
    """Whether most tapes of a key and an arm are shorter than the key's decisions are many."""
    stories = log.story_starts()
    lengths = np.diff(stories)
    visits = np.bincount(log.key, minlength=log.keys)[log.key[stories[:-1]]]
    long = int(np.count_nonzero(lengths >= visits))
    return 2 * long <= log.keys * len(log.arms)


def _curves(simulator: Any, arms: int) -> FloatArray | None:
    if simulator is None:
        return None
    allowed = f"simulator must be finite means [arm, exposure - 1] of {arms} arms"
    try:
        found = np.asarray(simulator, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{allowed}, got {simulator!r}") from None
    if found.ndim == 2:
        found = found[None]
    if found.ndim != 3 or found.shape[1] != arms or found.size == 0:
        raise ValueError(f"{allowed}, got an array of shape {np.shape(simulator)}")
    if not np.isfinite(found).all():
        raise ValueError(f"{allowed}, got some that are not")
    return found


def named(policies: Any, keyed: bool) -> dict[str, Policy]:
    """The policies by name, each one that can be replayed."""
    if isinstance(policies, Policy):
        raise ValueError(f"policies must be a list or a dict of policies, got {policies!r}")
    if isinstance(policies, Mapping):
        found = {str(name): policy for name, policy in policies.items()}
    else:
        given = list(policies)
        found = {getattr(policy, "short_label", repr(policy)): policy for policy in given}
        if len(found) < len(given):
            raise ValueError("policies must have different labels, or be a dict with names")
    if not found:
        raise ValueError("policies must hold at least one policy, got none")
    for name, policy in found.items():
        if name == LOGGED:
            raise ValueError(f"policies must have names of their own, got {name!r}")
        check_policy(name, policy, keyed)
    return found


class _Replaying:
    """All replays of one call."""

    def __init__(
        self,
        source: Source,
        policies: Mapping[str, Policy],
        asked: _Asked,
        compiled: bool,
        progress: Callable[[int, int], None],
    ) -> None:
        self.source, self.asked, self.policies = source, asked, policies
        self._progress, self._done = progress, 0
        self._compiled = compiled
        self._players = {
            name: self._player(policy, asked.horizon, source.most(asked.resamples))
            for name, policy in policies.items()
        }
        self._bits = asked.resamples if isinstance(source, Plain) else 0
        self._replays = len(policies) * (asked.runs + asked.resamples + self._bits)

    def _player(self, policy: Policy, horizon: int, most: int) -> Replayer:
        return Replayer(
            policy,
            len(self.source.log.arms),
            self.source.slots,
            horizon=horizon,
            most=most,
            seed=self.asked.seed,
            keyed=self.asked.keyed,
            compiled=self._compiled,
        )

    def _tell(self, replays: int) -> None:
        self._done += replays
        self._progress(min(self._done, self._replays), self._replays)

    def _runs(self, player: Replayer, sample: Sample, runs: int) -> Any:
        """Columns: total, low, high and answered, each a decision's, and the pulls."""
        size = max(1, runs // (4 * self.asked.threads))
        parts = [(first, min(size, runs - first)) for first in range(0, runs, size)]

        def part(item: tuple[int, int]) -> Any:
            return player.play(sample, *item)

        def tell(parts_done: int) -> None:
            self._tell(parts_done * size)

        found = on_threads(part, parts, self.asked.threads, tell, [player])
        decisions = sample.arrivals.size
        sums = [np.concatenate([getattr(p, n) for p in found]) / decisions for n in _SUMS]
        return np.array(sums), np.concatenate([p.pulls for p in found])

    def all(self) -> Replay:
        """Replay everything."""
        asked, source = self.asked, self.source
        original = source.original()
        for player in self._players.values():
            player.compile(original)
        played = {name: self._runs(p, original, asked.runs) for name, p in self._players.items()}
        again = self._resamples()
        centres = dict.fromkeys(self._players, math.nan)
        if isinstance(source, Plain) and asked.resamples:
            centre = source.centre()
            for name, player in self._players.items():
                centres[name] = float(self._runs(player, centre, asked.resamples)[0][0].mean())
        earned, parts = [], {}
        for place, name in enumerate(self._players):
            sums, pulls = played[name]
            drawn = again[:, place]
            bias = self._bias(sums, drawn, centres[name])
            parts[name] = (sums[0], drawn[:, 0], bias)
            earned.append(self._earned(name, sums, pulls, drawn, bias))
        logged = np.full(1, original.logged), again[:, -1, 0], 0.0
        return wording.told(
            source,
            tuple(earned),
            self._estimate(*logged, source.ends),
            differences(earned, {**parts, LOGGED: logged}, self._estimate),
            {
                "horizon": asked.horizon,
                "runs": asked.runs,
                "resamples": asked.resamples,
                "level": asked.level,
                "seed": asked.seed,
            },
        )

    def _resamples(self) -> FloatArray:
        """[resample, policy, (total, low, high)], and last the log's own play."""
        runs = self.asked.runs

        def one(number: int) -> FloatArray:
            sample = self.source.resample(number)
            found = np.full((len(self._players) + 1, 3), sample.logged)
            for place, player in enumerate(self._players.values()):
                played = player.play(sample, runs + number, 1)
                found[place] = [x[0] / sample.arrivals.size for x in played[:3]]
            return found

        def tell(done: int) -> None:
            self._tell(done * len(self._players))

        numbers = range(1, self.asked.resamples + 1)
        players = list(self._players.values())
        found = on_threads(one, numbers, self.asked.threads, tell, players)
        return np.array(found).reshape(-1, len(players) + 1, 3)

    def _bias(self, sums: FloatArray, drawn: FloatArray, centre: float) -> float:
        """By how much replays earn too much; see `rotting.logs.estimates`."""
        if self.asked.resamples < 2:
            return 0.0
        if isinstance(self.source, Pooled):
            return float(drawn[:, 0].mean() - sums[0].mean())
        if isinstance(self.source, Plain) and sums[3].min() < 1.0:
            return float(drawn[:, 0].mean() - centre)
        return 0.0

    def _estimate(
        self,
        runs: FloatArray,
        drawn: FloatArray,
        bias: float,
        ends: tuple[float, float] = (-math.inf, math.inf),
    ) -> Estimate:
        source = self.source
        clusters = math.inf
        if isinstance(source, Keyed) and not isinstance(source, Plain):
            clusters = float(source.who.size)
        possible = ends if source.binary else (-math.inf, math.inf)
        return estimate(
            runs, drawn, bias=bias, clusters=clusters, level=self.asked.level, ends=possible
        )

    def _earned(
        self, name: str, sums: FloatArray, pulls: Any, drawn: FloatArray, bias: float
    ) -> Earned:
        policy, source = self.policies[name], self.source
        low, high = float(sums[1].mean()) - bias, float(sums[2].mean()) - bias
        outer = None
        if self.asked.resamples > 1:
            ends = [self._estimate(sums[i], drawn[:, i], bias, source.ends) for i in (1, 2)]
            outer = ends[0].low, ends[1].high
        coverage = float(sums[3].mean())
        exact = bool(sums[3].min() == 1.0) and not isinstance(source, Pooled)
        shares = pulls.sum(axis=0) / pulls.sum()
        return Earned(
            name=name,
            label=policy.label,
            reward=self._estimate(sums[0], drawn[:, 0], bias, source.ends),
            replayed=float(sums[0].mean()),
            bounds=(low, high),
            outer=outer,
            coverage=coverage,
            exact=exact,
            shares=dict(zip(source.log.arms, map(float, shares), strict=True)),
            weighed=self._weighed(name),
            resampled=drawn[:, 0] - bias,
            sentence=wording.claim(source, coverage, exact),
        )

    def _weighed(self, name: str) -> Weighed | None:
        log, asked = self.source.log, self.asked
        if log.propensity is None:
            return None
        rows = rows_in_time(log, asked.horizon)
        player = self._players[name]
        followed = Followed(log, rows, player.follow, min(asked.runs, _FOLLOWED))
        decisions = max(1, round(followed.kept * rows.size))
        source = type(self.source)(log, decisions, asked.seed, asked.simulator)
        short = self._player(self.policies[name], asked.horizon, decisions)
        found, _ = self._runs(short, source.original(), asked.runs)
        return followed.weigh(asked.level, float(found[0].mean()))


_SUMS = ("total", "low", "high", "answered")
_FOLLOWED = 10  # times that a policy is followed through the rows


def differences(
    earned: list[Earned],
    parts: Mapping[str, tuple[FloatArray, FloatArray, float]],
    make: Callable[[FloatArray, FloatArray, float], Estimate],
) -> tuple[Difference, ...]:
    """Of the best to the second best, and of each to the log's own play."""
    order = sorted(earned, key=lambda each: -each.reward.mean)
    pairs = [(order[0].name, order[1].name)] if len(order) > 1 else []
    pairs += [(each.name, LOGGED) for each in order]
    found = []
    for one, other in pairs:
        (runs, drawn, bias), (runs_2, drawn_2, bias_2) = parts[one], parts[other]
        found.append(Difference(one, other, make(runs - runs_2, drawn - drawn_2, bias - bias_2)))
    return tuple(found)
