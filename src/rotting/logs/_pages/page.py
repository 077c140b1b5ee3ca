"""A diagnosis as a page: the verdict, each question with its picture, and what to do next."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from rotting._printable import printable
from rotting._show import notebook
from rotting._show import pages as html
from rotting._show.data import json_text
from rotting._table import Column, Table
from rotting.logs._diagnosis import codes
from rotting.logs._diagnosis.phrases import p_text, sentence
from rotting.logs._diagnosis.shape import ARMS_NOTE
from rotting.logs._pages.axes import Picture
from rotting.logs._pages.next_steps import next_steps
from rotting.logs._pages.pictures import first_pictures, pictures
from rotting.logs._pages.short_answers import short

if TYPE_CHECKING:
    from rotting.logs._diagnosis.diagnosis import Diagnosis, Part
    from rotting.logs._log import Problem

BADGES = {  # the verdict on the whole in plain words, and its colour
    codes.ROTS: ("It wears out", "bad"),
    codes.STAYS: ("It does not wear out", "good"),
    codes.CALENDAR: ("It is the calendar", "warn"),
    codes.BOTH: ("It wears out, and the calendar moves it", "bad"),
    codes.RECOVERS: ("It wears out, and rest brings it back", "warn"),
    codes.UNKNOWN: ("This log cannot tell", "open"),
}
_ASKED = ("exposure", "selection", "calendar", "recovery", "shape", "cost")
_BESIDE = ("exposure", "calendar", "cost", "shape")  # pictures of a notebook, in this order
STYLE = """
.badge { display: inline-block; border-radius: 999px; padding: .15rem .9rem; margin: .4rem 0;
  font-weight: 700; color: var(--paper); background: var(--ink); }
.badge.bad { background: var(--bad); } .badge.good { background: var(--good); }
.badge.warn { background: var(--accent); }
.verdict { font-size: 1.3rem; line-height: 1.4; margin: .4rem 0 1rem; max-width: 46rem; }
.part { display: grid; gap: .4rem 1.6rem; grid-template-columns: minmax(0, 1fr); }
@media (min-width: 54rem) {
  .part.drawn { grid-template-columns: minmax(0, 1fr) minmax(0, 27rem); } }
.badge.open { background: color-mix(in srgb, var(--ink) 70%, var(--paper)); }
.part > div > p:first-child { margin-top: 0; font-size: 1.05rem; }
.picture { margin: 0 0 .6rem; } .picture .note { margin: .3rem 0 0; }
.picture h3 { margin: 0 0 .2rem; overflow-wrap: anywhere; }
.several { display: grid; gap: .9rem; margin-top: .9rem; align-items: end;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 15rem), 1fr)); }
@media (max-width: 54rem) { .picture { max-width: 30rem; } }
dl.fine { margin: .6rem 0 0; font-size: .85rem;
  color: color-mix(in srgb, var(--ink) 72%, var(--paper)); }
dl.fine dt { font-weight: 600; float: left; clear: left; margin-right: .4rem; }
dl.fine dd { margin: 0; }
pre { max-height: 24rem; overflow: auto; } pre code { padding: 0; background: none; }
li { margin: .2rem 0; overflow-wrap: anywhere; }
"""


def fragment(diagnosis: Diagnosis) -> str:
    """For a notebook: the verdict, a table of the answers, and two pictures."""
    answers = Table(
        [Column("question", "prose"), Column("answer", "prose")],
        [[part.title, part.verdict] for part in diagnosis.parts.values()],
    )
    drawn = first_pictures(diagnosis, _BESIDE, 2)
    figures = notebook.beside(notebook.on_paper(each.svg, each.about) for each in drawn)
    return (
        f"<p><strong>{escape(BADGES[diagnosis.overall][0])}.</strong> "
        f"{escape(printable(diagnosis.headline))}</p>"
        f"{answers.html()}{figures}"
    )


def write(
    folder: Path, diagnosis: Diagnosis, command: str, recommended: Sequence[str] = ()
) -> None:
    """Write diagnosis.json and diagnosis.html into a folder.

    `recommended` are lines of Python that make a policy: a fit's, if there is one.
    """
    (folder / "diagnosis.json").write_text(json_text(diagnosis.as_data()) + "\n", encoding="utf-8")
    text = whole(diagnosis, command, recommended)
    (folder / "diagnosis.html").write_text(text, encoding="utf-8")


def whole(diagnosis: Diagnosis, command: str, recommended: Sequence[str] = ()) -> str:
    """The page."""
    drawn = pictures(diagnosis)
    words, kind = BADGES[diagnosis.overall]
    source = Path(str(diagnosis.settings.get("source", ""))).name or "a log"
    title = f"Does it wear out? {printable(source)}"
    body = [
        f"<h1>{escape(title)}</h1>",
        f'<p class="badge {kind}">{escape(words)}</p>',
        f'<p class="verdict">{escape(diagnosis.headline)}</p>',
        _short_answers(diagnosis),
    ]
    for name in codes.PARTS:
        if name in diagnosis.parts:
            body.append(_section(diagnosis[name], drawn.get(name, [])))
            if name == "shape" and diagnosis.arms()[1]:
                heads, rows = diagnosis.arms()
                body += [Table(heads, rows).html(), f'<p class="note">{ARMS_NOTE}</p>']
    body += [
        *_next(diagnosis, recommended),
        *_caveats(diagnosis),
        "<h2>How this page was made</h2>",
        f"<pre><code>{escape(printable(command))}</code></pre>",
        '<p class="note">The figures behind this page are in diagnosis.json beside it. In Python: '
        "<code>rotting.logs.diagnose</code>.</p>",
    ]
    return html.page(title, body, STYLE)


def _short_answers(diagnosis: Diagnosis) -> str:
    rows = [
        [diagnosis[name].title, short(diagnosis, name)]
        for name in _ASKED
        if name in diagnosis.parts
    ]
    return Table([Column("question", "prose"), Column("short answer", "prose")], rows).html()


def _section(part: Part, drawn: Sequence[Picture]) -> str:
    text = f"<div><p>{escape(printable(part.verdict))}</p>{_small_print(part)}</div>"
    if len(drawn) > 1:
        several = "".join(_figure(each) for each in drawn)
        note = (
            '<p class="note">What each showing is worth of the first, with a 95 % band. Groups of '
            "showings are made so that each has at least 60 rows; the first panel is all arms "
            "together.</p>"
        )
        inside = f'<div class="part">{text}</div><div class="several">{several}</div>{note}'
    elif drawn:
        inside = f'<div class="part drawn">{text}{_figure(drawn[0])}</div>'
    else:
        inside = f'<div class="part">{text}</div>'
    return f"<h2>{escape(part.title)}</h2>\n{inside}"


def _figure(each: Picture) -> str:
    title = f"<h3>{escape(printable(each.title))}</h3>" if each.title else ""
    note = f'<p class="note">{escape(each.caption)}</p>' if each.caption else ""
    about = escape(printable(each.about))
    return (
        f'<div class="picture">{title}<figure role="img" aria-label="{about}">{each.svg}</figure>'
        f"{note}</div>"
    )


def _small_print(part: Part) -> str:
    """Method, assumption, p-value and interval; nothing for a question that was not tested."""
    if part.method == "not asked":
        return ""
    rows = []
    if part.p_value is not None:
        rows.append(("Evidence", f"{p_text(part.p_value)}{_interval(part)}"))
    rows += [("Method", part.method), ("Assumes", part.assumption)]
    inside = "".join(
        f"<dt>{name}:</dt><dd>{escape(printable(text))}.</dd>" for name, text in rows if text
    )
    return f'<dl class="fine">{inside}</dl>'


def _interval(part: Part) -> str:
    if part.interval is None or part.estimate is None:
        return ""
    low, high = part.interval
    return f"; estimate {part.estimate:.3g}, 95 % interval {low:.3g} to {high:.3g}"


def _next(diagnosis: Diagnosis, recommended: Sequence[str]) -> list[str]:
    steps = next_steps(diagnosis, recommended)
    return [
        "<h2>What to do next</h2>",
        *(f"<p>{escape(each)}</p>" for each in steps.sentences),
        f"<pre><code>{escape(chr(10).join(steps.lines))}</code></pre>",
        '<p class="note">What that would have earned on this log: <code>rotting replay</code>. A '
        "simulation of this log to try policies on: <code>rotting fit</code>.</p>",
    ]


def _caveats(diagnosis: Diagnosis) -> list[str]:
    """The log's problems, and the column of each role."""
    lines = ["<h2>What to keep in mind</h2>"]
    if diagnosis.problems:
        lines.append("<p>The log has problems. Nothing was changed:</p><ul>")
        lines += [f"<li>{_problem(each)}</li>" for each in diagnosis.problems]
        lines.append("</ul>")
    else:
        lines.append("<p>No problems were found in the log.</p>")
    lines.append("<p>The columns were read as follows:</p><ul>")
    lines += [f"<li>{escape(printable(note))}</li>" for note in diagnosis.notes]
    lines.append("</ul>")
    alpha, smallest = diagnosis.settings["alpha"], diagnosis.settings["smallest"]
    lines.append(
        f"<p>The level of all tests together is {100.0 * alpha:g} % (Holm's correction). "
        f"&ldquo;Does not wear out&rdquo; is said only if a fall of {100.0 * smallest:g} % is "
        "excluded. A verdict rests on the assumption below it; an experiment rests on less.</p>"
    )
    return lines


def _problem(each: Problem) -> str:
    examples = "; ".join(printable(one) for one in each.examples)
    more = f' <span class="note">({escape(examples)})</span>' if examples else ""
    return f"{escape(sentence(printable(each.sentence)))}{more}"
