"""Simulated audiences against naive twins, the loop without keys, and statistics."""

from __future__ import annotations

import dataclasses
from collections import Counter
from typing import Any, NamedTuple

import numpy as np
import pytest

from helpers.cases import shorter
from policies.test_twins import SMOOTH, TWINS, family_args, mean_of, stream_of
from rotting import (
    Arm,
    Audience,
    Gaussian,
    HalfLife,
    RandomArms,
    Result,
    Scenario,
    Window,
    models,
    policies,
    simulate,
)
from rotting._engines import audience_loop, cpu
from rotting._engines.baseline import BASELINES
from rotting._engines.plan import Request, empty_outcome, loops_of, prepare, run_chunk
from rotting.kernel.random import normal, uniform
from rotting.policies import Policy
from rotting.policies._oracle import Params as PiMax
from twins import audience as twin
from twins import cto, posterior
from twins.common import Counted, History, Opened
from twins.models import plateau

ARMS = [
    Arm(models.Polynomial(0.4)),
    Arm(models.Step(at=4, before=0.8, after=0.15)),
    Arm(models.Exponential(0.35), constant=-0.1),
]
ROUNDS = 90
FAMILY = models.Polynomial().over([0.1, 0.25, 0.4])
PLAIN = Scenario(ARMS, Gaussian(0.3), ROUNDS, audience=Audience(keys=6))
GIVEN = [0, 2, 2, 1, 0, 2] * 15
AUDIENCES: dict[str, tuple[Audience, Any]] = {
    "uniform": (Audience(keys=6), None),
    "zipf, factors": (Audience(keys=6, arrivals="zipf:1.1", factors=(0.3, 1.5)), None),
    "turns, openings": (Audience(keys=5, arrivals="turns"), {0: (21, 60), 1: (1, 45)}),
    "given": (Audience(keys=3, arrivals=GIVEN), None),
    "half-life": (Audience(keys=4, rest=HalfLife(5)), None),
    "half-life in rounds": (
        Audience(keys=4, factors=(0.5, 1.0), rest=HalfLife(13, "rounds")),
        None,
    ),
    "window": (Audience(keys=4, rest=Window(25)), None),
    "window of decisions, openings": (
        Audience(keys=4, arrivals="zipf:0.8", rest=Window(6, "decisions")),
        {2: (15, None)},
    ),
}


def scenario_of(name: str) -> Scenario:
    audience, openings = AUDIENCES[name]
    return dataclasses.replace(PLAIN, audience=audience, openings=openings)


class Seen(NamedTuple):
    """A decision of a simulated run, and what came of it."""

    run: int
    key: int
    arm: int
    pull: int  # as passed to the policy
    reward: float
    draw: Any  # the random numbers, before it was made


class Watch:
    """Notes the decisions of the reference engine, but for those of the baseline."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.seen: list[Seen] = []
        self.run = -1
        self.now: tuple[int, Any] = (0, None)
        for name in ("set_truth", "set_key", "choose", "update"):
            patch.setattr(audience_loop, name, self._around(name, getattr(audience_loop, name)))

    def _around(self, name: str, verb: Any) -> Any:
        def noted(params: Any, state: Any, *others: Any) -> Any:
            if not (isinstance(params, PiMax) and not params.random_ties):
                getattr(self, name)(*others)
            return verb(params, state, *others)

        return noted

    def set_truth(self, *_: Any) -> None:
        self.run += 1

    def set_key(self, key: Any, t: Any) -> None:
        self.now = (int(key), None)

    def choose(self, draw: Any) -> None:
        self.now = (self.now[0], draw.copy())

    def update(self, arm: Any, pull: Any, reward: Any) -> None:
        key, draw = self.now
        self.seen.append(Seen(self.run, key, int(arm), int(pull), float(reward), draw))


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> Watch:
    return Watch(monkeypatch)


def open_arms(scenario: Scenario) -> list[set[int]]:
    """The arms open in every round, from the scenario's arguments."""
    spans = dict.fromkeys(range(len(ARMS)), (1, scenario.horizon))
    for opening in scenario.openings or ():
        assert not isinstance(opening, int)
        spans[opening.arm] = (opening.first, opening.last or scenario.horizon)
    return [
        {arm for arm, (first, last) in spans.items() if first <= t <= last}
        for t in range(1, scenario.horizon + 1)
    ]


def rest_of(audience: Audience) -> twin.Rest | None:
    if audience.rest is None:
        return None
    kind = "half-life" if isinstance(audience.rest, HalfLife) else "window"
    return twin.Rest(kind, audience.rest.length, audience.rest.unit)


@pytest.mark.parametrize("name", AUDIENCES)
@pytest.mark.parametrize("policy", [policies.UCB1(), policies.CTO(FAMILY)], ids=["pooled", "keys"])
def test_regret_and_pulls_by_the_twin(policy: Policy, name: str, watch: Watch) -> None:
    """The counts of half-lives are kept in 32 bits, which is why regrets are close, not equal."""
    scenario, runs, seed = scenario_of(name), 2, 5
    result = simulate(
        policy, scenario, runs=runs, seed=seed, engine="reference", checkpoints=[1, 17, 40, ROUNDS]
    )
    audience = scenario.audience
    assert audience is not None
    curves = [mean_of(arm) for arm in ARMS]
    for run in range(runs):
        arrivals = audience.arrive(seed, run, ROUNDS).tolist()
        factors = audience.factors_of(seed, run).tolist() if audience.factors else None
        played = [seen for seen in watch.seen if seen.run == run]
        assert [seen.key for seen in played] == arrivals
        told: dict[str, Any] = {"factors": factors, "rest": rest_of(audience)}
        told["opened"] = open_arms(scenario)
        chosen = twin.play(arrivals, curves, twin.following([seen.arm for seen in played]), **told)
        best = twin.play(arrivals, curves, twin.greedy, **told)
        close = 1e-5 if isinstance(audience.rest, HalfLife) else 1e-9
        assert result.total_reward[run] == pytest.approx(chosen.collected[-1], abs=close)
        for place, t in enumerate(result.checkpoints):
            regret = best.collected[t - 1] - chosen.collected[t - 1]
            assert result.regret[run, place] == pytest.approx(regret, abs=close)
        counts = Counter(seen.arm for seen in played)
        assert result.pulls[run].tolist() == [counts[arm] for arm in range(len(ARMS))]
        share = chosen.collected[-1] / best.collected[-1]
        assert result.share[run] == pytest.approx(share, rel=1e-6)
    assert np.isnan(result.adversarial_regret).all()
    only_greedy = isinstance(audience.rest, HalfLife) or scenario.openings is not None
    assert result.against == ("greedy" if only_greedy else "pi_max")


BY_KEY = [  # policies that hold another are tested elsewhere
    case
    for case in TWINS
    if type(case[0]).counts_by_key and not isinstance(case[0], (policies.Capped, policies.PerKey))
]


def numbers_ahead(policy: Any, draw: Any) -> dict[str, Any]:
    if isinstance(policy, (policies.Fatigue, policies.Mixture)):
        return {"stream": stream_of(draw)}
    if getattr(policy, "rule", "") != "thompson":
        return {}
    kinds = [uniform, normal] if policy.constants else [uniform]
    return {"numbers": [float(kind(draw)) for _ in ARMS for kind in kinds]}


INTERVAL = (
    policies.Posterior(models.Plateau(length=2).between(0.1, 0.45, nodes=17), 0.3),
    posterior.interval_posterior,
    {
        "low": 0.1,
        "high": 0.45,
        "mu": lambda n, theta: plateau(n, theta, 2),
        "sigma": 0.3,
        "points": 100,
    },
)


def check_decisions(
    case: Any,
    seen: list[Seen],
    rest: twin.Rest | None = None,
    spans: list[set[int]] | None = None,
) -> list[int]:
    """The policy's twin must allow every decision; returns the pull numbers that the policy got.

    With a rest the policy's counts fade, and are rounded to whole showings. Spans are the arms that
    are open in every round, if some close.
    """
    policy, rule, arguments = case
    history: History = []
    past: list[int] = []
    shown: list[twin.Showing] = []
    met: Counter[int] = Counter()
    for t, each in enumerate(seen, start=1):
        met[each.key] += 1
        showings = [twin.Showing(each.key, arm, t, met[each.key]) for arm in range(len(ARMS))]
        upcoming = [int(twin.exposure(shown, now, rest) + 0.5) + 1 for now in showings]
        ahead = numbers_ahead(policy, each.draw)
        if spans is not None:
            ahead["opened"] = Opened(spans[:t], spans[:t])
        allowed = rule(
            history, len(ARMS), **arguments, **ahead, counted=Counted(list(past), upcoming)
        )
        assert each.arm in allowed, f"round {t}: chose {each.arm}, allowed {allowed}"
        assert each.pull == upcoming[each.arm]
        shown.append(showings[each.arm])
        history.append((each.arm, each.reward))
        past.append(each.pull)
    assert len(history) == ROUNDS
    return past


@pytest.mark.parametrize("case", [*BY_KEY, INTERVAL], ids=lambda case: case[0].short_label)
def test_decisions_by_the_twins_rule(case: Any, watch: Watch) -> None:
    """Statistics of all keys together, pull numbers of each key's own."""
    simulate(case[0], PLAIN, runs=1, seed=3, engine="reference")
    assert max(check_decisions(case, watch.seen)) > 3


CURVES = [case for case in BY_KEY if isinstance(case[0], (policies.Fatigue, policies.Mixture))]


@pytest.mark.parametrize("case", CURVES, ids=lambda case: case[0].short_label)
def test_decisions_of_curves_where_arms_close(case: Any, watch: Watch) -> None:
    """Closed arms draw nothing, yet what they taught the others stays."""
    scenario = scenario_of("turns, openings")
    simulate(case[0], scenario, runs=1, seed=3, engine="reference")
    spans = open_arms(scenario)
    assert len({len(now) for now in spans}) > 1
    check_decisions(case, watch.seen, spans=spans)


RESTS = [HalfLife(4.3), HalfLife(13.7, "rounds"), Window(25), Window(4, "decisions")]


@pytest.mark.parametrize("rest", RESTS, ids=repr)
def test_decisions_of_a_policy_whose_counts_fade(rest: HalfLife | Window, watch: Watch) -> None:
    """Whether the scenario's do is another matter: a policy may be wrong about it."""

    class Forgetful(policies.CTO):
        pass

    Forgetful.rest = rest  # type: ignore[attr-defined]
    case = (Forgetful(SMOOTH), cto.cto, family_args(SMOOTH))
    simulate(case[0], PLAIN, runs=1, seed=3, engine="reference")
    kind = "half-life" if isinstance(rest, HalfLife) else "window"
    past = check_decisions(case, watch.seen, twin.Rest(kind, rest.length, rest.unit))
    watch.seen.clear()
    simulate(policies.CTO(SMOOTH), PLAIN, runs=1, seed=3, engine="reference")
    assert max(past) < max(seen.pull for seen in watch.seen)


def test_these_policies_count_by_key() -> None:
    titles = {type(policy).title for policy, _, _ in BY_KEY}
    assert {
        "CTO",
        "C-CTO",
        "L-CTO",
        "LD-CTO",
        "Posterior",
        "CellUCB",
        "Fatigue",
        "Mixture",
    } <= titles
    assert not {"UCB1", "SteadyUCB", "RAW-UCB"} & titles


ONE = dataclasses.replace(PLAIN, audience=Audience(keys=1, factors=(1, 1)))
PLAYABLE = [
    policy
    for policy in [case[0] for case in TWINS if not case[0].no_audience]
    if not policy.needs_horizon
]


@pytest.mark.parametrize("policy", PLAYABLE[::2], ids=lambda policy: policy.short_label)
def test_one_key_is_the_bandit_without_keys(policy: Policy) -> None:
    """Forced into the loop with keys, which is not taken for one plain key."""
    assert ONE.crowd is not None
    keyed, without = (
        simulate(policy, played, runs=shorter(policy, 2, by=2), seed=8, engine="reference")
        for played in (ONE, dataclasses.replace(ONE, audience=None))
    )
    np.testing.assert_array_equal(keyed.pulls, without.pulls)
    np.testing.assert_allclose(keyed.regret, without.regret, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(keyed.total_reward, without.total_reward, rtol=1e-13)


def test_one_plain_key_is_played_as_ever() -> None:
    one = dataclasses.replace(PLAIN, audience=Audience(keys=1))
    assert one.crowd is None
    keyed, without = (
        simulate(policies.CTO(FAMILY), each, runs=2, engine="reference")
        for each in (one, dataclasses.replace(one, audience=None))
    )
    assert_same(keyed, without)
    assert np.isfinite(keyed.adversarial_regret).all()
    assert "keys" not in keyed.provenance


def assert_same(a: Result, b: Result) -> None:
    for field in ("regret", "pulls", "total_reward", "adversarial_regret"):
        np.testing.assert_array_equal(getattr(a, field), getattr(b, field), err_msg=field)


ENGINES = [
    (policies.CTO(FAMILY), "zipf, factors"),
    (policies.UCB1(), "window of decisions, openings"),
]


@pytest.mark.parametrize(("policy", "name"), ENGINES, ids=["keys", "pooled"])
def test_engines_threads_and_chunks_do_not_matter(
    policy: Policy, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario = scenario_of(name)
    plain = simulate(policy, scenario, runs=7, seed=2, engine="reference")
    assert_same(plain, simulate(policy, scenario, runs=7, seed=2, threads=1))
    monkeypatch.setattr(cpu, "_DECISIONS_A_CHUNK", 2 * ROUNDS)  # chunks of two runs
    assert_same(plain, simulate(policy, scenario, runs=7, seed=2, threads=2))
    later = simulate(policy, scenario, runs=3, seed=2, first_run=4, threads=1)
    np.testing.assert_array_equal(later.regret, plain.regret[4:])


def test_drawn_arms_in_chunks() -> None:
    """Tables are as long as the key that comes most needs, which depends on the chunk."""
    drawn = RandomArms(models.Polynomial().between(0.1, 0.4), 3, (0.0, 0.2))
    scenario = dataclasses.replace(PLAIN, arms=drawn, audience=Audience(6, "zipf:1.5"))
    policy = policies.CTO(FAMILY)
    one_by_one = simulate(policy, scenario, runs=5, seed=2, engine="reference")
    assert_same(one_by_one, simulate(policy, scenario, runs=5, seed=2, threads=1))


@pytest.mark.parametrize(
    "name", ["zipf, factors", "half-life in rounds", "window of decisions, openings"]
)
def test_runs_of_a_chunk_do_not_see_each_other(name: str) -> None:
    """The reference engine plays a run a chunk; here are four in one, as plain Python too."""
    scenario, policy = scenario_of(name), policies.CTO(FAMILY)
    apart = simulate(policy, scenario, runs=4, seed=2, checkpoints=3, engine="reference")
    plan = prepare(Request(policy, scenario, 2, "independent", apart.checkpoints, 0, 4))
    together = empty_outcome(4, 3, len(ARMS))
    BASELINES.clear()
    run_chunk(loops_of(plan), plan, 0, 4, together, np.zeros(1, dtype=np.int64))
    np.testing.assert_array_equal(together.pulls, apart.pulls)
    np.testing.assert_array_equal(together.total_reward, apart.total_reward)
    np.testing.assert_allclose(together.regret, apart.regret, atol=1e-12)


def rewards_seen(seen: list[Seen]) -> dict[tuple[int, int, int, int], float]:
    """Rewards by run, key, arm and how many-th showing to the key it was."""
    shown: Counter[tuple[int, int, int]] = Counter()
    found = {}
    for each in seen:
        shown[each.run, each.key, each.arm] += 1
        found[each.run, each.key, each.arm, shown[each.run, each.key, each.arm]] = each.reward
    return found


def test_a_reward_belongs_to_key_arm_and_showing(watch: Watch) -> None:
    """For every policy, whichever keys came before."""
    options: dict[str, Any] = {"runs": 2, "seed": 4, "engine": "reference", "noise": "common"}
    scenarios = [PLAIN, dataclasses.replace(PLAIN, audience=Audience(keys=6, arrivals="zipf:1"))]
    found = []
    for scenario in scenarios:
        for policy in (policies.CTO(FAMILY), policies.UCB1(), policies.RoundRobin()):
            watch.seen.clear()
            watch.run = -1
            simulate(policy, scenario, **options)
            found.append(rewards_seen(watch.seen))
    for k, one in enumerate(found):
        for other in found[:k]:
            both = one.keys() & other.keys()
            assert len(both) > 40
            assert all(one[each] == other[each] for each in both)
    noise = [found[0][run, key, 0, 1] for run in range(2) for key in range(6)]
    assert len(set(noise)) == 12  # each key of each run has its own
    watch.seen.clear()
    watch.run = -1
    simulate(policies.CTO(FAMILY), PLAIN, **{**options, "noise": "independent"})
    other = rewards_seen(watch.seen)
    assert not any(found[0][each] == other[each] for each in found[0].keys() & other.keys())


def test_a_run_is_the_same_whichever_is_the_first(watch: Watch) -> None:
    simulate(policies.CTO(FAMILY), PLAIN, runs=3, seed=4, engine="reference")
    all_runs = [seen._replace(draw=None, run=0) for seen in watch.seen if seen.run == 2]
    watch.seen.clear()
    watch.run = -1
    simulate(policies.CTO(FAMILY), PLAIN, runs=1, first_run=2, seed=4, engine="reference")
    assert [seen._replace(draw=None) for seen in watch.seen] == all_runs


def test_the_oracle_knows_that_arms_recover() -> None:
    for name in ("half-life", "window", "uniform"):
        result = simulate(policies.Oracle(), scenario_of(name), runs=2, engine="reference")
        np.testing.assert_allclose(result.final_regret, 0.0, atol=1e-5)


@pytest.mark.parametrize(
    "policy",
    [
        policies.DCTO(FAMILY, sigma=0.3),
        policies.DCTO_UCB(FAMILY, sigma=0.3, delta=0.1, exploration=4),
        policies.Guarded(FAMILY, sigma=0.3),
    ],
    ids=lambda policy: policy.title,
)
def test_who_cannot_play_an_audience_says_why(policy: Policy) -> None:
    why = {
        "Guarded": "it tests the family on an arm's rewards in the order of its pulls, "
        "and each key has its own"
    }.get(policy.title, "its halves take every pull number once")
    with pytest.raises(ValueError, match="policy must be one that can play an audience") as error:
        simulate(policy, PLAIN, runs=1, engine="reference")
    assert str(error.value).endswith(f", got {policy.title}: {why}")
    simulate(policy, dataclasses.replace(PLAIN, audience=Audience(1)), runs=1, engine="reference")


class Rotation:
    """A user's own player: shows each key the arms in turn; it receives the keys."""

    def __init__(self) -> None:
        self.turns: Counter[int] = Counter()

    def select(self, key: int) -> int:
        self.turns[key] += 1
        return (self.turns[key] - 1) % len(ARMS)

    def update(self, decision: int, reward: float) -> None:
        assert 0 <= decision < len(ARMS)


def test_a_users_own_player_is_told_the_key() -> None:
    audience = Audience(keys=5, arrivals="turns")
    result = simulate(Rotation(), dataclasses.replace(PLAIN, audience=audience), runs=1)
    assert result.pulls.tolist() == [[30, 30, 30]]  # 18 decisions a key, 6 for each arm
    assert result.provenance["keys"] == "counted"
