"""Our docstrings as Markdown, for the pages of the API (an extension of Griffe).

They are written to be read in a terminal: arguments below "Args:", or as two columns, examples as
doctests, formulas indented. Markdown would run lines together and take ">>>" for a quotation.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

SECTIONS = {
    "Args:": "Arguments",
    "Attributes:": "Attributes",
    "Returns:": "Returns",
    "Raises:": "Raises",
    "Yields:": "Yields",
}
NAMED = re.compile(r"^(\*{0,2}[A-Za-z_][\w, *]*): (.*)$")
ITEM = re.compile(r"^(\*{0,2}[a-z_]\w*(?:, \w+)*)(  +)(\S.*)$")


class Docstrings(griffe.Extension):  # type: ignore[misc]  # it has no types for us
    """Every docstring is tidied when it is read."""

    def on_object(self, *, obj: Any, **kwargs: Any) -> None:
        """Tidy the docstring of a class, a function, a module or an attribute."""
        if obj.docstring:
            obj.docstring.value = tidy(obj.docstring.value)


def tidy(text: str) -> str:
    """Columns become a list, doctests a block of code; everything else stays.

    >>> print(tidy("Play.\\n\\nruns  how many\\n      there are\\nseed  any"))
    Play.
    <BLANKLINE>
    - **runs**: how many there are
    - **seed**: any
    >>> print(tidy("Play.\\n\\nRaises:\\n    ValueError: Runs are\\n        below 1."))
    Play.
    <BLANKLINE>
    **Raises**
    <BLANKLINE>
    - **ValueError**: Runs are below 1.
    >>> tidy(">>> 1 + 1\\n2")
    '```pycon\\n>>> 1 + 1\\n2\\n```'
    """
    return "\n\n".join(_tidy_block(block) for block in re.split(r"\n\s*\n", text.strip("\n")))


def _tidy_block(block: str) -> str:
    lines = block.splitlines()
    if lines[0] in SECTIONS:
        return f"**{SECTIONS[lines[0]]}**\n\n{_tidy_section(lines[1:])}"
    if lines[0].startswith(">>>"):
        return "\n".join(["```pycon", *lines, "```"])
    found: list[str] = []
    column = 0  # where the second column begins; 0 outside of a list
    for line in lines:
        item = ITEM.match(line)
        if item and column in (0, item.start(3)):
            if not column and found:
                found.append("")
            column = item.start(3)
            found.append(f"- **{item.group(1)}**: {item.group(3)}")
        elif column and len(line) - len(line.lstrip()) >= min(column, 2):
            found[-1] += " " + line.strip()
        else:
            if column:
                found.append("")
            column = 0
            found.append(line)
    return "\n".join(found)


def _tidy_section(lines: list[str]) -> str:
    """Indented entries "name: what", with further lines below, as a list; other text as it is.

    >>> print(_tidy_section(["    runs: How many", "        there are.", "    seed: Any."]))
    - **runs**: How many there are.
    - **seed**: Any.
    """
    indent = min((len(line) - len(line.lstrip()) for line in lines), default=0)
    found: list[str] = []
    for line in lines:
        named = NAMED.match(line[indent:])
        if named:
            found.append(f"- **{named.group(1)}**: {named.group(2)}")
        elif found:
            found[-1] += f" {line.strip()}"
        else:
            found.append(line.strip())
    return "\n".join(found)
