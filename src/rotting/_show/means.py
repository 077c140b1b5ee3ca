"""Curves of means drawn: mu(n) of models, families and the arms of scenarios."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rotting import _checks
from rotting._printable import printable
from rotting._show.ink import BLUE, COLOURS, DASHES, QUIET
from rotting._show.line_names import End, name_ends, shortened
from rotting._show.plots import HEIGHT, WIDTH, drawing, few_ticks
from rotting.bandits import Arm, RandomArms, Scenario
from rotting.kernel.arrays import FloatArray, IntArray
from rotting.models import Amplitude, Family, Grid, Interval, MixedFamily, Model
from rotting.models._base import PROBE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DRAWN = 40  # curves of a picture
NAMED = 6  # of them, where there are too many to name all
_LETTERS = 24  # of a name
_POINTS = 300  # of a curve
_ROUND = np.array([50, *(k * 10**power for power in range(2, 5) for k in (1, 2, 5))])
_FALLEN = 0.5  # of the whole fall is to be seen
_PLAIN = 100  # pulls, where nothing falls
_FAR = 1_000_000  # rounds up to which it is worked out how often a key may come

Mean = Callable[[Any], FloatArray]  # of an array of pull numbers


class Curve(NamedTuple):
    """A model, or an arm, and what it is called."""

    name: str
    mean: Mean


def mean_curves(
    shown: Model | Family | Interval | Scenario | Mapping[str, Model | Arm],
    path: str | os.PathLike[str] | None = None,
    title: str = "",
    *,
    pulls: int | None = None,
    axes: Axes | None = None,
) -> Axes:
    """Draw mean rewards against the pull number n, and return the axes.

    shown   a model, a family, an interval, a scenario's arms, or models and arms by name; of many
            40 are drawn and 6 named, at equal distances; of arms that are drawn at random those of
            run 0 of seed 0
    pulls   how far, by default until half of the fall is seen, or more
    path, axes  those of `plots.regret_curves`
    """
    chosen, named = curves_of(shown)
    if pulls is None:
        pulls = pulls_shown([curve.mean for curve in chosen], longest(shown))
    numbers = sampled(_checks.integer("pulls", pulls, least=1))
    with drawing(path, axes, WIDTH, HEIGHT) as panel:
        _draw(panel, chosen, named, numbers)
        panel.set_title(title)
        return panel


def curves_of(
    shown: Model | Family | Interval | Scenario | Mapping[str, Model | Arm], most: int = DRAWN
) -> tuple[list[Curve], list[int]]:
    """The curves to draw, at most `most`, and the places of those that get a name."""
    if isinstance(shown, Scenario):
        found = [Curve(f"arm {k}", arm.mean) for k, arm in arms_of(shown, most)]
    elif isinstance(shown, Model):
        found = [Curve("", shown.mean)]
    elif isinstance(shown, Interval):
        return curves_of(nodes_of(shown), most)
    elif isinstance(shown, Family):
        places = spread(len(shown), most)
        found = [Curve(member_name(shown, k), shown.members[k].mean) for k in places]
    else:
        by_name = list(shown.items())
        found = [Curve(by_name[k][0], by_name[k][1].mean) for k in spread(len(by_name), most)]
    few = len(found) <= len(COLOURS)
    return found, list(range(len(found))) if few else spread(len(found), NAMED)


def arms_of(scenario: Scenario, most: int) -> list[tuple[int, Arm]]:
    """At most `most` arms with their numbers; random arms are those of run 0 of seed 0."""
    if isinstance(scenario.arms, RandomArms):  # which may be a million
        fewer = scenario.arms.first(min(most, scenario.arm_count))
        return list(enumerate(fewer.arms(seed=0, run=0)))
    return [(k, scenario.arms[k]) for k in spread(scenario.arm_count, most)]


def member_name(family: Family, place: int) -> str:
    """What a member of a family is called: its theta, or the model itself."""
    if isinstance(family, Grid):
        scaled: Any = family.members[place]
        return f"theta {scaled.theta:g}, times {scaled.factor:g}"
    if isinstance(family, MixedFamily):
        return repr(family.members[place])
    return f"{theta_word(family)} {family.thetas[place]:g}"


def theta_word(known: Family | Interval) -> str:
    """What a model's theta is."""
    return "amplitude" if isinstance(known.model, Amplitude) else "theta"


def nodes_of(interval: Interval) -> Family:
    """A few models between an interval's ends: there may be very many nodes."""
    few = min(interval.nodes, NAMED + 1)
    return Family(interval.model, tuple(np.linspace(interval.low, interval.high, few).tolist()))


def longest(shown: object) -> int | None:
    """The highest pull number that play can reach, where that is known."""
    if not isinstance(shown, Scenario):
        return None
    return shown.longest if shown.horizon <= _FAR else shown.horizon


def pulls_shown(means: Iterable[Mean], most: int | None = None) -> int:
    """A round number of pulls by which each curve has made half of its fall within 50,000 pulls.

    >>> from rotting.models import Constant, Exponential, Step
    >>> pulls_shown([Exponential(0.01).mean]), pulls_shown([Step(7500, 1.0, 0.4).mean])
    (100, 10000)
    >>> pulls_shown([Constant(1.0).mean], most=7)
    7
    """
    found = max(map(_fallen, means), default=int(_ROUND[0]))
    return found if most is None else min(found, most)


def _fallen(mean: Mean) -> int:
    numbers = np.append(1, _ROUND)
    with np.errstate(all="ignore"):
        try:
            values = mean(numbers)
        except Exception:  # a user's function, which is checked as far as PROBE and no further
            values = mean(numbers[numbers <= PROBE])
        fall = values[0] - values[1:]
    finite = fall[np.isfinite(fall)]
    return int(_ROUND[np.argmax(finite >= _FALLEN * finite[-1])]) if finite.any() else _PLAIN


def sampled(pulls: int) -> IntArray:
    """Pull numbers up to `pulls` to look at: all, or a few hundred of very many."""
    return np.unique(np.linspace(1, pulls, min(pulls, _POINTS)).astype(np.int64))


def spread(count: int, most: int) -> list[int]:
    """At most `most` of the places 0..count-1, evenly spaced, including the first and the last.

    >>> spread(3, 5), spread(101, 5)
    ([0, 1, 2], [0, 25, 50, 75, 100])
    """
    return [int(k) for k in np.unique(np.linspace(0, count - 1, min(count, most)).round())]


def _draw(axes: Axes, curves: list[Curve], named: list[int], numbers: IntArray) -> None:
    ends = []
    for place, curve in enumerate(curves):
        with np.errstate(all="ignore"):
            means = curve.mean(numbers)
        if place not in named:
            axes.plot(numbers, means, color=QUIET, linewidth=0.8, zorder=1)
            continue
        turn = named.index(place)
        colour = COLOURS[turn] if len(curves) > 1 else BLUE
        axes.plot(
            numbers,
            means,
            color=colour,
            linestyle=DASHES[turn % len(DASHES)],
            marker="o" if numbers.size == 1 else None,
            zorder=3,
        )
        if curve.name:
            ends.append(End(float(means[-1]), shortened(printable(curve.name), _LETTERS), colour))
    axes.set_xlabel("pull number n")
    axes.set_ylabel("mean reward")
    axes.set_xlim(1, max(2, int(numbers[-1])))
    axes.set_ylim(bottom=min(0.0, axes.get_ylim()[0]))
    few_ticks(axes)
    name_ends(axes, ends)
