"""Formulas of the pages: every one becomes MathML, without LaTeX left over."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from latex2mathml.converter import convert

ROOT = Path(__file__).parents[1]
CODE = re.compile(r"```.*?```|`[^`]*`", re.DOTALL)
BLOCK = re.compile(r"\$\$(.+?)\$\$", re.DOTALL)
INLINE = re.compile(r"\$([^$\n]+)\$")
PAGES = [page for page in sorted((ROOT / "docs").rglob("*.md")) if "$" in page.read_text()]


def formulas(text: str) -> tuple[list[str], str]:
    """The formulas of a page, and what is left without them and without code."""
    text = CODE.sub("", text)
    found = BLOCK.findall(text)
    text = BLOCK.sub("", text)
    return found + INLINE.findall(text), INLINE.sub("", text)


def left_over(latex: str) -> list[str]:
    r"""Commands unknown to the converter: it shows them as they are written.

    >>> left_over(r"\arg\min_x f(x)")
    ['\\arg']
    """
    return re.findall(r"\\\w+", str(convert(latex)))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_formulas_can_be_shown(page: Path) -> None:
    found, rest = formulas(page.read_text())
    assert "$" not in rest, "a formula that does not end, or in two lines"
    for latex in found:
        assert not left_over(latex), latex
        assert not re.search(r"(?<!\\)\|", latex), f"a bar would end a table's cell: {latex}"


def test_what_cannot_be_shown_is_noticed() -> None:
    assert left_over(r"\arg\min_x f(x)") == [r"\arg"]
    assert not left_over(r"\left\lvert \frac{1}{2} \right\rvert")
    assert formulas("`$a$` $b$ and $$c$$")[0] == ["c", "b"]
