"""The paper's theory as functions. So far: Ddet, from which D-CTO_UCB takes its exploration."""

from rotting.theory.detection import ddet, ddet_star

__all__ = ["ddet", "ddet_star"]
