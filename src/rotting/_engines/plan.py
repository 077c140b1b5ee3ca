"""A plan: an experiment prepared as arrays, for engines to play in chunks of runs."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from rotting._engines import foreign
from rotting._engines.audience_loop import (
    AudienceScratch,
    audience_scratch,
    play_audience,
    play_audience_baseline,
)
from rotting._engines.baseline import BASELINES, Baseline, play_baseline
from rotting._engines.loop import (
    CLOSED_ARM,
    NO_SUCH_ARM,
    Events,
    Keys,
    NoEvents,
    Outcome,
    Scratch,
    events_of,
    play,
)
from rotting._engines.state_block import state_block_of
from rotting.bandits import Bandits, Scenario, World
from rotting.kernel import random
from rotting.kernel.arrays import IntArray
from rotting.kernel.state import is_part, kinds
from rotting.policies._base import Policy
from rotting.policies._oracle import Oracle
from rotting.policies.parts.exposures import with_key_counts
from rotting.policies.parts.openings import closable

CHUNK_TABLES = 1 << 28  # the most bytes of tables and factors that belong to a chunk's own runs
MOST_DECISIONS = 2_000_000  # a chunk of several runs: some 50 ms, with negligible overhead


@dataclass(frozen=True)
class Request:
    """Runs of one policy on one scenario: everything that determines their outcome."""

    policy: Any  # a `Policy`, or a user's own object
    scenario: Scenario
    seed: int
    noise: str  # "independent" or "common"
    checkpoints: IntArray
    first_run: int
    runs: int

    @property
    def name(self) -> str:
        """The policy's name, which keys its noise as well.

        The label, not the repr: a parameter added to a policy later leaves its noise as it was.
        """
        if isinstance(self.policy, Policy):
            return self.policy.label
        return type(self.policy).__name__


@dataclass(frozen=True)
class Plan:
    """A prepared request: everything that a chunk of its runs needs."""

    request: Request
    params: Any  # the policy's
    fresh: Any  # the policy's state at the start of a run
    oracle: Any  # pi_max's params
    oracle_fresh: Any  # pi_max's state at the start of a run
    keys: Keys
    world: World | None  # the tables, if all runs share them
    events: Events | NoEvents  # when arms open and close

    @property
    def scenario(self) -> Scenario:
        return self.request.scenario

    def chunk(self, first: int, last: int) -> tuple[World, Bandits]:
        """Tables and bandits of rows first..last-1; for no rows, tables of the right types."""
        start = self.request.first_run + first
        if self.world is not None:
            found = self.scenario.bandits(self.request.seed, start, start + last - first)
            return self.world, found
        world, bandits = self.scenario.chunk(self.request.seed, start, start + max(1, last - first))
        return world, Bandits(*(array[: last - first] for array in bandits))  # type: ignore[arg-type]

    def baseline_key(self, first: int, last: int) -> Hashable:
        """The key of the baseline of rows first..last-1."""
        run = self.request.first_run + first
        if self.scenario.repeats:
            run, last = 0, first + 1
        times = self.request.checkpoints.tobytes()
        return (self.scenario, self.request.seed, run, last - first, times)


def prepare(request: Request) -> Plan:
    """The plan of a request."""
    policy, scenario = request.policy, request.scenario
    events = events_of(scenario)
    if isinstance(events, Events):
        _check_reopens(policy)
    if scenario.crowd is not None:
        check_audience(policy)
    oracle = Oracle()
    oracle_params = oracle.prepare_for(scenario, random_ties=False)
    if isinstance(policy, Policy):
        params = policy.prepare_for(scenario)
        fresh = policy.verbs.init(params, scenario.arm_count, scenario.horizon)
    else:
        params, fresh = foreign.wrap(policy, scenario)
    oracle_fresh = oracle.verbs.init(oracle_params, scenario.arm_count, scenario.horizon)
    if isinstance(events, Events):
        fresh, oracle_fresh = closable(fresh), closable(oracle_fresh)
    if scenario.crowd is not None:
        audience = scenario.crowd
        oracle_fresh = with_key_counts(oracle_fresh, audience.keys, audience.rest)
        if counts_by_key(policy, fresh):
            # pi_max uses the audience's true rest, other policies their own parameter
            oracle_played = isinstance(policy, Oracle)
            rest = audience.rest if oracle_played else getattr(policy, "rest", None)
            fresh = with_key_counts(fresh, audience.keys, rest)
    return Plan(
        request=request,
        params=params,
        fresh=fresh,
        oracle=oracle_params,
        oracle_fresh=oracle_fresh,
        keys=stream_keys(request.seed, request.noise, request.name),
        world=scenario.world() if scenario.shared_tables else None,
        events=events,
    )


def _check_reopens(policy: Any) -> None:
    """Refuse a policy without `set_open` where arms come and go."""
    if not isinstance(policy, Policy):
        raise ValueError(
            "policy must be a rotting Policy where arms come and go (openings of the scenario), "
            f"got {policy!r}"
        )
    if policy.verbs.set_open is None:
        raise ValueError(
            "policy must have the verb set_open where arms come and go, but "
            f"{policy.title} has not; a part `arms: Arms` in its state is enough"
        )


def check_audience(policy: Any) -> None:
    """Refuse a policy that cannot play an audience."""
    reason = getattr(policy, "no_audience", "")
    if reason:
        title = getattr(policy, "title", "it")
        raise ValueError(f"policy must be one that can play an audience, got {title}: {reason}")


def counts_by_key(policy: Any, fresh: Any) -> bool:
    """Whether a policy's state counts by key."""
    if isinstance(policy, Policy):
        return policy.counts_by_key
    return isinstance(fresh, foreign.Visited)


def loops_of(plan: Plan) -> tuple[Callable[..., None], Callable[..., None]]:
    """The loops that play a plan and its baseline, as plain Python."""
    if plan.scenario.crowd is None:
        return play, play_baseline
    return play_audience, play_audience_baseline


def stream_keys(seed: int, noise: str, policy: str) -> Keys:
    """Keys of the reward noise and of a policy's own draws.

    Independent noise depends on the policy's name and parameters, common noise on the seed alone.
    """
    key = random.seed_word(seed)
    if noise == "independent":
        key = random.fold(key, random.digest(policy))
    return Keys(
        noise=random.fold(key, np.uint64(random.NOISE)),
        draw=random.fold(key, np.uint64(random.DECISIONS)),
    )


def empty_outcome(runs: int, checkpoints: int, arms: int) -> Outcome:
    pulls = np.empty((runs, arms), dtype=np.int64)
    return Outcome(np.empty((runs, checkpoints)), pulls, np.empty(runs), np.empty(runs))


def check_stop(stop: int, arms: int, policy: str = "the policy") -> None:
    """Raise if the loop was stopped by an arm that cannot be chosen."""
    if stop == NO_SUCH_ARM:
        raise ValueError(f"choose must return an arm from 0 to {arms - 1}; {policy} did not")
    if stop == CLOSED_ARM:
        raise ValueError(f"choose must return an arm that is open; {policy} did not")


def run_chunk(
    loops: tuple[Callable[..., None], Callable[..., None]],
    plan: Plan,
    first: int,
    last: int,
    outcome: Outcome,
    stop: IntArray,
    clear_all: bool = False,
) -> Any:
    """Play rows first..last-1 of the outcome with the given forms of the loops (`loops_of`).

    `clear_all` starts every run from cleared arrays, also those that a policy need not have cleared
    (`state.Uncleared`). Returns the policy's state at the end of the last run.

    A pure function of the plan and the range: chunks may run anywhere, in any order, and
    repeatedly.
    """
    world, bandits = plan.chunk(first, last)
    key = plan.baseline_key(first, last)
    baseline = BASELINES.find(key)
    if baseline is None:
        start, end = (0, 1) if plan.scenario.repeats else (first, last)
        played = plan.chunk(0, 1)[1] if plan.scenario.repeats else bandits
        baseline = _baseline(loops[1], plan, world, played, scratch_of(plan, start, end))
        if baseline.optimal.size and plan.world is not None:  # a drawing function may change
            BASELINES.keep(key, baseline)
    rows = Outcome(*(array[first:last] for array in outcome))  # type: ignore[arg-type]
    image, work = state_block_of(plan.fresh, clear_all)
    loops[0](
        with_tables(plan.params, world),
        image,
        work,
        scratch_of(plan, first, last),
        world,
        bandits,
        plan.events,
        plan.keys,
        plan.request.first_run + first,
        plan.request.checkpoints,
        baseline,
        rows,
        stop,
    )
    check_stop(int(stop[0]), plan.scenario.arm_count, plan.request.name)
    return work


def scratch_of(plan: Plan, first: int, last: int) -> Scratch | AudienceScratch:
    """Working arrays, with the arrivals of keys, for the loops that play rows first..last-1."""
    if plan.scenario.crowd is None:
        scratch: Scratch = state_block_of(Scratch.empty(plan.scenario.arm_count))[1]
        return scratch
    start = plan.request.first_run + first
    return audience_scratch(plan.scenario, plan.request.seed, start, start + last - first)


def _baseline(
    play_baseline: Callable[..., None],
    plan: Plan,
    world: World,
    bandits: Bandits,
    scratch: Scratch | AudienceScratch,
) -> Baseline:
    """The baseline of these bandits."""
    shape = (bandits.models.shape[0], plan.request.checkpoints.size)
    baseline = Baseline(np.empty(shape), np.empty(shape))
    image, work = state_block_of(plan.oracle_fresh)
    play_baseline(
        with_tables(plan.oracle, world),
        image,
        work,
        scratch,
        world,
        bandits,
        plan.events,
        plan.request.checkpoints,
        baseline,
    )
    if isinstance(plan.events, Events):
        baseline.single[:] = np.nan  # no arm can be played throughout
    return baseline


def with_tables(params: Any, world: World) -> Any:
    """The params with a chunk's tables, where they are pi_max's or hold those of pi_max."""
    if not is_part(params) or Oracle.verbs.params not in kinds(params):
        return params
    if type(params) is Oracle.verbs.params:
        oracle: Any = params
        return oracle._replace(means=world.means)
    return type(params)(*(with_tables(x, world) if is_part(x) else x for x in params))
