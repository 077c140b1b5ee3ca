r"""Mathematics of the pages, as MathML: browsers show it without a script, and without a network.

Pages have \(...\) in `span` and \[...\] in `div` elements of the class arithmatex, which
pymdownx.arithmatex makes of $...$ and $$...$$.
"""

from __future__ import annotations

import html
import re

from latex2mathml.converter import convert

NAMED = re.compile("<mi>(ln|log|exp)</mi>")  # functions, which TeX sets apart from what follows
PARENTHESIS = re.compile("(<mrow>)?<mo[^>]*>&#x00028;")
FORMULA = re.compile(r'<(span|div) class="arithmatex">\\([(\[])(.*?)\\[)\]]</\1>', re.DOTALL)


def shown(page: str) -> str:
    r"""The page, its formulas turned into MathML.

    >>> text = shown('<p><span class="arithmatex">\\(\\mu_i\\)</span></p>')
    >>> "<mi>&#x003BC;</mi>" in text, "arithmatex" in text
    (True, False)
    """

    def made(found: re.Match[str]) -> str:
        latex = html.unescape(found.group(3)).strip()
        return spaced(convert(latex, display="block" if found.group(2) == "[" else "inline"))

    return FORMULA.sub(made, page)


def spaced(made: str) -> str:
    """The formula with room about its functions: "c ln t", where the converter has "clnt".

    >>> spaced("<mi>c</mi><mi>ln</mi><mi>t</mi>")
    '<mi>c</mi><mo form="prefix" lspace="0.167em" rspace="0.167em">ln</mo><mi>t</mi>'
    >>> spaced('<mi>exp</mi><mo stretchy="false">&#x00028;</mo>')
    '<mo form="prefix" lspace="0.167em" rspace="0em">exp</mo><mo stretchy="false">&#x00028;</mo>'
    """

    def operator(found: re.Match[str]) -> str:
        after = "0em" if PARENTHESIS.match(made, found.end()) else "0.167em"
        return f'<mo form="prefix" lspace="0.167em" rspace="{after}">{found.group(1)}</mo>'

    return NAMED.sub(operator, made)
