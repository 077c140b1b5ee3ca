"""A policy's state at the end of a run, and the curves it has learnt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from rotting import _checks
from rotting._engines.plan import Request, empty_outcome, loops_of, prepare, run_chunk, with_tables
from rotting.bandits import Arm, RandomArms, Scenario
from rotting.kernel import random
from rotting.kernel.arrays import FloatArray
from rotting.kernel.verbs import curve
from rotting.policies._base import Policy
from rotting.theory._caps import Cap, caps_of

_SHOWINGS = (8, 30)  # the least and the most showings of a curve


class Final(NamedTuple):
    """A policy at the end of a run, and the arms that it played."""

    params: Any
    state: Any
    arms: tuple[Arm, ...]


class Curve(NamedTuple):
    """An arm's means over its showings to one user, from the first: true and estimated.

    The estimate is None where the policy has none, `low` and `high` also where it has no band.
    """

    arm: int
    truth: FloatArray
    estimate: FloatArray | None
    low: FloatArray | None
    high: FloatArray | None
    cap: Cap | None  # by the estimates, when play turns to another arm


class Learnt(NamedTuple):
    """The curves of a scenario's first run, with the policy's estimates at its end."""

    policy: str  # its name
    curves: Sequence[Curve]

    @property
    def kept(self) -> bool:
        """Whether the policy has any estimate."""
        return any(curve.estimate is not None for curve in self.curves)


def final_state(
    policy: Policy,
    scenario: Scenario,
    *,
    seed: int = 0,
    run: int = 0,
    noise: str = "common",
    compiled: bool = True,
) -> Final:
    """The policy's state at the end of one run, the one that `simulate` plays with these arguments.

    >>> from rotting import Bernoulli, models, policies
    >>> scenario = Scenario([Arm(models.Constant(0.9)), Arm(models.Constant(0.1))], Bernoulli(), 50)
    >>> int(final_state(policies.UCB1(), scenario, compiled=False).state.arms.pulls.sum())
    50
    """
    if not isinstance(policy, Policy):
        raise ValueError(f"policy must be a rotting Policy, got {policy!r}")
    run = _checks.integer("run", run, least=0)
    times = np.array([scenario.horizon], dtype=np.int64)
    seed = int(random.seed_word(seed))
    plan = prepare(Request(policy, scenario, seed, noise, times, run, 1))
    outcome = empty_outcome(1, 1, scenario.arm_count)
    stop = np.zeros(1, dtype=np.int64)
    loops: Any = loops_of(plan)
    if compiled:
        from rotting._engines import cpu  # late, because compilers are slow to import
        from rotting._engines.compiled.compiler import first_call

        loops = cpu.compiled_loops(plan)
        with first_call(plan.params):
            state = run_chunk(loops, plan, 0, 1, outcome, stop, clear_all=True)
    else:
        state = run_chunk(loops, plan, 0, 1, outcome, stop, clear_all=True)
    drawn = isinstance(scenario.arms, RandomArms)
    arms = scenario.arms.arms(seed, run) if drawn else scenario.arms  # type: ignore[union-attr]
    world = scenario.chunk(seed, run, run + 1)[0]
    return Final(with_tables(plan.params, world), state, tuple(arms))  # type: ignore[arg-type]


def showings_of(final: Final) -> int:
    """The length of useful curves: the most showings of an arm to one user, from 8 to 30."""
    arms = getattr(final.state, "arms", None)
    shown = getattr(getattr(arms, "exposure", None), "counts", None)  # if it counts by user
    least, most = _SHOWINGS
    return most if shown is None else int(np.clip(shown.max(), least, most))


def curves_of(final: Final, showings: int | None = None) -> list[Curve]:
    """The curve of every arm, true and as the policy estimates it."""
    showings = _checks.integer("showings", showings or showings_of(final), least=1)
    numbers = np.arange(1, showings + 1)
    truth = np.array([arm.mean(numbers) for arm in final.arms])
    beliefs = [_beliefs(final, arm, showings) for arm in range(len(final.arms))]
    known = {arm: found[0] for arm, found in enumerate(beliefs) if found[0] is not None}
    caps = dict(zip(known, caps_of(np.array(list(known.values()))) if known else (), strict=True))
    return [Curve(arm, truth[arm], *beliefs[arm], caps.get(arm)) for arm in range(len(beliefs))]


_Band = tuple[FloatArray | None, FloatArray | None, FloatArray | None]


def _beliefs(final: Final, arm: int, showings: int) -> _Band:
    found = [curve(final.params, final.state, arm, pull) for pull in range(1, showings + 1)]
    known = [belief for belief in found if belief is not None]
    if len(known) < len(found):
        return None, None, None
    estimate = np.array([belief.estimate for belief in known])
    return estimate, _end([b.low for b in known]), _end([b.high for b in known])


def _end(values: Sequence[float | None]) -> FloatArray | None:
    """One end of a band; None if a showing has none."""
    known = [value for value in values if value is not None]
    return np.array(known) if len(known) == len(values) else None
