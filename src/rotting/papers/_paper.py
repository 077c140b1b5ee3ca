"""The shape that all papers have."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from rotting._table import Table
from rotting.bandits import Scenario


class Reproduction(Protocol):
    """What every reproduction has; the rest is for its paper to say."""

    @property
    def seconds(self) -> float:
        """How long it took to play."""

    @property
    def gpu_seconds(self) -> float:
        """How much of that was spent in GPU kernels."""


class Shown(NamedTuple):
    """What the terminal shows of a reproduction: tables, then lines."""

    tables: Sequence[Table]
    lines: Sequence[str] = ()


R = TypeVar("R", bound=Reproduction)


@dataclass(frozen=True)
class Paper(Generic[R]):
    """A paper whose simulations can be run again. Its package exposes one, as `PAPER`.

    title      authors, title, year
    scenarios  those that get a name on the command line and in experiment files
    runs       how many runs the paper's own simulations have
    steps      (runs): how many steps `reproduce` reports, for a bar
    reproduce  (runs, seed, report, **options): everything, played; the options are those of
               `simulate`, `report` is called with (what, steps) as steps are done
    write      (found, folder, command): all files of a reproduction, report.html among them
    as_data    (found, command): its figures as plain data
    show       (found): what the terminal shows of it
    settings   what else `reproduce` takes, by name, with a line about each
    spellings  how the paper writes what has another name here: policies and scenarios
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
