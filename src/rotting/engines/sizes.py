"""What an experiment will take of this machine's memory, worked out before it is begun.

Results and tables have known shapes. What a policy takes is found by trying: `prepare` and `init`
at small sizes, larger ones while that is cheap, and a straight line from the last two. A policy
that remembers a fixed number of rewards is told from one that remembers all of them this way.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from rotting import checks, memory
from rotting.bandits import Gaussian, Scenario
from rotting.bandits.world import NUMBER
from rotting.engines.plan import CHUNK_TABLES, MOST_DECISIONS, Plan
from rotting.policies.base import Policy
from rotting.policies.oracle import Oracle
from rotting.state import leaves

DEVICE_ROUNDS = 2**31 - 1  # a GPU counts in 32 bits
_TRIED = 1 << 16  # horizons up to here are cheap to prepare: nothing is tried beforehand
_TRIFLE = 1 << 24  # bytes; for less, asking the system would take longer than it is worth
_STEP = 4  # how much larger the next size is that is tried
_SHOWN, _LEFT = 4, 4  # bytes: counts by key and key numbers, and what is left of counts, in 32 bits
_DRAWN = 4  # arrays of numbers, one a round, from which a run's arrivals are made
_PER_RUN = 2  # numbers of a run that are neither at a checkpoint nor of an arm


class Sizes(NamedTuple):
    """Bytes, by what they are for."""

    results: int  # what is given back
    tables: int  # means and sums, up to the horizon
    policy: int  # a policy's tables and what it remembers, in every thread
    audience: int = 0  # what every key was shown, who comes when, and keys' factors


def check(
    policies: Iterable[Any],
    scenario: Scenario,
    runs: Any,
    checkpoints: Any = 100,
    *,
    engine: str = "cpu",
    threads: int = 1,
    summed_up: bool = False,
) -> None:
    """Refuse what would not fit into memory: ValueError with what it takes and what to change.

    `checkpoints` are how many, or the rounds. Results of all policies are counted together, for
    they are kept; of the rest what the greediest policy takes. `summed_up`: standard errors will
    be asked for, which take as much as one result again.
    """
    runs = checks.integer("runs", runs, 1, checks.EXACT)
    kept = checkpoint_count(checkpoints, scenario.horizon)
    if engine == "cuda":
        checks.integer("horizon with engine 'cuda'", scenario.horizon, 1, DEVICE_ROUNDS)
    listed = list(policies)
    results = (len(listed) + summed_up) * result_bytes(runs, kept, scenario.arm_count)
    audience = audience_bytes(scenario, runs, threads)
    known = Sizes(results, table_bytes(scenario, runs, threads), 0, audience)
    if sum(known) < _TRIFLE and scenario.horizon <= _TRIED:
        return
    left = memory.available()
    if left is None:
        return
    _fit(known, left, len(listed), scenario, runs, kept)
    if scenario.horizon > _TRIED:
        for policy in listed:
            if isinstance(policy, Policy):
                taken = policy_bytes(policy, scenario, threads, left)
                _fit(known._replace(policy=taken), left, len(listed), scenario, runs, kept)


def check_plan(plan: Plan, threads: int) -> None:
    """The same for a policy that is prepared already: tables are made, and its size is known."""
    runs, kept = plan.request.runs, plan.request.checkpoints.size
    results = result_bytes(runs, kept, plan.scenario.arm_count)
    taken = Sizes(results, 0, _state_bytes(plan.fresh, threads))
    left = None if sum(taken) < _TRIFLE else memory.available()
    if left is not None:
        _fit(taken, left, 1, plan.scenario, runs, kept)


def checkpoint_count(checkpoints: Any, horizon: int) -> int:
    """How many rounds the regret is kept at; the rounds themselves are not made."""
    if np.ndim(checkpoints) == 0:
        return min(checks.integer("checkpoints", checkpoints, least=1), horizon)
    return int(np.size(checkpoints))


def result_bytes(runs: int, checkpoints: int, arms: int) -> int:
    """The arrays of a `Result`."""
    return runs * (checkpoints + arms + _PER_RUN) * NUMBER


def table_bytes(scenario: Scenario, runs: int, threads: int) -> int:
    """Tables of means and sums when they are made, of a changing sigma, and of who is open when."""
    noise, row = scenario.noise, scenario.horizon * NUMBER
    changing = row if isinstance(noise, Gaussian) and callable(noise.sigma) else 0
    models = scenario.model_count
    if models is None:
        most = scenario.runs_a_chunk(max(1, CHUNK_TABLES // threads))
        models, row = scenario.arm_count * min(runs, most), scenario.longest * NUMBER
    else:
        threads = 1
    events = (2 * len(scenario.openings or ()) + 1) * scenario.arm_count * NUMBER
    # sums are made unpadded, then padded; the means of one model need pull numbers and a check
    return threads * row * max(3 * models, models + 3) + changing + events


def audience_bytes(scenario: Scenario, runs: int, threads: int) -> int:
    """What every key was shown: really, to pi_max and to the policy; and who comes, with factors.

    Policies and pi_max have their counts as they begin, and twice in every thread (`image.Image`),
    one of them at a time. Every policy is taken to count by key, as those for audiences do.
    """
    audience = scenario.crowd
    if audience is None:
        return 0
    a_key = scenario.arm_count * _SHOWN
    if audience.rest is not None:
        a_key += scenario.arm_count * _LEFT + NUMBER  # and when the key was met last
    counts = (2 + 3 * threads) * audience.keys * a_key
    together = min(runs, scenario.runs_a_chunk(max(1, CHUNK_TABLES // threads)))
    factors = 0 if audience.factors is None else together * audience.keys * NUMBER
    chances = 0 if audience.scheduled else audience.keys * NUMBER  # summed up, of Zipf's law
    arrivals = min(runs * scenario.horizon, max(scenario.horizon, MOST_DECISIONS)) * _SHOWN
    # a run's arrivals are made of random numbers in 64 bits
    return counts + threads * (factors + chances + arrivals + _DRAWN * scenario.horizon * NUMBER)


def policy_bytes(policy: Policy, scenario: Scenario, threads: int, left: int) -> int:
    """What a policy takes at the scenario's horizon, by what it takes at smaller ones.

    Larger ones are tried only if it would not fit by those tried so far, and while they are small
    against what is left.
    """
    if isinstance(policy, Oracle):
        return 0  # it reads the scenario's tables
    horizon = scenario.horizon
    size = _TRIED // _STEP
    before = _tried(policy, scenario, size, threads)
    while True:
        size *= _STEP
        now = _tried(policy, scenario, size, threads)
        wanted = now + (now - before) * (horizon - size) // (size - size // _STEP)
        if wanted <= left or size * _STEP >= horizon or now * _STEP > left // 2:
            return max(0, wanted)
        before = now


def _tried(policy: Policy, scenario: Scenario, size: int, threads: int) -> int:
    params = policy.prepare(scenario.first_arms, scenario.horizon, size)
    fresh = policy.verbs.init(params, scenario.arm_count, size)
    return _bytes(params) + _state_bytes(fresh, threads)


def _state_bytes(fresh: Any, threads: int) -> int:
    """A policy's state as it begins, and twice the same in every thread (`image.Image`)."""
    return (1 + 2 * threads) * _bytes(fresh)


def _bytes(parts: Any) -> int:
    values = (leaf.value for leaf in leaves(parts))
    return sum(value.nbytes for value in values if isinstance(value, np.ndarray))


def _fit(
    sizes: Sizes, left: int, policies: int, scenario: Scenario, runs: int, checkpoints: int
) -> None:
    if sum(sizes) <= left:
        return
    times = f"{policies} times " if policies > 1 else ""
    largest = max(Sizes._fields, key=lambda name: getattr(sizes, name))
    name, what, change = {
        "results": (
            "runs",
            f"the results of {times}{runs:,} runs at {checkpoints:,} checkpoints",
            "fewer runs" if checkpoints == 1 else "fewer runs or checkpoints",
        ),
        "tables": (
            "horizon",
            f"the means of all pulls up to the horizon of {scenario.horizon:,}",
            "a shorter horizon or fewer different arms",
        ),
        "audience": (
            "keys",
            f"what {scenario.crowd.keys if scenario.crowd else 1:,} keys were shown, and who comes "
            "when,",
            "fewer keys, arms or threads",
        ),
        "policy": (
            "horizon",
            f"what the policy keeps over {scenario.horizon:,} rounds",
            "a shorter horizon, fewer threads or a policy that remembers less",
        ),
    }[largest]
    most, all_of_it = memory.shown(getattr(sizes, largest)), memory.shown(sum(sizes))
    total = "" if most == all_of_it else f", {all_of_it} with all else,"
    raise ValueError(
        f"{name} must fit into memory: {what} would take about {most}{total} "
        f"and {memory.shown(left)} are left; take {change}"
    )
