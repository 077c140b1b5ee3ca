"""The report: one web page with the figure, both tables, the grids, and how it was run."""

from __future__ import annotations

import os
from html import escape
from pathlib import Path

from rotting._experiments.comparison import Comparison
from rotting._provenance import duration
from rotting._show import pages as html
from rotting._show import plots
from rotting.papers.levine2017 import (
    _differences,
    _figures,
    _measured,
    _published,
    _setups,
    _tables,
)
from rotting.papers.levine2017._reproduction import GRID_RUNS, Reproduction

_KINDS = {
    True: "yes",
    False: "no",
    None: "",
}  # class of an entry that agrees, differs, is not compared


def report(reproduction: Reproduction, command: str, versions: dict[str, str], folder: Path) -> str:
    """The page, as HTML, to lie in a folder."""
    return html.page(
        "Rotting Bandits, reproduced",
        [
            *_opening(reproduction),
            *_figure(reproduction),
            *_table(reproduction),
            *_grids(reproduction),
            *_tuned(reproduction),
            *_what_differs(reproduction, folder),
            *_how(reproduction, command, versions),
        ],
    )


def _opening(reproduction: Reproduction) -> list[str]:
    return [
        "<h1>Rotting Bandits, reproduced</h1>",
        '<p class="lead">The Simulations section of Levine, Crammer &amp; Mannor, '
        "<em>Rotting Bandits</em> (NIPS 2017), run again: three setups, T = 30,000, "
        f"{reproduction.runs:,} trajectories a setup, seed {reproduction.seed}, SWUCB with "
        f"B = {reproduction.swucb_b:g}. <strong>Of Table 1 "
        f"{escape(_tables.agreement(reproduction))}</strong> Each figure that differs is marked "
        "and explained below.</p>",
    ]


def _figure(reproduction: Reproduction) -> list[str]:
    panels = [
        (
            plots.svg_text(_figures.panel(setup, comparison)),
            f"Mean regret against t, {_figures.TITLES[setup]}: " + _means_in_words(comparison),
        )
        for setup, comparison in reproduction.reported.items()
    ]
    return [
        "<h2>Figure 1: average regret</h2>",
        '<p class="note">With the parameters the paper reports. Bands are 95 % confidence '
        "intervals of the mean.</p>",
        html.figures(panels),
        *(_means(setup, comparison) for setup, comparison in reproduction.reported.items()),
    ]


def _means_in_words(comparison: Comparison) -> str:
    return ", ".join(
        f"{name} ends at {result.mean_regret[-1]:.0f}"
        for name, result in comparison.results.items()
    )


def _means(setup: str, comparison: Comparison) -> str:
    summary = comparison.summary()
    names = list(comparison.results)
    rows = [
        ["mean regret at T", *(f"{summary['mean_regret'][name]:.1f}" for name in names)],
        [
            "95 % interval",
            *("{:.1f} to {:.1f}".format(*summary["interval_95"][name]) for name in names),
        ],
    ]
    return f"<h3>{escape(_figures.TITLES[setup])}</h3>" + html.table(["", *names], rows)


def _table(reproduction: Reproduction) -> list[str]:
    return [
        "<h2>Table 1: wins and p-values</h2>",
        '<p class="note">Under the diagonal: in how many of '
        f"{reproduction.runs:,} trajectories the row won against the column; above it: p-values of "
        f"paired, two-sided t-tests of {min(reproduction.runs, _published.RUNS)} trajectories (the "
        "paper's are of 100, and are compared only with such); of several hundreds the "
        "median, and in how many it says what the paper's does. Ours first, the paper's (of 100) "
        "in small print. "
        '<span class="yes">agrees</span>: of wins, that chance explains the difference of the two '
        "counts (2.58 standard errors, 99 %). For SWUCB against UCB1 and DUCB in AV and ANV the "
        "share of wins over many trajectories is known; there chance must also explain the paper's "
        "count, given that share. Of p-values, that both are below 1e-5, or both above 0.05, in "
        'more than half of the hundreds. <span class="no">differs</span>: all else.</p>',
        *(
            _matrix(setup, found)
            for setup, found in _tables.by_setup(_tables.all_cells(reproduction)).items()
        ),
        _corrected(reproduction.reported),
        *_constants(reproduction),
    ]


def _matrix(setup: str, found: list[_tables.Cell]) -> str:
    entries = _tables.matrix(found)
    rows: list[list[str | html.Cell]] = [
        [name, *(_entry(entry) for entry in row)] for name, row in entries.items()
    ]
    title = f"<h3>{escape(_figures.TITLES[setup])}</h3>"
    return title + html.table(["", *entries], rows)


def _constants(reproduction: Reproduction) -> list[str]:
    """SWUCB's pairs with another B beside it, and the band of values that reproduce its wins."""
    header, pairs = _tables.constants_rows(reproduction)
    rows: list[list[str | html.Cell]] = [[_entry(cell) for cell in row] for row in pairs]
    low, high = _measured.band()
    runs = _measured.scan()[0]["runs"]
    return [
        "<h3>The constant of SWUCB</h3>",
        '<p class="note">The paper does not state the B of SWUCB; what matters is B sqrt(xi). With '
        f"B = {_setups.USUAL_B:g} (xi = 1/2), the usual constant, its wins on AV do not reproduce; "
        f"with B from {low:g} to {high:g}, {_setups.OTHER_B:g} for instance, chance explains all "
        f"of them. The picture is of {runs:,} trajectories for each value "
        "(<code>python benchmarks/swucb_constant.py</code>). "
        f"<code>rotting reproduce levine2017 --swucb-b {_setups.OTHER_B:g}</code> plays all with "
        "that.</p>",
        html.table(header, rows),
        '<div style="max-width: 34rem">',
        html.figures([(plots.svg_text(_figures.constant_of_swucb()), _figures.CONSTANT_IN_WORDS)]),
        "</div>",
    ]


def _entry(entry: str | _tables.Entry | None) -> html.Cell:
    if entry is None or isinstance(entry, str):
        return html.Cell(entry or "", kind="same" if entry is None else "")
    return html.Cell(entry.ours, f"({entry.paper})", kind=_KINDS[entry.agrees])


def _corrected(comparisons: dict[str, Comparison]) -> str:
    changed = [
        f"{_published.SETUPS[setup]}, {a} and {b}: {_tables.show_p(comparison.p_values[a][b])} "
        f"becomes {_tables.show_p(comparison.holm[a][b])}"
        for setup, comparison in comparisons.items()
        for k, a in enumerate(comparison.results)
        for b in list(comparison.results)[k + 1 :]
        if _tables.show_p(comparison.p_values[a][b]) != _tables.show_p(comparison.holm[a][b])
    ]
    if not changed:
        return (
            '<p class="note">Corrected for the number of tests (Holm), no p-value of all '
            "trajectories together changes.</p>"
        )
    return (
        '<p class="note">Corrected for the number of tests in a setup (Holm), p-values of all '
        "trajectories together: "
        + escape("; ".join(changed))
        + "; all others stay as they are.</p>"
    )


def _grids(reproduction: Reproduction) -> list[str]:
    panels = [
        (
            plots.svg_text(_figures.grid_panel(setup, name, tuning)),
            f"Grid search of {name} on {_published.SETUPS[setup]}: ours {tuning.chosen}",
        )
        for setup, grids in reproduction.grids.items()
        for name, tuning in grids.items()
    ]
    return [
        "<h2>Grid searches</h2>",
        f'<p class="note">Mean regret of {GRID_RUNS} trajectories for each value, on trajectories '
        "apart from the evaluation's. Bars are 95 % intervals.</p>",
        html.figures(panels, small=True),
    ]


def _tuned(reproduction: Reproduction) -> list[str]:
    rows = []
    for setup, grids in reproduction.grids.items():
        for name, tuning in grids.items():
            parameter, _ = _published.GRIDS[name]
            reported = reproduction.reported[setup][name]
            ours = reproduction.tuned[setup][name]
            paper_value = _value_of(reported.provenance["parameters"], parameter)
            rows.append(
                [
                    f"{_published.SETUPS[setup]} {name}",
                    parameter,
                    paper_value,
                    f"{tuning.chosen[parameter]:g}",
                    f"{reported.mean_regret[-1]:.1f}",
                    f"{ours.mean_regret[-1]:.1f}",
                ]
            )
    header = ["", "parameter", "paper's", "our grid's", "regret, paper's", "regret, ours"]
    return [
        "<h2>With the parameters our grid chooses</h2>",
        html.table(header, rows),
        *(_matrix(setup, _tables.cells(setup, each)) for setup, each in reproduction.tuned.items()),
    ]


def _value_of(parameters: str, name: str) -> str:
    return parameters.split(f"{name}=")[1].split(",")[0].rstrip(")")


def _what_differs(reproduction: Reproduction, folder: Path) -> list[str]:
    return [
        "<h2>What differs from the paper, and why</h2>",
        "<ul>",
        *(f"<li>{each}</li>" for each in _differences.of_cells(reproduction)),
        *(f"<li>{each}</li>" for each in _differences.of_grids(reproduction)),
        "<li><strong>wSWA restarts empty</strong> at each doubling, as the paper's Appendix C.2 "
        "has it. Keeping the history is better in all three setups, and D-CTO would then not win "
        "against it.</li>",
        "<li><strong>Noise.</strong> All policies see the same bandits, but each has noise of its "
        "own; with common noise DUCB would win against UCB1 in 2 or 3 of 100 trajectories, not in "
        "55 and 40.</li>",
        "</ul>",
        f'<p class="note">{_pages(folder)}</p>',
    ]


def _pages(folder: Path) -> str:
    """Where the pages on the paper are: links from the folder, if this is a clone."""
    pages = {
        "readings.md": "How each open point was read, and the evidence",
        "by-name.md": "every statement of the paper and where it is here",
        "errata.md": "what is wrong in the paper, or does not reproduce",
    }
    docs = Path(__file__).parents[4] / "docs" / "paper"
    return "; ".join(f"{about}: {_link(docs / file, folder)}" for file, about in pages.items())


def _link(page: Path, folder: Path) -> str:
    name = f"docs/paper/{page.name}"
    try:
        place = Path(os.path.relpath(page, folder)).as_posix()
    except ValueError:  # on another drive
        return f"<code>{name}</code>"
    return f'<a href="{escape(place)}">{name}</a>' if page.is_file() else f"<code>{name}</code>"


def _how(reproduction: Reproduction, command: str, versions: dict[str, str]) -> list[str]:
    rows = []
    for setup, comparison in reproduction.reported.items():
        for name, result in comparison.results.items():
            seconds = result.provenance["seconds"]
            made = result.runs * int(result.checkpoints[-1])
            rows.append(
                [
                    f"{_published.SETUPS[setup]} {name}",
                    f"{seconds:.2f}",
                    f"{made / seconds / 1e6:.0f}",
                ]
            )
    about = ", ".join(f"{name} {version}" for name, version in versions.items())
    return [
        "<h2>How it was run</h2>",
        f"<pre>{escape(command)}</pre>",
        f"<p>{escape(about)}. Seed {reproduction.seed}; the whole took "
        f"{duration(reproduction.seconds, reproduction.gpu_seconds)}, grid searches included. The "
        "times below include compiling, where that was needed.</p>",
        html.table(["evaluation", "seconds", "million decisions a second"], rows),
    ]
