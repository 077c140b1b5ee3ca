"""Deprecated names: they warn, and they are removed in time."""

from __future__ import annotations

from importlib import import_module
from pkgutil import walk_packages

import pytest
from packaging.version import Version

import rotting
from rotting._deprecated import DEPRECATIONS, deprecated


def test_a_call_warns_with_the_callers_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rotting._deprecated.DEPRECATIONS", [])

    @deprecated("0.3.0", "0.5.0", "the other one")
    def old(number: int, *, twice: bool = False) -> int:
        """Doubled."""
        return number * (2 if twice else 1)

    with pytest.warns(DeprecationWarning, match="old is deprecated since 0.3.0 .* use the") as seen:
        assert old(3, twice=True) == 6
    assert seen[0].filename == __file__
    assert old.__doc__ == "Doubled."


def test_nothing_stays_longer_than_announced() -> None:
    for module in walk_packages(rotting.__path__, "rotting."):
        if not module.name.startswith(("rotting._engines.cuda", "rotting.__main__")):
            import_module(module.name)
    overdue = [
        each for each in DEPRECATIONS if Version(rotting.__version__) >= Version(each.removed)
    ]
    assert not overdue
