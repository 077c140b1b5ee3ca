"""The documents as tests see them: pages, and the pieces of code in each."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
SITE = [page for page in sorted(DOCS.rglob("*.md")) if DOCS / "making" not in page.parents]
PAGES = [*sorted(ROOT.glob("*.md")), *SITE]
SERVING = [DOCS / "guides" / f"serving{part}.md" for part in ("", "-operation", "-security")]

_FENCE = re.compile(r" *(`{3,}|~{3,})(.*)")
_HOLDS = re.compile(r"([-*+]|\d+\.) |===|!!!|\?\?\?")  # what follows, indented, belongs to it
_INDENT = 4  # spaces that make code of a line without a fence


class Block(NamedTuple):
    """A piece of code in a page: its language, the text before and after it, and its line."""

    language: str
    text: str
    before: str
    after: str
    line: int


class _Span(NamedTuple):
    first: int  # the lines of the two fences, from 0
    last: int
    language: str


def name_of(page: Path) -> str:
    """A page's path from the root of the repository."""
    return page.relative_to(ROOT).as_posix()


def blocks(text: str) -> list[Block]:
    """All code in fences, in order, less the indentation of the fence."""
    lines = text.splitlines(keepends=True)
    spans = _spans(lines)
    ends = [0, *(span.last + 1 for span in spans)]
    starts = [*(span.first for span in spans), len(lines)]
    said = ["".join(lines[a:b]) for a, b in zip(ends, starts, strict=True)]
    return [
        Block(
            span.language,
            textwrap.dedent("".join(lines[span.first + 1 : span.last])),
            said[place],
            said[place + 1],
            span.first + 1,
        )
        for place, span in enumerate(spans)
    ]


def _spans(lines: list[str]) -> list[_Span]:
    found: list[_Span] = []
    begun, mark, language = -1, "", ""
    for number, line in enumerate(lines):
        fence = _FENCE.fullmatch(line.rstrip("\n"))
        if fence and begun < 0:
            begun, mark, language = number, fence[1], fence[2].strip()
        elif fence and fence[1].startswith(mark) and not fence[2].strip():
            found.append(_Span(begun, number, language))
            begun = -1
    assert begun < 0, f"the fence in line {begun + 1} does not end"
    return found


def lines_without_fence(text: str) -> list[int]:
    """Lines that are code only by their indentation, which does not say what they are."""
    lines = text.splitlines(keepends=True)
    for span in _spans(lines):
        lines[span.first : span.last + 1] = ["\n"] * (span.last + 1 - span.first)
    found, holder = [], ""
    for number, line in enumerate(lines):
        indent = len(line) - len(line.lstrip(" "))
        if not line.strip():
            continue
        if indent == 0:
            holder = line
        least = 2 * _INDENT if _HOLDS.match(holder) else _INDENT
        if indent >= least and (number == 0 or not lines[number - 1].strip()):
            found.append(number + 1)
    return found
