"""Everything in plain Python: a mutant that had to be compiled would take a minute, not a second.

The engines run the same functions (tests/engines/test_same_bits.py), so that a fault which the
reference engine shows is one that the compiled engine has too.
"""

from __future__ import annotations

from typing import Any


def install() -> None:
    """From now on the cpu engine is the reference engine, and players are not compiled."""
    from rotting._experiments import simulation
    from rotting._online.core import Core

    engine = simulation._engine
    simulation._engine = lambda name, threads: engine(
        "reference" if name == "cpu" else name, threads
    )
    begin = Core.begin

    def begin_plainly(core: Any, *parts: Any) -> None:
        core.compiled = False
        begin(core, *parts)

    Core.begin = begin_plainly  # type: ignore[assignment,method-assign]
