"""Policies compared by their share of pi_max's reward, run by run."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from rotting import stats
from rotting._experiments.results import Result


class Share(NamedTuple):
    """A policy's share of pi_max's reward, over runs."""

    share: float
    standard_error: float  # NaN for a single run
    reward: float  # collected in a run, on average
    difference: float  # its share less that of the reference
    low: float  # 95 % interval of the difference, paired by run; NaN for a single run
    high: float
    keys: str  # "counted", or "ignored" where the policy treats all users as one


@dataclass(frozen=True, eq=False)
class Standing:
    """Policies on one scenario by their shares, each compared with one of them, the reference.

    The results must be of the same runs, with common noise: then pairs differ by less than runs do.
    `caps` are the policies among which the best cap is chosen in hindsight.
    """

    scenario: str
    results: Mapping[str, Result]
    reference: str
    caps: Sequence[str] = ()

    def __post_init__(self) -> None:
        if self.reference not in self.results:
            known = ", ".join(self.results)
            raise ValueError(f"reference must be one of {known}, got {self.reference!r}")

    @cached_property
    def shares(self) -> dict[str, Share]:
        """The share of every policy, in the given order."""
        other = self.results[self.reference]
        return {name: _share(result, other) for name, result in self.results.items()}

    @property
    def best_cap(self) -> str | None:
        """The cap with the largest share, chosen in hindsight; None if no cap was played."""
        played = [name for name in self.caps if name in self.results]
        return max(played, key=lambda name: self.shares[name].share, default=None)

    @property
    def runs(self) -> int:
        """The number of runs of each policy."""
        return self.results[self.reference].runs

    def as_data(self) -> dict[str, Any]:
        """Everything except the curves, as plain data."""
        return {
            "scenario": self.scenario,
            "policies": {name: each._asdict() for name, each in self.shares.items()},
            "compared_with": self.reference,
            "best_cap": self.best_cap,
            "runs": self.runs,
            "seed": self.results[self.reference].provenance.get("seed"),
        }


def _share(result: Result, other: Result) -> Share:
    values = result.share
    error = math.nan
    if result.runs > 1:
        error = float(values.std(ddof=1)) / math.sqrt(result.runs)
    mean, low, high = stats.paired_difference(values, other.share)
    return Share(
        share=float(values.mean()),
        standard_error=error,
        reward=float(result.total_reward.mean()),
        difference=mean,
        low=low,
        high=high,
        keys=str(result.provenance.get("keys", "counted")),
    )
