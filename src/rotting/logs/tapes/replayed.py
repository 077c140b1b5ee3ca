"""What a replay found: tables, sentences, plain data."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from rotting.arrays import FloatArray
from rotting.logs.diagnosis.phrases import sentence
from rotting.logs.tapes.estimates import Estimate
from rotting.logs.tapes.propensities import Weighed
from rotting.reports import notebook

_COLUMNS = ("policy", "mean reward", "interval", "bounds", "from the log", "IPS", "doubly robust")


@dataclass(frozen=True, eq=False)
class Earned:
    """What one policy would have earned.

    reward     mean reward a decision: the estimate, its error and interval
    replayed   the plain mean over replays, before a correction (`rotting.logs.tapes.estimates`)
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

    def as_data(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "name": self.name,
            "label": self.label,
            "reward": self.reward.as_data(),
            "replayed": self.replayed,
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

    kind         "exact" (by exposure, each reward its own), "pooled" or "by-time"
    logged       what was shown in the log has earned, on the same rows
    differences  of the best policy to the second best, and of each to the log's own play
    intervals    how intervals were made
    beyond       where means come from that were not logged, and what they lie between
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
            "assumptions": list(self.assumptions),
            "settings": dict(self.settings),
        }

    def _rows(self) -> tuple[list[str], list[list[str]]]:
        """Headings and cells; columns of which nothing is known are left out."""
        rows = [["", _number(self.logged.mean), _pair(self.logged), "", "", "", ""]]
        rows[0][0] = LOGGED
        for each in self.policies:
            weighed = each.weighed
            rows.append(
                [
                    each.name,
                    _number(each.reward.mean),
                    _pair(each.reward),
                    "" if each.bounds is None else f"{each.bounds[0]:.4g} to {each.bounds[1]:.4g}",
                    share_text(each.coverage),
                    "" if weighed is None else _number(weighed.ips.mean),
                    "" if weighed is None else _number(weighed.robust.mean),
                ]
            )
        kept = [place for place in range(len(_COLUMNS)) if any(row[place] for row in rows)]
        return [_COLUMNS[place] for place in kept], [[row[p] for p in kept] for row in rows]

    def _notes(self) -> list[str]:
        notes = [self.recommendation, *(f"{p.name}: {p.sentence}" for p in self.policies)]
        return [*notes, self.intervals, self.beyond, *self.assumptions]

    def __str__(self) -> str:
        heads, rows = self._rows()
        widths = [max(len(row[place]) for row in [heads, *rows]) for place in range(len(heads))]
        lines = [
            "  ".join(
                cell.ljust(width) if place == 0 else cell.rjust(width)
                for place, (cell, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in [heads, *rows]
        ]
        return "\n".join([*lines, "", *(note for note in self._notes() if note)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """For notebooks: the table, a picture of it, and what may be claimed."""
        from rotting.logs.pages.replay_picture import ABOUT, dots, height_of

        heads, rows = self._rows()
        height = height_of(len(self.policies))
        return notebook.fragment(
            "What policies would have earned on the log",
            [
                notebook.table([dict(zip(heads, row, strict=True)) for row in rows]),
                notebook.picture(lambda axes: dots(self, axes), ABOUT, height=height),
            ],
            self._notes()[1:],
            lead=sentence(self.recommendation),
        )


def _number(value: float) -> str:
    return f"{value:.4g}" if math.isfinite(value) else ""


def _pair(value: Estimate) -> str:
    if not math.isfinite(value.low):
        return ""
    return f"{value.low:.4g} to {value.high:.4g}"


def share_text(value: float) -> str:
    """A share in per cent; 100 only if it is all."""
    if value == 1.0:
        return "100 %"
    return f"{min(99.9, math.floor(1000.0 * value) / 10.0):.1f} %"
