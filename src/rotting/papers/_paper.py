"""The common form of papers: `Paper`, and tables for the terminal."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from rotting._table import Table
from rotting.bandits import Scenario


class Reproduction(Protocol):
    """What every reproduction has; each paper adds its results."""

    @property
    def seconds(self) -> float:
        """Wall-clock time of the simulations."""

    @property
    def gpu_seconds(self) -> float:
        """Time of it in GPU kernels."""


class Shown(NamedTuple):
    """What the terminal shows of a reproduction: tables, then lines."""

    tables: Sequence[Table]
    lines: Sequence[str] = ()


R = TypeVar("R", bound=Reproduction)


@dataclass(frozen=True)
class Paper(Generic[R]):
    """A paper whose simulations can be reproduced; its package has one, as `PAPER`.

    Attributes:
        title: Authors, title, year.
        scenarios: Functions that make its scenarios, by their names on the command line and in
            experiment files.
        runs: The number of runs in the paper.
        steps: (runs): the number of steps that `reproduce` reports, for a progress bar.
        reproduce: (runs, seed, report, **options): plays everything and returns the results. The
            options are those of `simulate`; `report` is called with (what, steps done).
        write: (found, folder, command): writes all files of a reproduction, with report.html.
        as_data: (found, command): its figures as plain data.
        show: (found): its tables and lines for the terminal.
        settings: Further arguments of `reproduce` by name, with a line about each.
        spellings: The names of policies and scenarios here, by their names in the paper, where they
            differ.

    >>> from rotting import papers
    >>> paper = papers.find("levine2017")
    >>> paper.runs, sorted(paper.scenarios), paper.spellings["NP"]
    (100, ['anv', 'av', 'non_parametric'], 'non_parametric')
    """

    title: str
    scenarios: Mapping[str, Callable[[], Scenario]]
    runs: int
    steps: Callable[[int], int]
    reproduce: Callable[..., R]
    write: Callable[[R, Path, str], None]
    as_data: Callable[[R, str], dict[str, Any]]
    show: Callable[[R], Shown]
    settings: Mapping[str, str] = field(default_factory=dict)
    spellings: Mapping[str, str] = field(default_factory=dict)
