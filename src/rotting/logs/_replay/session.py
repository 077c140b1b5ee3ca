"""The replays of one call of `replay`, and their summary."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from rotting.kernel.arrays import FloatArray
from rotting.logs._replay import sentences
from rotting.logs._replay.estimates import Estimate, estimate
from rotting.logs._replay.keyed import Keyed, Pooled
from rotting.logs._replay.propensities import Followed, Weighed, rows_in_time
from rotting.logs._replay.request import Request
from rotting.logs._replay.result import LOGGED, Difference, Earned, Replay
from rotting.logs._replay.runner import Replayer, on_threads
from rotting.logs._replay.tape import Sample, Source
from rotting.logs._replay.unkeyed import Plain
from rotting.policies._base import Policy

_SUMS = ("total", "low", "high", "answered")
_FOLLOWED = 10  # runs of a policy through the rows
_ROUNDING = 1e-3  # relative to the mean


class Session:
    def __init__(
        self,
        source: Source,
        policies: Mapping[str, Policy],
        request: Request,
        compiled: bool,
        progress: Callable[[int, int], None],
    ) -> None:
        self.source, self.request, self.policies = source, request, policies
        self._progress, self._done = progress, 0
        self._compiled = compiled
        self._players = {
            name: self._player(policy, request.horizon, source.most(request.resamples))
            for name, policy in policies.items()
        }
        self._centred = request.resamples if isinstance(source, Plain) else 0
        self._replays = len(policies) * (request.runs + request.resamples + self._centred)

    def _player(self, policy: Policy, horizon: int, most: int) -> Replayer:
        return Replayer(
            policy,
            len(self.source.log.arms),
            self.source.slots,
            horizon=horizon,
            most=most,
            seed=self.request.seed,
            keyed=self.request.keyed,
            compiled=self._compiled,
        )

    def _report(self, replays: int) -> None:
        self._done += replays
        self._progress(min(self._done, self._replays), self._replays)

    def _runs(self, player: Replayer, sample: Sample, runs: int) -> Any:
        """Rows total, low, high and answered of each run, per decision; and the pulls."""
        size = max(1, runs // (4 * self.request.threads))
        parts = [(first, min(size, runs - first)) for first in range(0, runs, size)]

        def part(item: tuple[int, int]) -> Any:
            return player.play(sample, *item)

        def report(parts_done: int) -> None:
            self._report(parts_done * size)

        found = on_threads(part, parts, self.request.threads, report, [player])
        decisions = sample.arrivals.size
        sums = [np.concatenate([getattr(p, n) for p in found]) / decisions for n in _SUMS]
        return np.array(sums), np.concatenate([p.pulls for p in found])

    def all(self) -> Replay:
        """Run all replays and summarise them."""
        request, source = self.request, self.source
        original = source.original()
        for player in self._players.values():
            player.compile(original)
        played = {name: self._runs(p, original, request.runs) for name, p in self._players.items()}
        again = self._resamples()
        centres = dict.fromkeys(self._players, math.nan)
        if isinstance(source, Plain) and request.resamples:
            centre = source.centre()
            for name, player in self._players.items():
                centres[name] = float(self._runs(player, centre, request.resamples)[0][0].mean())
        earned, parts = [], {}
        for place, name in enumerate(self._players):
            sums, pulls = played[name]
            drawn = again[:, place]
            bias = self._bias(sums, drawn, centres[name])
            parts[name] = (sums[0], drawn[:, 0], bias)
            earned.append(self._earned(name, sums, pulls, drawn, bias))
        logged = np.full(1, original.logged), again[:, -1, 0], 0.0
        return sentences.summary(
            source,
            tuple(earned),
            self._estimate(*logged, source.ends),
            differences(earned, {**parts, LOGGED: logged}, self._estimate),
            {
                "horizon": request.horizon,
                "runs": request.runs,
                "resamples": request.resamples,
                "level": request.level,
                "seed": request.seed,
            },
        )

    def _resamples(self) -> FloatArray:
        """Means [resample, policy, (total, low, high)]; the last policy is the log's own play."""
        runs = self.request.runs

        def one(number: int) -> FloatArray:
            sample = self.source.resample(number)
            found = np.full((len(self._players) + 1, 3), sample.logged)
            for place, player in enumerate(self._players.values()):
                played = player.play(sample, runs + number, 1)
                found[place] = [x[0] / sample.arrivals.size for x in played[:3]]
            return found

        def report(done: int) -> None:
            self._report(done * len(self._players))

        numbers = range(1, self.request.resamples + 1)
        players = list(self._players.values())
        found = on_threads(one, numbers, self.request.threads, report, players)
        return np.array(found).reshape(-1, len(players) + 1, 3)

    def _bias(self, sums: FloatArray, drawn: FloatArray, centre: float) -> float:
        """The bias of a policy's replays; see `rotting.logs._replay.estimates`."""
        if self.request.resamples < 2:
            return 0.0
        if isinstance(self.source, Pooled):
            return float(drawn[:, 0].mean() - sums[0].mean())
        answered = float(sums[3].mean())
        if answered == 1.0:
            return 0.0
        if isinstance(self.source, Plain):
            return float(drawn[:, 0].mean() - centre)
        # a reward that was read once needs no correction
        return (1.0 - answered) * float(drawn[:, 0].mean() - sums[0].mean())

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
            runs, drawn, bias=bias, clusters=clusters, level=self.request.level, ends=possible
        )

    def _earned(
        self, name: str, sums: FloatArray, pulls: Any, drawn: FloatArray, bias: float
    ) -> Earned:
        policy, source = self.policies[name], self.source
        # a pooled tape's rewards are biased; else only those beyond it, which may only widen bounds
        pooled = isinstance(source, Pooled)
        off = (bias, bias) if pooled else (max(bias, 0.0), min(bias, 0.0))
        low, high = float(sums[1].mean()) - off[0], float(sums[2].mean()) - off[1]
        outer = None
        if self.request.resamples > 1:
            ends = [self._estimate(sums[i], drawn[:, i], off[i - 1], source.ends) for i in (1, 2)]
            outer = ends[0].low, ends[1].high
        coverage = float(sums[3].mean())
        exact = bool(sums[3].min() == 1.0) and not isinstance(source, Pooled)
        reward = self._estimate(sums[0], drawn[:, 0], bias, source.ends)
        near = _ROUNDING * abs(reward.mean)  # an estimate at a bound is not outside
        low = reward.mean if 0.0 < low - reward.mean <= near else low
        high = reward.mean if 0.0 < reward.mean - high <= near else high
        sentence = sentences.claim(source, coverage, exact)
        if not low <= reward.mean <= high:
            sentence += f" {sentences.OUTSIDE}"
        shares = pulls.sum(axis=0) / pulls.sum()
        return Earned(
            name=name,
            label=policy.label,
            reward=reward,
            replayed=float(sums[0].mean()),
            bounds=(low, high),
            outer=outer,
            coverage=coverage,
            exact=exact,
            shares=dict(zip(source.log.arms, map(float, shares), strict=True)),
            weighed=self._weighed(name),
            resampled=drawn[:, 0] - bias,
            sentence=sentence,
        )

    def _weighed(self, name: str) -> Weighed | None:
        log, request = self.source.log, self.request
        if log.propensity is None:
            return None
        rows = rows_in_time(log, request.horizon)
        player = self._players[name]
        followed = Followed(log, rows, player.follow, min(request.runs, _FOLLOWED))
        decisions = max(1, round(followed.kept * rows.size))
        source = type(self.source)(log, decisions, request.seed, request.simulator)
        short = self._player(self.policies[name], request.horizon, decisions)
        found, _ = self._runs(short, source.original(), request.runs)
        return followed.weigh(request.level, float(found[0].mean()))


def differences(
    earned: list[Earned],
    parts: Mapping[str, tuple[FloatArray, FloatArray, float]],
    make: Callable[[FloatArray, FloatArray, float], Estimate],
) -> tuple[Difference, ...]:
    """The best policy against the second best, and each against the log's own play."""
    order = sorted(earned, key=lambda each: -each.reward.mean)
    pairs = [(order[0].name, order[1].name)] if len(order) > 1 else []
    pairs += [(each.name, LOGGED) for each in order]
    found = []
    for one, other in pairs:
        (runs, drawn, bias), (runs_2, drawn_2, bias_2) = parts[one], parts[other]
        found.append(Difference(one, other, make(runs - runs_2, drawn - drawn_2, bias - bias_2)))
    return tuple(found)
