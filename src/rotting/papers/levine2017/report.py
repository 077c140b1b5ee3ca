"""The report: one web page with the figure, both tables, the grids, and how it was run."""

from __future__ import annotations

from html import escape

from rotting.experiments.comparison import Comparison
from rotting.papers.levine2017 import figures, published, tables
from rotting.papers.levine2017.reproduction import GRID_RUNS, Reproduction
from rotting.provenance import duration
from rotting.reports import pages as html
from rotting.reports import plots


def report(reproduction: Reproduction, command: str, versions: dict[str, str]) -> str:
    """The page, as HTML."""
    return html.page(
        "Rotting Bandits, reproduced",
        [
            *_opening(reproduction),
            *_figure(reproduction),
            *_table(reproduction),
            *_grids(reproduction),
            *_tuned(reproduction),
            *_differences(reproduction),
            *_how(reproduction, command, versions),
        ],
    )


def _opening(reproduction: Reproduction) -> list[str]:
    found = [
        cell
        for setup, comparison in reproduction.reported.items()
        for cell in tables.cells(setup, comparison)
    ]
    same = sum(cell.wins_agree for cell in found) + sum(cell.p_agrees for cell in found)
    return [
        "<h1>Rotting Bandits, reproduced</h1>",
        '<p class="lead">The Simulations section of Levine, Crammer &amp; Mannor, '
        "<em>Rotting Bandits</em> (NIPS 2017), run again: three setups, T = 30,000, "
        f"{reproduction.runs:,} trajectories a setup, seed {reproduction.seed}. "
        f"<strong>{same} of the {2 * len(found)} figures in Table 1 agree</strong> with the "
        "paper's; those that do not are marked.</p>",
    ]


def _figure(reproduction: Reproduction) -> list[str]:
    panels = [
        (
            plots.svg_text(figures.panel(setup, comparison)),
            f"Mean regret against t, {figures.TITLES[setup]}: " + _means_in_words(comparison),
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
    return f"<h3>{escape(figures.TITLES[setup])}</h3>" + html.table(["", *names], rows)


def _table(reproduction: Reproduction) -> list[str]:
    return [
        "<h2>Table 1: wins and p-values</h2>",
        '<p class="note">Under the diagonal: in how many of '
        f"{reproduction.runs:,} trajectories the row won against the column; above it: p-values of "
        "paired t-tests. Ours first, the paper's (of 100) in small print. "
        '<span class="yes">agrees</span>: of wins, that chance explains the difference of the two '
        "counts (2.58 standard errors, 99 %). For SWUCB against UCB1 and DUCB in AV and ANV we "
        "know the share of wins from a million trajectories; there chance must also explain the "
        "paper's count, given that share. Of p-values, that both are below 1e-5, or both above "
        "0.05. "
        '<span class="no">differs</span>: all else.</p>',
        *(_matrix(setup, comparison) for setup, comparison in reproduction.reported.items()),
        _corrected(reproduction.reported),
    ]


def _matrix(setup: str, comparison: Comparison) -> str:
    rows: list[list[str | html.Cell]] = [
        [name, *(_entry(entry) for entry in entries)]
        for name, entries in tables.matrix(setup, comparison).items()
    ]
    title = f"<h3>{escape(figures.TITLES[setup])}</h3>"
    return title + html.table(["", *comparison.results], rows)


def _entry(entry: tables.Entry | None) -> html.Cell:
    if entry is None:
        return html.Cell("", kind="same")
    return html.Cell(entry.ours, f"({entry.paper})", kind="yes" if entry.agrees else "no")


def _corrected(comparisons: dict[str, Comparison]) -> str:
    changed = [
        f"{published.SETUPS[setup]}, {a} and {b}: {tables.show_p(comparison.p_values[a][b])} "
        f"becomes {tables.show_p(comparison.holm[a][b])}"
        for setup, comparison in comparisons.items()
        for k, a in enumerate(comparison.results)
        for b in list(comparison.results)[k + 1 :]
        if tables.show_p(comparison.p_values[a][b]) != tables.show_p(comparison.holm[a][b])
    ]
    if not changed:
        return '<p class="note">Corrected for the number of tests (Holm), no entry changes.</p>'
    return (
        '<p class="note">Corrected for the number of tests in a setup (Holm): '
        + escape("; ".join(changed))
        + "; all others stay as they are.</p>"
    )


def _grids(reproduction: Reproduction) -> list[str]:
    panels = [
        (
            plots.svg_text(figures.grid_panel(setup, name, tuning)),
            f"Grid search of {name} on {published.SETUPS[setup]}: ours {tuning.chosen}",
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
            parameter, _ = published.GRIDS[name]
            reported = reproduction.reported[setup][name]
            ours = reproduction.tuned[setup][name]
            paper_value = _value_of(reported.provenance["parameters"], parameter)
            rows.append(
                [
                    f"{published.SETUPS[setup]} {name}",
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
        *(_matrix(setup, comparison) for setup, comparison in reproduction.tuned.items()),
    ]


def _value_of(parameters: str, name: str) -> str:
    return parameters.split(f"{name}=")[1].split(",")[0].rstrip(")")


def _differences(reproduction: Reproduction) -> list[str]:
    av, anv = reproduction.reported["av"], reproduction.reported["anv"]
    tau = {setup: grids["SWUCB"].chosen["tau"] for setup, grids in reproduction.grids.items()}
    return [
        "<h2>What differs from the paper, and why</h2>",
        "<ul>",
        "<li><strong>SWUCB against UCB1 and DUCB in AV</strong> does not reproduce. The paper has "
        f"15 and 22 wins of 100; here {_share(av, 'SWUCB', 'UCB1')} and "
        f"{_share(av, 'SWUCB', 'DUCB')}, and {_long_run('av')}: more than chance explains. The "
        "paper does not state the constants of its benchmark algorithms; no choice that we know of "
        "gives these entries and all others.</li>",
        "<li><strong>The same in ANV</strong> is in doubt. The paper has 50 and 50 wins; here "
        f"{_share(anv, 'SWUCB', 'UCB1')} and {_share(anv, 'SWUCB', 'DUCB')}, and "
        f"{_long_run('anv')}, which chance may explain: the wins are ticked. But SWUCB is worse "
        "there than UCB1 and DUCB. The paper's p-values, 0.83 and 0.91, do not see it; of ten of "
        "our seeds 5 and 6 have one below 0.05, and then it is not ticked.</li>",
        "<li><strong>UCB1 against DUCB</strong> in AV and ANV: the two are nearly the same, and of "
        "a hundred p-values some five fall below 0.05 by chance. With many more trajectories a "
        "small difference shows.</li>",
        f"<li><strong>tau.</strong> The paper's grid chose 4,000, 8,000 and 16,000; ours chooses "
        f"{tau['non_parametric']:,}, {tau['av']:,} and {tau['anv']:,}. In AV and ANV the regret of "
        "SWUCB falls all the way to the edge of the grid: a window that never forgets is best "
        "there.</li>",
        "<li><strong>alpha = 0.2</strong> is the lower edge of its grid.</li>",
        "<li><strong>wSWA restarts empty</strong> at each doubling, as the paper's Appendix C.2 "
        "has it. Keeping the history is better in all three setups, and D-CTO would then not win "
        "against it.</li>",
        "<li><strong>Noise.</strong> All policies see the same bandits, but each has noise of its "
        "own; with common noise DUCB would win against UCB1 in 2 or 3 of 100 trajectories, not in "
        "55 and 40.</li>",
        "</ul>",
        '<p class="note">The evidence for each reading is in '
        "<code>docs/paper/readings.md</code>.</p>",
    ]


def _long_run(setup: str) -> str:
    """SWUCB's wins of UCB1 and DUCB over a million trajectories, and how far the paper's are."""
    pairs = [key for key in tables.LONG_RUN if key[0] == setup]
    off = [
        tables.errors_off(tables.LONG_RUN[key], published.WINS[setup][key[1]][key[2]])
        for key in pairs
    ]
    shares = " and ".join(f"{100 * tables.LONG_RUN[key]:.1f}" for key in pairs)
    errors = " and ".join(f"{each:.1f}" for each in off)
    return (
        f"{shares} % over a million trajectories, from which the paper's counts are {errors} "
        "standard errors away"
    )


def _share(comparison: Comparison, row: str, column: str) -> str:
    """Wins per 100."""
    return f"{100 * comparison.wins[row][column] / comparison[row].runs:.3g}"


def _how(reproduction: Reproduction, command: str, versions: dict[str, str]) -> list[str]:
    rows = []
    for setup, comparison in reproduction.reported.items():
        for name, result in comparison.results.items():
            seconds = result.provenance["seconds"]
            made = result.runs * int(result.checkpoints[-1])
            rows.append(
                [
                    f"{published.SETUPS[setup]} {name}",
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
