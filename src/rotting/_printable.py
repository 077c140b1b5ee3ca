"""Text that is safe to print: a name must neither move the cursor nor reverse what follows."""

from __future__ import annotations

import unicodedata

# control characters (C0, DEL, C1), line and paragraph separators, and halves of surrogate pairs,
# which cannot be encoded; and the invisible characters that change the direction of writing
_UNSAFE = ("Cc", "Zl", "Zp", "Cs")
_TURNING = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def printable(text: str) -> str:
    r"""The text with unsafe characters escaped as in Python's repr.

    >>> printable("\x1b[2Jred \u202egreen")
    '\\x1b[2Jred \\u202egreen'
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_shown(character) for character in text)


def _shown(character: str) -> str:
    if character in _TURNING or unicodedata.category(character) in _UNSAFE:
        return character.encode("unicode_escape").decode("ascii")
    return character
