"""What a replay found: tables, sentences, plain data."""

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
    """What one policy would have earned.

    reward     mean reward a decision: the estimate, its error and interval
    replayed   the plain mean over replays, before a correction (`rotting.logs._replay.estimates`)
    bounds     the least and the most without a model of what was not logged; None by time
    outer      the lower end of the interval of the least, and the upper one of the most
    coverage   the share of decisions answered from the log; of rows kept, by time
    exact      whether all of them were, each by the reward of that very showing
    shares     how often it shows each arm
    weighed    estimates by propensities, where the log has some
    resampled  the mean reward in each resample
    sentence   what may be claimed, and under which assumption
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
    """How much more one earns than another, a decision; both on the same resamples."""

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
    """What policies would have earned on a log, and how far that can be believed.

    kind         "exact" (by exposure, each reward its own), "pooled", "by-time", or "bounds"
    logged       what was shown in the log has earned, on the same rows
    differences  of the best policy to the second best, and of each to the log's own play
    intervals    how intervals were made
    beyond       where means come from that were not logged
    limits       what bounds lie between
    assumptions  what all of it rests on
    settings     horizon, runs, resamples, level, seed
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
        """What the policy of that name would have earned."""
        return next(each for each in self.policies if each.name == name)

    def as_data(self) -> dict[str, Any]:
        """As plain data, with all that a page needs."""
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
        """The same without estimates and without any comparison.

        For a log of which the diagnosis cannot tell whether it wears out. The replay must be an
        exact one: one that is pooled takes keys to be exchangeable, and is wrong by a factor of
        two where those who come often pay more.

        Returns:
            A replay of the kind "bounds": for each policy the least and the most that it would
            have earned, with their assumptions.

        Raises:
            ValueError: if the replay is pooled or by time.
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
        """What the intervals are called, as "95 % interval"."""
        return f"{100.0 * float(self.settings.get('level', 0.95)):g} % interval"

    def notes(self) -> list[str]:
        """What may be claimed, and what it rests on: a line each."""
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
