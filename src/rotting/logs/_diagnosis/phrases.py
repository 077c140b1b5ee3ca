"""Figures and texts as parts of sentences."""

from __future__ import annotations


def percent(part: float, digits: int = 0) -> str:
    """A part as per cent.

    >>> percent(0.253)
    '25 %'
    """
    return f"{100.0 * part:.{digits}f} %"


def sentence(text: str) -> str:
    """The text with a capital and a full stop.

    >>> sentence("there is one arm only")
    'There is one arm only.'
    """
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")


def p_text(value: float) -> str:
    """A p-value in words.

    >>> p_text(0.00001), p_text(0.0312)
    ('p < 0.001', 'p = 0.031')
    """
    return "p < 0.001" if value < 0.001 else f"p = {value:.3f}"
