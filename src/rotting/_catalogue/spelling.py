"""Names as a paper spells them: D-CTO_UCB is dcto_ucb, D-CTO_SIM-UCB is dcto, NP non_parametric.

Case, hyphens, underscores, spaces and LaTeX marks around a subscript are ignored.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable

from rotting import papers


def spelt(name: str, names: Iterable[str]) -> str:
    """The one of `names` that `name` spells; `name` itself if that is none or several.

    >>> spelt("D-CTO_{UCB}", ["cto", "dcto", "dcto_ucb"]), spelt("NP", ["av", "non_parametric"])
    ('dcto_ucb', 'non_parametric')
    >>> spelt("wsaw", ["wswa"])
    'wsaw'
    """
    known = list(names)
    if name in known:
        return name
    meant = _of_papers().get(_folded(name))
    if meant in known:
        return str(meant)
    same = [each for each in known if _folded(each) == _folded(name)]
    return same[0] if len(same) == 1 else name


def _folded(name: str) -> str:
    r"""The letters and digits of a name, in lower case.

    >>> _folded(r"D-CTO$_{\mathrm{SIM-UCB}}$")
    'dctosimucb'
    """
    plain = re.sub(r"\\[A-Za-z]+", "", str(name))
    return re.sub(r"[^a-z0-9]", "", plain.lower())


@functools.cache
def _of_papers() -> dict[str, str]:
    """Names by their folded spelling in papers, where that differs."""
    return {
        _folded(theirs): ours
        for paper in papers.names()
        for theirs, ours in papers.find(paper).spellings.items()
    }
