"""Models, families, intervals and scenarios as a notebook shows them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from rotting._numbers import figure
from rotting._show.means import (
    Mean,
    arms_of,
    curves_of,
    longest,
    mean_curves,
    member_name,
    nodes_of,
    pulls_shown,
    spread,
    theta_word,
)
from rotting._show.notebook import CELL, LETTERS, clipped, fewer, fragment, picture
from rotting._table import Column, Table
from rotting.bandits import Audience, DrawnArms, RandomArms, Scenario
from rotting.bandits._openings import as_openings
from rotting.models import Family, Interval, Model

_ROWS = 12  # of a table


def model_html(model: Model) -> str:
    """Its curve and a few of its means; no curve where theta is left open."""
    formula = (type(model).__doc__ or "").partition("\n")[0].replace("`", "")
    said = formula if formula.startswith("mu(n)") else ""
    heading = repr(model)
    if model.has_theta and getattr(model, "theta", None) is None:
        said = f"{said} Theta is left open: model.over([...]) makes a family of it."
        return fragment(heading, [], lead=said.strip())
    pulls = pulls_shown([model.mean])
    drawn = _picture(model, pulls, f"mu(n) of {clipped(heading, 3 * LETTERS)}")
    means = _table([_means(model.mean, pulls)], words=0)
    return fragment(heading, [means, drawn], lead=said)


def family_html(family: Family) -> str:
    """The members' curves, and a few of their means."""
    return _members(family, _words(family), len(family))


def interval_html(interval: Interval) -> str:
    """The curves of a few thetas between the ends."""
    about = f"Policies know {interval.nodes} nodes of it, and interpolate."
    return _members(nodes_of(interval), _words(interval), 0, about)


def _members(family: Family, heading: str, count: int, about: str = "") -> str:
    shown = spread(len(family), _ROWS)
    curves, named = curves_of(family)
    pulls = pulls_shown([curve.mean for curve in curves])
    rows = [
        {
            "member": member_name(family, k),
            "prior weight": "-" if family.weights is None else figure(family.weights[k]),
            **_means(family.members[k].mean, pulls),
        }
        for k in shown
    ]
    return fragment(
        heading,
        [_table(rows), _picture(family, pulls, f"Mean rewards over pulls: {heading}")],
        [fewer(len(rows), count, "members", "in the table"), _drawn(curves, named, count)],
        lead=about,
    )


def scenario_html(scenario: Scenario) -> str:
    """What is played in words, and the curves of the arms."""
    count = scenario.arm_count
    shown = arms_of(scenario, _ROWS)
    curves, named = curves_of(scenario)
    pulls = pulls_shown([curve.mean for curve in curves], longest(scenario))
    rows = [
        {
            "arm": str(k),
            "model": repr(arm.model),
            "constant": figure(arm.constant) if arm.constant else "-",
            "open in rounds": _opened(scenario, k),
            **_means(arm.mean, pulls, "pull {:,}"),
        }
        for k, arm in shown
    ]
    return fragment(
        scenario.name or "Scenario",
        [_table(rows, words=2), _picture(scenario, pulls, "Mean rewards of the arms over pulls")],
        [
            "" if scenario.fixed else "The arms shown are those of run 0 of seed 0.",
            fewer(len(rows), count, "arms", "in the table"),
            _drawn(curves, named, count),
        ],
        lead=" ".join(_said(scenario)),
    )


def _table(rows: Sequence[Mapping[str, str]], words: int = 1) -> str:
    """Rows by their headings, the first columns texts, without those that hold nothing."""
    columns = [Column(name, "text" if k < words else "number") for k, name in enumerate(rows[0])]
    return Table(columns, [list(row.values()) for row in rows]).dense().html(CELL)


def _picture(shown: Model | Family | Scenario, pulls: int, about: str) -> str:
    return picture(lambda axes: mean_curves(shown, pulls=pulls, axes=axes), about)


def _drawn(curves: Sequence[object], named: Sequence[int], count: int) -> str:
    """How many curves the picture has of how many, and how many have names."""
    found = fewer(len(curves), count, "curves", "drawn")
    return " ".join(filter(None, [found, fewer(len(named), len(curves), "curves drawn", "named")]))


def _means(mean: Mean, pulls: int, heading: str = "mu({:,})") -> dict[str, str]:
    """The first mean, and some up to the last that is drawn."""
    numbers = sorted({1, max(1, pulls // 10), max(1, pulls // 2), pulls})
    with np.errstate(all="ignore"):
        found = mean(np.array(numbers))
    return {heading.format(n): figure(float(m)) for n, m in zip(numbers, found, strict=True)}


def _words(known: Family | Interval) -> str:
    """A family or an interval in a few words."""
    if isinstance(known, Interval):
        ends = f"{known.low:g} to {known.high:g}"
        return f"{known.model!r} with any {theta_word(known)} from {ends}"
    if type(known) is Family:
        low, high = min(known.thetas), max(known.thetas)
        if len(known) == 1:
            return f"A family of one: {known.members[0]!r}"
        what = f"{len(known):,} {theta_word(known)}s"
        return f"{known.model!r} with one of {what} from {low:g} to {high:g}"
    kinds = list(dict.fromkeys(type(member.unscaled[0]).__name__ for member in known.members))
    return f"{len(known):,} models: {', '.join(kinds)}"


def _opened(scenario: Scenario, arm: int) -> str:
    """The rounds in which an arm is open; a hyphen where none ever closes."""
    if not scenario.closes:
        return "-"
    found = as_openings(scenario.openings, scenario.arm_count) or ()
    own = [each for each in found if each.arm == arm]
    said = (f"{o.first:,} on" if o.last is None else f"{o.first:,} to {o.last:,}" for o in own)
    return "; ".join(said) or "all"


def _said(scenario: Scenario) -> Iterable[str]:
    """Noise, rounds, and where arms and keys come from, a sentence each."""
    arms = "1 arm" if scenario.arm_count == 1 else f"{scenario.arm_count:,} arms"
    if not isinstance(scenario.arms, RandomArms):
        yield f"{arms}, {scenario.noise!r}, {scenario.horizon:,} rounds."
    else:
        yield f"{arms} drawn for each run, {scenario.noise!r}, {scenario.horizon:,} rounds."
        if isinstance(scenario.arms, DrawnArms):
            yield f"They are {scenario.arms!r}."
        else:
            yield f"Each is {_words(scenario.arms.family)}."
    if scenario.closes:
        yield "Arms come and go."
    if scenario.audience is not None:
        yield from _keys(scenario.audience)
    if scenario.belief is not None:
        yield f"Policies get: {_words(scenario.belief)}."


def _keys(audience: Audience) -> Iterable[str]:
    keys = "1 key" if audience.keys == 1 else f"{audience.keys:,} keys"
    yield f"Arms wear out for each of {keys} on its own; they arrive: {audience.arrivals!s}."
    if audience.factors is not None:
        yield f"Keys have factors from {audience.factors[0]:g} to {audience.factors[1]:g}."
    if audience.rest is not None:
        yield f"Exposures are forgotten: {audience.rest!r}."
