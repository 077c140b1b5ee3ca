"""The result of a replay: estimates, table, sentences, plain data."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from rotting._numbers import figure, percent
from rotting._show import notebook
from rotting._table import Column, Table
from rotting.kernel.arrays import FloatArray
from rotting.logs._diagnosis.phrases import sentence
from rotting.logs._replay.estimates import Estimate
from rotting.logs._replay.propensities import Weighed

UNKNOWN = Estimate(math.nan, math.nan, math.nan, math.nan)
UNCOMPARED = (
    "Policies are not compared, with one another or with the log's own play: the diagnosis cannot "
    "tell whether this log wears out, and then estimates can be far off. Bounds are shown instead, "
    "and what they assume"
)
AT_MOST = (
    "Beyond the log (with keys: beyond a key's own rows) an arm is taken to pay, on average, at "
    "most its level at the last logged showing."
)


@dataclass(frozen=True, eq=False)
class Earned:
    """The estimate for one policy.

    Attributes:
        reward: Mean reward a decision: the estimate, its error and interval.
        replayed: The plain mean over replays, without the correction of
            `rotting.logs._replay.estimates`.
        bounds: The least and the most without a model of what was not logged; None by time.
        outer: The lower end of the interval of the least, and the upper end of that of the most.
        coverage: The share of decisions answered from the log; by time, of rows kept.
        exact: Whether all were answered, each by the reward of that very showing.
        shares: How often the policy shows each arm.
        weighed: Estimates by propensities, where the log has some.
        resampled: The mean reward in each resample.
        sentence: The claim, and its assumption.
    """

    name: str
    label: str
    reward: Estimate
    replayed: float
    bounds: tuple[float, float] | None
    outer: tuple[float, float] | None
    coverage: float
    exact: bool
    shares: Mapping[str, float]
    weighed: Weighed | None
    resampled: FloatArray
    sentence: str

    def bounds_only(self) -> Earned:
        """The same without estimates; the bounds are widened by their own errors."""
        return replace(
            self,
            reward=UNKNOWN,
            replayed=math.nan,
            bounds=self.outer or self.bounds,
            weighed=None,
            resampled=self.resampled[:0],
            sentence=f"{percent(self.coverage)} of the decisions were answered from the log.",
        )

    def as_data(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "name": self.name,
            "label": self.label,
            "reward": self.reward.as_data(),
            "replayed": self.replayed if math.isfinite(self.replayed) else None,
            "bounds": None if self.bounds is None else list(self.bounds),
            "bounds_interval": None if self.outer is None else list(self.outer),
            "coverage": self.coverage,
            "exact": self.exact,
            "shares": dict(self.shares),
            "propensities": None if self.weighed is None else self.weighed.as_data(),
            "resampled": [float(x) for x in self.resampled],
            "sentence": self.sentence,
        }


@dataclass(frozen=True)
class Difference:
    """The difference of two policies' mean rewards a decision, on the same resamples."""

    one: str
    other: str
    reward: Estimate

    @property
    def clear(self) -> bool:
        """Whether the interval excludes zero."""
        return self.reward.excludes_zero

    def as_data(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "one": self.one,
            "other": self.other,
            "reward": self.reward.as_data(),
            "clear": self.clear,
        }


LOGGED = "the log's own play"


@dataclass(frozen=True, eq=False)
class Replay:
    """Estimates of what policies would have earned on a log, made by `replay`.

    It prints itself as a table with its claims, shows itself in a notebook, iterates over the
    policies' results, and gives one by name, as `found["UCB1"]`.

    Attributes:
        kind: "exact" (by exposure, each reward its own), "pooled", "by-time" or "bounds".
        policies: The result of each policy: `reward` with its interval, `bounds`, `coverage`.
        logged: The mean reward of the log's own choices, on the same rows.
        differences: Of the best policy to the second best, and of each to the log's own play.
        recommendation: The policy with the highest estimate, in a sentence.
        intervals: How intervals were made.
        beyond: Where the means of showings come from that were not logged.
        assumptions: What the estimates rest on.
        settings: horizon, runs, resamples, level, seed.
        limits: What the bounds lie between.
    """

    kind: str
    policies: tuple[Earned, ...]
    logged: Estimate
    differences: tuple[Difference, ...]
    recommendation: str
    intervals: str
    beyond: str
    assumptions: tuple[str, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)
    limits: str = ""

    def __iter__(self) -> Iterator[Earned]:
        return iter(self.policies)

    def __getitem__(self, name: str) -> Earned:
        """The result of the policy of that name."""
        return next(each for each in self.policies if each.name == name)

    def as_data(self) -> dict[str, Any]:
        """All of it as plain data: what `rotting replay --json` prints, without the diagnosis."""
        return {
            "kind": self.kind,
            "policies": [each.as_data() for each in self.policies],
            "logged": self.logged.as_data(),
            "differences": [each.as_data() for each in self.differences],
            "recommendation": self.recommendation,
            "intervals": self.intervals,
            "beyond": self.beyond,
            "limits": self.limits,
            "assumptions": list(self.assumptions),
            "settings": dict(self.settings),
        }

    def bounds_only(self) -> Replay:
        """The same replay with bounds only: without estimates and comparisons.

        Use it for a log of which the diagnosis cannot tell whether it wears out. The replay must be
        exact: a pooled one assumes that keys are exchangeable, and is wrong by a factor of two
        where keys with many showings pay more.

        Returns:
            A replay of the kind "bounds": for each policy the least and the most that it would
            have earned, with the assumptions.

        Raises:
            ValueError: The replay is pooled or by time.
        """
        if self.kind != "exact":
            raise ValueError(
                f"kind must be 'exact' for bounds, got {self.kind!r}; replay with pooled=False"
            )
        return replace(
            self,
            kind="bounds",
            policies=tuple(each.bounds_only() for each in self.policies),
            differences=(),
            recommendation=f"{UNCOMPARED}.",
            intervals=(
                f"Bounds are those of their {self.level}s."
                if any(each.outer for each in self.policies)
                else self.intervals
            ),
            beyond="",
            assumptions=(*self.assumptions, *([AT_MOST] if self.limits else [])),
        )

    def table(self) -> Table:
        """A row a policy, the log's own play first; empty columns are left out.

        Bounds stand alone: beside them the log's own play would be a comparison.
        """
        columns = [
            Column("policy", "text"),
            Column("mean reward"),
            Column(self.level, "interval"),
            Column("bounds", "interval"),
            Column("from the log", "percent"),
            Column("by propensities"),
            Column("doubly robust"),
        ]
        own: list[Any] = [LOGGED, figure(self.logged.mean), (self.logged.low, self.logged.high)]
        rows = [] if self.kind == "bounds" else [[*own, *[None] * 4]]
        for each in self.policies:
            weighed = each.weighed
            rows.append(
                [
                    each.name,
                    figure(each.reward.mean),
                    (each.reward.low, each.reward.high),
                    each.bounds,
                    each.coverage,
                    None if weighed is None else figure(weighed.ips.mean),
                    None if weighed is None else figure(weighed.robust.mean),
                ]
            )
        return Table(columns, rows).dense()

    @property
    def level(self) -> str:
        """The name of the intervals, as "95 % interval"."""
        return f"{100.0 * float(self.settings.get('level', 0.95)):g} % interval"

    def notes(self) -> list[str]:
        """The claims and their assumptions, one line each."""
        lines = [self.recommendation, *(f"{p.name}: {p.sentence}" for p in self.policies)]
        lines += [self.intervals, self.beyond, self.limits, *self.assumptions]
        return [line for line in lines if line]

    def __str__(self) -> str:
        return "\n".join([self.table().text(), "", *self.notes()])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """For notebooks: the table, a picture of it, and what may be claimed."""
        from rotting.logs._pages.replay_picture import ABOUT, dots, height_of

        height = height_of(len(self.policies))
        return notebook.fragment(
            "What policies would have earned on the log",
            [
                self.table().html(notebook.CELL),
                notebook.picture(lambda axes: dots(self, axes), ABOUT, height=height),
            ],
            self.notes()[1:],
            lead=sentence(self.recommendation),
        )
