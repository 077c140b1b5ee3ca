"""Tables in LaTeX: plain tabular, no package needed."""

from __future__ import annotations

from collections.abc import Sequence

from rotting._printable import printable

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"$<$",
    ">": r"$>$",
    **{sign: "\\" + sign for sign in "&%$#_{}"},
}


def escaped(text: str) -> str:
    """A text as LaTeX prints it.

    >>> print(escaped("wSWA_2 & 95 %"))
    wSWA\\_2 \\& 95 \\%
    """
    return "".join(_SPECIAL.get(sign, sign) for sign in printable(text))


def tabular(
    columns: str,
    header: Sequence[str],
    groups: Sequence[Sequence[Sequence[str]]],
    about: Sequence[str] = (),
) -> str:
    """A table whose cells are LaTeX already: groups of rows with a line below each.

    `columns` are tabular's letters, `about` becomes comments above it.
    """
    lines = [
        *(f"% {line}" for line in about),
        rf"\begin{{tabular}}{{{columns}}}",
        r"\hline",
        " & ".join(header) + r" \\ \hline",
    ]
    for rows in groups:
        lines += [" & ".join(row) + r" \\" for row in rows]
        lines.append(r"\hline")
    lines.append(r"\end{tabular}")
    return "\n".join(lines) + "\n"
