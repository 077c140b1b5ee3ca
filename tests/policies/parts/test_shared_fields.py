"""States that work on shared pieces hold their fields."""

from __future__ import annotations


def test_shared_fields_come_first() -> None:
    """States that work on shared pieces begin with their fields, in order."""
    from rotting.policies import dcto, dcto_ucb, swa, wswa
    from rotting.policies.parts import halves, window

    for module in (dcto, dcto_ucb):
        assert module.State._fields[: len(halves.Halves._fields)] == halves.Halves._fields
    for module in (swa, wswa):
        assert module.State._fields[: len(window.Window._fields)] == window.Window._fields
