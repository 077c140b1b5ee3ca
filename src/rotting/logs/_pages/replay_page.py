"""A replay as a page: each policy's estimate, with interval, bounds and coverage."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rotting._numbers import percent
from rotting._printable import printable
from rotting._show import pages as html
from rotting._show.data import json_text
from rotting._show.plots import svg_text
from rotting._table import Table
from rotting.kernel.arrays import FloatArray
from rotting.logs._diagnosis.phrases import sentence
from rotting.logs._pages.replay_picture import ABOUT, dots
from rotting.logs._replay.result import Replay

if TYPE_CHECKING:
    from rotting.logs._diagnosis.diagnosis import Diagnosis
    from rotting.logs._fits.fitted import Fit

_DRAWS = 40  # draws of the fitted curves, for their uncertainty
_NUMBERS = 4_000_000  # of all draws together
_ARMS = 12  # that are listed with their shares: those shown most
_KINDS = {
    "exact": "By exposure: the n-th time a policy shows an arm (to a key, if there are keys) it "
    "gets the reward of that very showing in the log.",
    "pooled": "By exposure, pooled: the n-th time a policy shows an arm to a key it gets the "
    "reward of some key's n-th showing of that arm.",
    "bounds": "By exposure: the n-th time a policy shows an arm (to a key, if there are keys) it "
    "gets the reward of that very showing in the log, and else anything between the bounds.",
    "by-time": "By time: rows in which a policy chooses what was shown count, the others do not.",
}
STYLE = """
.verdict { font-size: 1.2rem; line-height: 1.4; max-width: 46rem; }
.picture { max-width: 44rem; } li { margin: .3rem 0; overflow-wrap: anywhere; }
pre code { padding: 0; background: none; }
"""


def simulator_of(fit: Fit) -> FloatArray:
    """Means [draw, arm, exposure - 1] for what was not logged: the fit, then draws of it.

    Long enough for the key with the most rows, if all draws have room.
    """
    log = fit.log
    most = int(np.bincount(log.key).max()) if log.has_keys else log.key.size
    arms = len(fit.arms)
    longest = max(1, min(most, _NUMBERS // arms))
    first = fit.simulator(longest)
    draws = min(_DRAWS, _NUMBERS // (arms * longest), len(fit.draws.amplitudes))
    others = [fit.draws.means(arm, np.arange(1, longest + 1))[:draws] for arm in range(arms)]
    drawn = np.stack(others, axis=1)
    if fit.rewards == "bernoulli":
        drawn = np.clip(drawn, 0.0, 1.0)
    return np.concatenate([first[None], drawn])


def doubts(replay: Replay, said: Diagnosis) -> list[str]:
    """Warnings where the diagnosis contradicts an assumption of the replay."""
    if replay.kind == "pooled" and said["selection"].code == "yes":
        return [
            "The diagnosis finds that those who stay are not those who left, so keys are not quite "
            "exchangeable here: what late showings pay is taken from those who stayed, and may be "
            "off."
        ]
    return []


def write(folder: Path, replay: Replay, said: Diagnosis, source: str, command: str) -> None:
    """Write replay.json and replay.html into a folder; `said` is the log's diagnosis."""
    data = {**replay.as_data(), "diagnosis": said.overall}
    (folder / "replay.json").write_text(json_text(data) + "\n", encoding="utf-8")
    text = whole(replay, said, source, command)
    (folder / "replay.html").write_text(text, encoding="utf-8")


def whole(replay: Replay, said: Diagnosis, source: str, command: str) -> str:
    """The page."""
    title = f"What would it have earned? {printable(Path(source).name or 'a log')}"
    bounds = any(each.bounds is not None for each in replay)
    drawn = svg_text(dots(replay).figure.canvas.figure)
    also = " The thin grey line is what is possible without a model of it." if bounds else ""
    drawn_as = (
        f"Mean reward a decision, with {replay.level}s.{also} The dashed line is what the log's "
        "own play has earned on the same rows."
    )
    if replay.kind == "bounds":
        drawn_as = "The least and the most that a decision would have paid, on average."
    body = [
        f"<h1>{escape(title)}</h1>",
        f'<p class="verdict">{escape(sentence(replay.recommendation))}</p>',
        f'<div class="picture"><figure role="img" aria-label="{ABOUT}">{drawn}</figure>'
        f'<p class="note">{drawn_as}</p></div>',
        replay.table().html(),
        "<h2>What may be claimed</h2>",
        f"<p>{escape(_KINDS[replay.kind])}</p><ul>",
        *(
            f"<li><strong>{escape(each.name)}</strong>: {escape(each.sentence)}</li>"
            for each in replay
        ),
        "</ul>",
        *_shares(replay),
        "<h2>What to keep in mind</h2><ul>",
        f"<li>The diagnosis of this log: {escape(printable(said.headline))}</li>",
        *(
            f"<li>{escape(text)}</li>"
            for text in (
                *doubts(replay, said),
                replay.intervals,
                replay.beyond,
                replay.limits,
                *replay.assumptions,
            )
            if text
        ),
        "</ul>",
        "<h2>How this page was made</h2>",
        f"<pre><code>{escape(printable(command))}</code></pre>",
        '<p class="note">The figures behind this page are in replay.json beside it. In Python: '
        "<code>rotting.logs.replay</code>.</p>",
    ]
    return html.page(title, body, STYLE)


def _shares(replay: Replay) -> list[str]:
    """A table of how often each policy shows each arm."""
    totals: dict[str, float] = {}
    for each in replay:
        for arm, share in each.shares.items():
            totals[arm] = totals.get(arm, 0.0) + share
    arms = sorted(totals, key=lambda arm: -totals[arm])[:_ARMS]
    if not arms:
        return []
    rows = [
        [each.name, *(percent(each.shares.get(arm, 0.0), 0) for arm in arms)] for each in replay
    ]
    fewer = "" if len(totals) <= _ARMS else f" (the {_ARMS} shown most)"
    heads = ["policy", *(printable(arm) for arm in arms)]
    return [f"<h2>What they would have shown{fewer}</h2>", Table(heads, rows).html()]
