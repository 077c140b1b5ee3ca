"""`compare`: several policies on the same bandits."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rotting import _checks, _display, stats
from rotting._engines import memory
from rotting._experiments.results import Result
from rotting._experiments.simulation import check_scenario, simulate
from rotting._progress import Report, in_steps
from rotting._table import frame_of
from rotting.bandits import Scenario
from rotting.kernel.arrays import FloatArray
from rotting.policies._base import Policy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# the provenance that the results of a comparison share
_COMMON = (
    *("scenario", "horizon", "runs", "first_run", "seed", "noise", "engine", "backend"),
    *("rotting", "python", "numpy"),
)


@dataclass(frozen=True, eq=False)
class Comparison:
    """Results of several policies on the same bandits, by name, with tests between them.

    Regrets that differ by no more than rounding explains are ties, in all tests. With a `reference`
    only the pairs with it are tested: `p_values` and `holm` have no others.

    `comparison["name"]` is the `Result` of one policy.

    Attributes:
        results: A `Result` for each policy, by name.
        reference: The name of the policy that the others are compared with; None to test all pairs.
        wins: wins[a][b] is the number of runs in which a has the lesser final regret.
        p_values: p_values[a][b] is that of the paired t-test between a and b.
        holm: holm[a][b] is the same, corrected for all pairs (Holm).
        differences: With a reference: by policy, how much more final regret it has than the
            reference, with the 95 % interval, paired by run.

    >>> from rotting import compare, policies, scenario
    >>> found = compare([policies.Oracle(), policies.Uniform()], scenario("fall_08:horizon=50"),
    ...                 runs=3, engine="reference")
    >>> found.wins["Oracle"]["Uniform"], found["Oracle"].final_regret
    (3, array([0., 0., 0.]))
    """

    results: dict[str, Result]
    reference: str | None = None

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The tested pairs: all, or each other policy with the reference."""
        if self.reference is None:
            return list(itertools.combinations(self.results, 2))
        return [(name, self.reference) for name in self.results if name != self.reference]

    @cached_property
    def differences(self) -> dict[str, stats.Difference]:
        """The final regret of each other policy less that of the reference; empty without one."""
        if self.reference is None:
            return {}
        return {
            a: stats.paired_difference(self[a].final_regret, self[b].final_regret, self._off(a, b))
            for a, b in self.pairs
        }

    @cached_property
    def wins(self) -> dict[str, dict[str, int]]:
        """wins[a][b]: the number of runs in which a has the lesser final regret."""
        return {
            a: {
                b: stats.wins(self[a].final_regret, self[b].final_regret, self._off(a, b))
                for b in self.results
                if b != a
            }
            for a in self.results
        }

    def ties(self, a: str, b: str) -> int:
        """The number of runs in which neither of two policies has the lesser final regret.

        Args:
            a: The name of a policy.
            b: The name of another one.
        """
        return self[a].runs - self.wins[a][b] - self.wins[b][a]

    def _off(self, a: str, b: str) -> FloatArray:
        """The most by which rounding can put the difference of their regrets off, run by run."""
        return self._rounding[a] + self._rounding[b]

    @cached_property
    def _rounding(self) -> dict[str, FloatArray]:
        """The rounding of every result, computed once for all pairs."""
        return {name: result.rounding for name, result in self.results.items()}

    @cached_property
    def p_values(self) -> dict[str, dict[str, float]]:
        """p_values[a][b]: the paired t-test between a and b."""
        return self._both_ways(
            {
                (a, b): stats.paired_p_value(
                    self[a].final_regret, self[b].final_regret, self._off(a, b)
                )
                for a, b in self.pairs
            }
        )

    @cached_property
    def holm(self) -> dict[str, dict[str, float]]:
        """The p-values corrected for all tested pairs together (Holm)."""
        corrected = stats.holm([self.p_values[a][b] for a, b in self.pairs])
        return self._both_ways(dict(zip(self.pairs, corrected, strict=True)))

    def _both_ways(self, values: Mapping[tuple[str, str], float]) -> dict[str, dict[str, float]]:
        return {
            a: {
                b: values[a, b] if (a, b) in values else values[b, a]
                for b in self.results
                if (a, b) in values or (b, a) in values
            }
            for a in self.results
        }

    @property
    def against(self) -> str:
        """The play that regrets are measured against: "pi_max", or "greedy" if not optimal."""
        return next(iter(self.results.values())).against

    @property
    def keys_ignored(self) -> list[str]:
        """The policies that played an audience pooled, as if all keys were one."""
        return [name for name, result in self.results.items() if result.note]

    def __repr__(self) -> str:
        means = (
            f"{name} {result.mean_regret[-1]:.4g}" + (f" ({result.note})" if result.note else "")
            for name, result in self.results.items()
        )
        measure = next(iter(self.results.values())).measure
        return f"<Comparison, mean {measure}: {', '.join(means)}>"

    def __getitem__(self, name: str) -> Result:
        return self.results[name]

    def to_frame(self, curves: bool = False) -> Any:
        """A pandas data frame with one row a policy.

        Its columns are policy, those of `Result.summary` (runs, mean_regret, standard_error, low_95
        and high_95, worst_run, mean_reward, mean_share), wins (against all others, over all runs),
        parameters and note ("keys ignored" for a policy that played an audience as one key). With a
        reference the columns difference, difference_low_95, difference_high_95, p_value and
        p_value_holm compare with it; they are NaN in its own row.

        Args:
            curves: True for a row for every policy, run and checkpoint instead: policy, run, t,
                regret.

        Returns:
            The data frame.

        Raises:
            ImportError: pandas is not installed.
        """
        if curves:
            return self._curves()
        rows = self.rows()
        return frame_of({column: [row[column] for row in rows] for column in rows[0]})

    def rows(self) -> list[dict[str, Any]]:
        """One row a policy, as plain data.

        Returns:
            A list of dicts, whose keys are the columns of `to_frame`.
        """
        return [
            {
                "policy": name,
                **result.summary(),
                "wins": sum(self.wins[name].values()),
                "parameters": result.provenance.get("parameters", ""),
                "note": result.note,
                **self._compared(name),
            }
            for name, result in self.results.items()
        ]

    def _compared(self, name: str) -> dict[str, float]:
        """The columns that compare a policy with the reference, if there is one."""
        if self.reference is None:
            return {}
        other = self.reference
        found = self.differences.get(name, stats.Difference(math.nan, math.nan, math.nan))
        return {
            "difference": found.mean,
            "difference_low_95": found.low,
            "difference_high_95": found.high,
            "p_value": self.p_values[name].get(other, math.nan),
            "p_value_holm": self.holm[name].get(other, math.nan),
        }

    @property
    def provenance(self) -> dict[str, Any]:
        """The provenance that all results share.

        A user's own object is played on another engine than policies; both engines are named then.
        """
        found = [result.provenance for result in self.results.values()]
        return {
            key: said[0] if len(said) == 1 else ", ".join(map(str, said))
            for key in _COMMON
            if (said := list(dict.fromkeys(each[key] for each in found if key in each)))
        }

    def plot(self, axes: Axes | None = None) -> Axes:
        """Draw the regret curves.

        Args:
            axes: Matplotlib's axes to draw into; a new figure's without them.

        Returns:
            The axes.
        """
        drawn: Axes = _display.plot(self, axes=axes)
        return drawn

    def _repr_html_(self) -> str:
        return _display.html(self)

    def _curves(self) -> Any:
        frames = {name: result.to_frame() for name, result in self.results.items()}
        columns = {
            column: np.concatenate([frame[column] for frame in frames.values()])
            for column in next(iter(frames.values()))
        }
        names = [name for name, frame in frames.items() for _ in range(len(frame))]
        return frame_of({"policy": names, **columns})

    def summary(self) -> dict[str, Any]:
        """Everything except the curves, as plain data.

        Returns:
            A dict for JSON: means, intervals and worst runs by policy, wins, p-values and
                provenance.
        """
        return {
            "policies": list(self.results),
            "parameters": {n: r.provenance["parameters"] for n, r in self.results.items()},
            "runs": next(iter(self.results.values())).runs,
            "regret_against": self.against,
            "keys_ignored": self.keys_ignored,
            "mean_regret": {n: float(r.mean_regret[-1]) for n, r in self.results.items()},
            "standard_error": {n: float(r.standard_error[-1]) for n, r in self.results.items()},
            "interval_95": {
                n: list(stats.interval(r.final_regret)) for n, r in self.results.items()
            },
            "worst_run": {n: float(r.final_regret.max()) for n, r in self.results.items()},
            "wins": self.wins,
            "p_values": self.p_values,
            "p_values_holm": self.holm,
            **self._with_reference(),
            "provenance": self.provenance,
        }

    def _with_reference(self) -> dict[str, Any]:
        if self.reference is None:
            return {}
        return {
            "compared_with": self.reference,
            "difference": {name: found.mean for name, found in self.differences.items()},
            "difference_interval_95": {
                name: [found.low, found.high] for name, found in self.differences.items()
            },
        }


def compare(
    policies: Mapping[str, Policy] | Iterable[Policy],
    scenario: Scenario,
    *,
    runs: int,
    seed: int = 0,
    against: str | None = None,
    report: Report | None = None,
    played: Mapping[Policy, Result] | None = None,
    **options: Any,
) -> Comparison:
    """Play several policies on the same bandits and test their final regrets pair by pair.

    Args:
        policies: A list, or a dict that names them.
        scenario: The arms, the noise and the horizon.
        runs: The number of independent bandits.
        seed: The seed of all random numbers.
        against: The name of one of the policies: the others are compared with it alone, with the
            mean difference and its interval; Holm's correction is for these pairs.
        report: A function called with (name, runs) whenever that number of further runs of a policy
            is done.
        played: Results at hand, by policy, of the same scenario, runs, seed and options. These
            policies are not played again.
        options: The other arguments of `simulate`.

    Returns:
        A `Comparison`.

    Raises:
        ValueError: There is no policy, two have the same name, `against` names none of them,
            results at hand are of another experiment, or `simulate` refuses an argument.

    >>> from rotting import Arm, NoNoise, Scenario, models, policies
    >>> scenario = Scenario([Arm(models.Constant(1.0)), Arm(models.Constant(0.0))],
    ...                     noise=NoNoise(), horizon=50)
    >>> found = compare([policies.Oracle(), policies.RoundRobin()], scenario, runs=3,
    ...                 engine="reference")
    >>> found.wins["Oracle"]["RoundRobin"]
    3
    """
    named = name_policies(policies)
    check_scenario(scenario)
    _check_against(against, named)
    if report is not None and "progress" in options:
        raise ValueError("progress must not be given together with report")
    memory.check(named.values(), scenario, runs, options.get("checkpoints", 100))
    results = {}
    for name, policy in named.items():
        found = _at_hand(policy, scenario, runs, seed, options, played) if played else None
        if found is None:
            if report is not None:
                options["progress"] = in_steps(report, name)
            found = simulate(policy, scenario, runs=runs, seed=seed, **options)
        elif report is not None:
            report(name, runs)
        results[name] = found
    return Comparison(results, against)


def _check_against(against: str | None, named: Mapping[str, Policy]) -> None:
    if against is None:
        return
    _checks.known("policy to compare with", against, named)
    if len(named) < 2:
        raise ValueError(f"policies must hold another policy to compare with {against}, got none")


def _at_hand(
    policy: Policy,
    scenario: Scenario,
    runs: int,
    seed: int,
    options: Mapping[str, Any],
    played: Mapping[Policy, Result],
) -> Result | None:
    """The policy's result among those at hand, or None."""
    found = played.get(policy)
    # 1 equals 1.0, but the noise stream is keyed by the text of the parameters
    if found is None or found.provenance["parameters"] != repr(policy):
        return None
    same = {"runs": runs, "seed": seed, "horizon": scenario.horizon}
    same |= {"noise": options.get("noise", "independent"), "first_run": options.get("first_run", 0)}
    for name, wanted in same.items():
        if found.provenance[name] != wanted:
            raise ValueError(
                f"played must hold results with {name} = {wanted}, got "
                f"{found.provenance[name]} for {policy.short_label}"
            )
    return found


def name_policies(policies: Mapping[str, Policy] | Iterable[Policy]) -> dict[str, Policy]:
    """Policies by name: the given names, or else short labels."""
    if isinstance(policies, Mapping):
        named = dict(policies)
    else:
        listed = list(policies)
        for policy in listed:
            if not isinstance(policy, Policy):
                raise ValueError(f"policies must be Policy objects, got {policy!r}")
        named = {policy.short_label: policy for policy in listed}
        if len(named) < len(listed):  # they may differ in parameters that a short label omits
            named = {policy.label: policy for policy in listed}
        if len(named) < len(listed):
            labels = [policy.label for policy in listed]
            twice = next(label for label in labels if labels.count(label) > 1)
            raise ValueError(f"policies must differ or be given names, got {twice} twice")
    if not named:
        raise ValueError("policies must hold at least one policy, got none")
    return named
