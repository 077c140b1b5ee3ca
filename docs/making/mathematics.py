r"""Mathematics of the pages, as MathML: browsers show it without a script, and without a network.

Pages have \(...\) in `span` and \[...\] in `div` elements of the class arithmatex, which
pymdownx.arithmatex makes of $...$ and $$...$$.
"""

from __future__ import annotations

import html
import re

from latex2mathml.converter import convert

FORMULA = re.compile(r'<(span|div) class="arithmatex">\\([(\[])(.*?)\\[)\]]</\1>', re.DOTALL)


def shown(page: str) -> str:
    r"""The page, its formulas turned into MathML.

    >>> text = shown('<p><span class="arithmatex">\\(\\mu_i\\)</span></p>')
    >>> "<mi>&#x003BC;</mi>" in text, "arithmatex" in text
    (True, False)
    """

    def made(found: re.Match[str]) -> str:
        latex = html.unescape(found.group(3)).strip()
        return str(convert(latex, display="block" if found.group(2) == "[" else "inline"))

    return FORMULA.sub(made, page)
