"""A diagnosis: does it rot, could that be selection, use or calendar, does rest help, what cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rotting._table import Table
from rotting.logs._diagnosis.codes import BOTH as BOTH
from rotting.logs._diagnosis.codes import CALENDAR as CALENDAR
from rotting.logs._diagnosis.codes import CODES as CODES
from rotting.logs._diagnosis.codes import PARTS as PARTS
from rotting.logs._diagnosis.codes import RECOVERS as RECOVERS
from rotting.logs._diagnosis.codes import ROTS as ROTS
from rotting.logs._diagnosis.codes import STAYS as STAYS
from rotting.logs._diagnosis.codes import UNKNOWN as UNKNOWN
from rotting.logs._diagnosis.phrases import percent
from rotting.logs._log import Problem

_TITLES = {
    "contents": "What is in the log",
    "exposure": "Does the reward fall with exposure?",
    "selection": "Could that be selection?",
    "calendar": "Is it use, or the calendar?",
    "recovery": "Does rest bring it back?",
    "shape": "What shape has the fall?",
    "cost": "What does it cost?",
    "unknown": "What this log cannot tell",
}


@dataclass(frozen=True)
class Part:
    """One question of a diagnosis, with its verdict and the evidence for it.

    Attributes:
        name: "contents", "exposure", "selection", "calendar", "recovery", "shape", "cost" or
            "unknown".
        code: The verdict as a word: "yes", "no", "cannot-tell", ...
        verdict: The verdict in a sentence.
        method: The test or the model.
        assumption: What the verdict assumes.
        p_value: Of the test; None without one.
        estimate: The estimated size, such as the fall as a share of first showings; or None.
        interval: The ends of the estimate's 95 % interval; or None.
        evidence: Further figures, as plain data.
    """

    name: str
    code: str
    verdict: str
    method: str
    assumption: str
    p_value: float | None = None
    estimate: float | None = None
    interval: tuple[float, float] | None = None
    evidence: Mapping[str, Any] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """The question in words."""
        return _TITLES[self.name]

    def as_data(self) -> dict[str, Any]:
        """The part as plain data, for JSON; without its name."""
        return {
            "code": self.code,
            "verdict": self.verdict,
            "p_value": self.p_value,
            "estimate": self.estimate,
            "interval": None if self.interval is None else list(self.interval),
            "method": self.method,
            "assumption": self.assumption,
            "evidence": dict(self.evidence),
        }


@dataclass(frozen=True)
class Diagnosis:
    """The result of `diagnose`: whether and why rewards fall, and what that costs.

    It prints itself, shows itself with pictures in a notebook, and gives a part by its name, as
    `found["exposure"]`.

    Attributes:
        overall: "rots", "does-not-rot", "calendar", "rots-and-calendar", "recovers" or
            "cannot-tell".
        headline: The verdict in a sentence or two.
        parts: The questions in their order, by name, each a `Part`.
        problems: What is odd in the log, each a `Problem`.
        notes: Which column was taken for what.
        settings: The arguments of the call, and the source.
        advice: The experiment that would settle what the log cannot tell; "" if nothing is open.

    >>> from rotting import logs
    >>> log = logs.synthetic("constant", keys=40, exposures=2, seed=1)
    >>> found = logs.diagnose(log)
    >>> list(found.parts)[:3], found["exposure"].title
    (['contents', 'exposure', 'selection'], 'Does the reward fall with exposure?')
    """

    overall: str
    headline: str
    parts: Mapping[str, Part]
    problems: Sequence[Problem]
    notes: Sequence[str]
    settings: Mapping[str, Any]
    advice: str = ""

    def __getitem__(self, name: str) -> Part:
        return self.parts[name]

    def arms(self) -> tuple[list[str], list[list[str]]]:
        """Headings, and a row of texts for each arm with enough rows: level, fall, verdict."""
        rows = self.parts["shape"].evidence.get("arms", [])
        if not rows:
            return [], []
        heads = ["arm", "showings", "first pays", f"showing {rows[0]['at']} of it", "wears out"]
        return heads, [
            [
                row["arm"],
                f"{row['showings']:,}",
                f"{row['first']:.3g}",
                f"{percent(row['worth'])} ({percent(row['low'])} to {percent(row['high'])})",
                row["wears"],
            ]
            for row in rows
        ]

    def as_data(self) -> dict[str, Any]:
        """The diagnosis as plain data: what `rotting diagnose --json` prints."""
        return {
            "overall": self.overall,
            "headline": self.headline,
            **{name: self.parts[name].as_data() for name in PARTS if name in self.parts},
            "advice": self.advice,
            "problems": [problem.as_data() for problem in self.problems],
            "notes": list(self.notes),
            "settings": dict(self.settings),
        }

    def __str__(self) -> str:
        lines = [f"{self.overall}: {self.headline}", ""]
        for name in PARTS:
            if name in self.parts:
                part = self.parts[name]
                lines += [part.title, f"  {part.verdict}"]
                if name == "shape":
                    lines += Table(*self.arms()).text().splitlines()
        if self.advice:
            lines += ["What would settle it", f"  {self.advice}"]
        if self.problems:
            lines += ["Notes on the log", *(f"  {p.sentence}" for p in self.problems)]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """For a notebook: the verdicts and the pictures."""
        from rotting.logs._pages.page import fragment

        return fragment(self)
