"""`tune`: a grid search over a policy's parameters."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rotting import _checks, _display
from rotting._engines import memory
from rotting._experiments.results import Result
from rotting._experiments.simulation import check_scenario, simulate
from rotting._table import frame_of
from rotting.bandits import Scenario
from rotting.policies._base import Policy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The first run of a grid search: no evaluation with the same seed reaches these numbers.
GRID_RUNS_START = 1 << 40


@dataclass(frozen=True, eq=False)
class Tuning:
    """The outcome of a grid search: every setting tried, and the one with the least mean regret.

    Attributes:
        settings: The grid's parameters of each policy, as dicts.
        policies: The policies played.
        results: A `Result` for each of them.

    >>> from rotting import policies, scenario, tune
    >>> found = tune(policies.UCB1(), {"c": [0.5, 2.0]}, scenario("fall_08:horizon=50"), runs=2,
    ...              engine="reference")
    >>> len(found.policies), [row["c"] for row in found.rows()]
    (2, [0.5, 2.0])
    """

    settings: list[dict[str, Any]]
    policies: list[Policy]
    results: list[Result]

    def __repr__(self) -> str:
        least = self.results[self._best].mean_regret[-1]
        return f"<Tuning: best of {len(self.policies)} is {self.best.short_label}, {least:.4g}>"

    @property
    def best(self) -> Policy:
        """The policy with the least mean final regret; the first of them in a tie.

        Means that differ by no more than rounding explains tie.
        """
        return self.policies[self._best]

    @property
    def chosen(self) -> dict[str, Any]:
        """The best policy's values of the grid's parameters."""
        return self.settings[self._best]

    @property
    def _best(self) -> int:
        means = [result.mean_regret[-1] for result in self.results]
        least = means.index(min(means))
        off = self.results[least].rounding
        return next(
            place
            for place, result in enumerate(self.results)
            if means[place] - means[least] <= np.mean(result.rounding + off)
        )

    def rows(self) -> list[dict[str, Any]]:
        """One row for each setting, as plain data.

        Returns:
            A list of dicts: the grid's parameters, mean_regret and standard_error.
        """
        return [
            {
                **setting,
                "mean_regret": float(result.mean_regret[-1]),
                "standard_error": float(result.standard_error[-1]),
            }
            for setting, result in zip(self.settings, self.results, strict=True)
        ]

    def to_frame(self) -> Any:
        """The rows as a pandas data frame.

        Raises:
            ImportError: pandas is not installed.
        """
        rows = self.rows()
        return frame_of({column: [row[column] for row in rows] for column in rows[0]})

    def plot(self, axes: Axes | None = None) -> Axes:
        """Draw the mean regret over a grid of one parameter.

        Args:
            axes: Matplotlib's axes to draw into; a new figure's without them.

        Returns:
            The axes.

        Raises:
            ValueError: The grid has several parameters.
        """
        drawn: Axes = _display.plot(self, axes=axes)
        return drawn

    def _repr_html_(self) -> str:
        return _display.html(self)


def tune(
    policy: Policy,
    grid: Mapping[str, Iterable[Any]],
    scenario: Scenario,
    *,
    runs: int = 100,
    seed: int = 0,
    **options: Any,
) -> Tuning:
    """Try every combination of a grid's values and find the least mean final regret.

    The runs are not those that `simulate` and `compare` play with the same seed, so the parameters
    are not evaluated on the data on which they were chosen.

    Args:
        policy: The policy; it gives the parameters that the grid does not list.
        grid: The values of one or several parameters, such as {"alpha": [0.2, 0.4]}.
        scenario: The arms, the noise and the horizon.
        runs: The number of runs of each policy.
        seed: The seed of all random numbers.
        options: The other arguments of `simulate`.

    Returns:
        A `Tuning`.

    Raises:
        ValueError: The grid names an unknown parameter or lists no values, a value is not allowed,
            or `simulate` refuses an argument.

    >>> from rotting.papers import levine2017
    >>> import dataclasses
    >>> scenario = dataclasses.replace(levine2017.non_parametric(), horizon=200)
    >>> from rotting import policies
    >>> found = tune(policies.UCB1(), {"c": [0.1, 2.0]}, scenario, runs=5, engine="reference")
    >>> found.chosen
    {'c': 0.1}
    """
    if not isinstance(policy, Policy):
        raise ValueError(f"policy must be a Policy, got {policy!r}")
    check_scenario(scenario)
    values = _values_of(grid, policy)
    settings = [
        dict(zip(values, chosen, strict=True)) for chosen in itertools.product(*values.values())
    ]
    policies = [_with(policy, setting) for setting in settings]
    memory.check(policies, scenario, runs, options.get("checkpoints", 100))
    results = [
        simulate(each, scenario, runs=runs, seed=seed, first_run=GRID_RUNS_START, **options)
        for each in policies
    ]
    return Tuning(settings, policies, results)


def _values_of(grid: Any, policy: Policy) -> dict[str, list[Any]]:
    """The grid as lists; a wrong one is refused before anything is played."""
    if not isinstance(grid, Mapping):
        raise ValueError(f'grid must be a dict of lists, as {{"alpha": [0.2, 0.4]}}, got {grid!r}')
    if not grid:
        raise ValueError("grid must hold at least one parameter, got none")
    fields: tuple[dataclasses.Field[Any], ...] = dataclasses.fields(policy)  # type: ignore[arg-type]
    values: dict[str, list[Any]] = {}
    for name, choices in grid.items():
        _checks.known(
            f"parameter of {policy.title}", name, [field.name for field in fields if field.init]
        )
        values[name] = _listed(name, choices)
    return values


def _listed(name: str, choices: Any) -> list[Any]:
    """A parameter's values as a list.

    A text would be read letter by letter, a dict key by key, and a set has no order: all are
    refused.
    """
    if isinstance(choices, np.ndarray):
        choices = choices.tolist()  # Python's numbers, for labels and JSON
    if isinstance(choices, (str, bytes, Mapping, Set)) or not isinstance(choices, Iterable):
        example = f"[{choices!r}]" if isinstance(choices, (str, int, float)) else "[...]"
        raise ValueError(
            f"grid must give {name} a list of values, as {{{name!r}: {example}}}, got {choices!r}"
        )
    found = list(choices)
    if not found:
        raise ValueError(f"grid must hold at least one value of {name}, got none")
    return found


def _with(policy: Any, setting: dict[str, Any]) -> Policy:
    changed: Policy = dataclasses.replace(policy, **setting)
    return changed
