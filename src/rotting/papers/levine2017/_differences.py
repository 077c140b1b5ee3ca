"""Sentences on what differs from the paper: marked cells of Table 1, and grid searches."""

from __future__ import annotations

from html import escape

from rotting._numbers import p_value
from rotting.papers.levine2017 import _measured, _published, _setups, _tables
from rotting.papers.levine2017._measured import show_errors
from rotting.papers.levine2017._reproduction import Reproduction

_SIMILAR = ("DUCB", "UCB1")
_NEAR = 0.01  # a p-value below it is near the limit of 1e-5


def of_cells(reproduction: Reproduction) -> list[str]:
    """A sentence as HTML for each figure of Table 1 that differs, or one that none does."""
    few = []
    if reproduction.runs < _published.RUNS:
        few = [
            f"The p-values of {reproduction.runs} trajectories are not compared: the paper's are "
            f"of {_published.RUNS}."
        ]
    found = [
        _said(cell, figure, reproduction)
        for cell in _tables.all_cells(reproduction)
        for figure in cell.differing
    ]
    return [*few, *(found or ["<strong>Table 1</strong>: no figure differs."])]


def _said(cell: _tables.Cell, figure: str, reproduction: Reproduction) -> str:
    setup = _published.SETUPS[cell.setup]
    of = "wins" if figure == "wins" else "p-value"
    head = f"<strong>{setup}, {escape(cell.row)} against {escape(cell.column)}, {of}.</strong>"
    return " ".join([head, _figures(cell, figure), _seeds(cell, figure, reproduction.swucb_b)]) + (
        _reason(cell, figure, reproduction)
    )


def _figures(cell: _tables.Cell, figure: str) -> str:
    if figure == "wins":
        share = 100 * cell.wins / cell.runs
        return f"The paper has {cell.paper_wins} of 100; here {share:.3g} of 100."
    ours = escape(p_value(cell.p_value))
    return f"The paper has {escape(_tables.paper_p(cell.paper_p_value))}; here {ours}."


def _seeds(cell: _tables.Cell, figure: str, b: float) -> str:
    found = _measured.agreeing_seeds(b, cell.name(figure))
    if found is None:
        return ""
    return f"It agrees in {found[0]} of {found[1]} seeds with 100 trajectories each."


def _reason(cell: _tables.Cell, figure: str, reproduction: Reproduction) -> str:
    """The reason for the difference, where known."""
    pair = (cell.row, cell.column)
    if "SWUCB" in pair:
        return _of_constant(cell, figure, reproduction.swucb_b)
    if pair == _SIMILAR and figure == "p" and cell.paper_p_value is not None:
        return (
            " The two are nearly the same: of a hundred p-values some five fall below 0.05 by "
            "chance, and with many trajectories a small difference shows."
        )
    if figure == "p" and cell.paper_p_value is None and cell.p_value < _NEAR:
        return " It is near the limit of 1e-5, which a hundred trajectories do not always reach."
    return ""


def _of_constant(cell: _tables.Cell, figure: str, b: float) -> str:
    low, high = _measured.band()
    other = _setups.OTHER_B if b != _setups.OTHER_B else _setups.USUAL_B
    stated = f" The paper does not state the constant B of SWUCB; this is with {b:g}."
    if figure == "p":
        with_other = _measured.agreeing_seeds(other, cell.name(figure))
        if with_other is None:
            return stated
        return f"{stated} With {other:g} it agrees in {with_other[0]} of {with_other[1]} seeds."
    share = _measured.shares(b).get((cell.setup, cell.row, cell.column))
    said = ""
    if share is not None:
        said = (
            f" Over {share.runs:,} trajectories its share of wins is {100 * share.wins:.1f} %; the "
            f"paper's count is {show_errors(share.errors_off(cell.paper_wins))} standard errors "
            "away."
        )
    if low <= b <= high:
        return said + stated
    return (
        f"{said}{stated} With B from {low:g} to {high:g} chance explains its wins: see the table "
        f"above, with {_setups.OTHER_B:g}."
    )


def of_grids(reproduction: Reproduction) -> list[str]:
    """Sentences as HTML on grid searches that choose other values than the paper's."""
    found = []
    for name, (parameter, values) in _published.GRIDS.items():
        ours, theirs = {}, {}
        for setup, grids in reproduction.grids.items():
            short = _published.SETUPS[setup]
            ours[short] = grids[name].chosen[parameter]
            theirs[short] = getattr(_setups.reported_policies(setup)[name], parameter)
        differ = [short for short in ours if ours[short] != theirs[short]]
        edges = {values[0]: "lower", values[-1]: "upper"}
        said = [
            f"on {short} ours chooses {ours[short]:,} (the paper's {theirs[short]:,})"
            for short in differ
        ]
        for value in dict.fromkeys([*theirs.values(), *ours.values()]):
            if value in edges and name != "DUCB":
                said.append(f"{value:,} is the {edges[value]} edge of the grid")
        if name == "SWUCB" and said:
            said += [_windows(b, windows) for b, windows in _measured.windows().items()]
        if said:
            found.append(f"<strong>{parameter} of {name}</strong>: {'; '.join(said)}.")
    return found


def _windows(b: str, windows: dict[str, list[int]]) -> str:
    """The values that the grid chooses for SWUCB with one B, over the measured seeds."""
    parts = []
    for setup, chosen in windows.items():
        theirs = getattr(_setups.reported_policies(setup)["SWUCB"], _published.GRIDS["SWUCB"][0])
        agree = sum(tau == theirs for tau in chosen)
        parts.append(f"{_published.SETUPS[setup]} in {agree} of {len(chosen)}")
    return f"with B = {b} ours chooses the paper's on {', on '.join(parts)} seeds"
