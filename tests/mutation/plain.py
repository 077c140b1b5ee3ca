"""Everything in plain Python: a mutant that had to be compiled would take a minute, not a second.

The engines run the same functions (tests/engines/test_same_bits.py), so that a fault which the
reference engine shows is one that the compiled engine has too.
"""

from __future__ import annotations

from typing import Any


class PlainStepper:
    """What `Stepper` is to a player, without a compiler: the block is the arrays themselves."""

    def __init__(self, params: Any, state: Any, draw: Any, turn: Any) -> None:
        self.block = params, state, draw, turn

    def moved(self, params: Any, state: Any, draw: Any, turn: Any) -> PlainStepper:
        """The same with other arrays: a player has grown."""
        return PlainStepper(params, state, draw, turn)

    def decide(self, block: Any) -> int:
        """One decision."""
        from rotting.engines import steps

        return int(steps.decide(*block))

    def learn(self, block: Any, arm: int, pull: int, reward: float) -> None:
        """One reward."""
        from rotting.engines import steps

        params, state, _, turn = block
        steps.learn(params, state, turn, arm, pull, reward)


def install() -> None:
    """From now on the cpu engine is the reference engine, and players are not compiled."""
    from rotting.engines.compiled import stepper
    from rotting.experiments import simulation

    engine = simulation._engine
    simulation._engine = lambda name, threads: engine(
        "reference" if name == "cpu" else name, threads
    )
    stepper.Stepper = PlainStepper  # type: ignore[assignment,misc]
