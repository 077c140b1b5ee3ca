"""Replays by exposure: exact while the tape lasts, then bounds and an estimate."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from helpers.log_rows import log_of, random_log, without_keys
from rotting import Arm, Audience, Bernoulli, NoNoise, Scenario, models, policies, simulate
from rotting._numbers import percent
from rotting.logs import read
from rotting.logs._log import Log
from rotting.logs._replay.keyed import Each
from rotting.logs._replay.replay import replay
from rotting.logs._replay.request import short_tapes
from rotting.logs._replay.runner import Replayer
from rotting.logs._replay.sentences import availability
from rotting.policies import Policy

CURVES = [0.9, 0.8, 0.7]
THETAS = [0.5, 0.3, 0.15]
FAMILY = models.Polynomial().times(0.8).over([0.15, 0.3, 0.5])


def mean_of(arm: int, n: int) -> float:
    return float(CURVES[arm] * float(n) ** -THETAS[arm])


def scenario(horizon: int, audience: Audience | None) -> Scenario:
    arms = [
        Arm(models.Polynomial(theta).times(curve))
        for theta, curve in zip(THETAS, CURVES, strict=True)
    ]
    return Scenario(arms, NoNoise(), horizon, audience=audience)


def full(keys: int, length: int) -> tuple[Log, int]:
    """Every arm was shown to every key so often, in turn; and as many decisions as cannot outrun.

    Rewards have no noise.
    """
    rows = [(n, arm, key) for n in range(length) for arm in range(3) for key in range(keys)]
    _, arm, key = np.array(rows).T
    reward = [mean_of(a, n + 1) for n, a, _ in rows]
    return log_of(key, arm, reward), keys * length


def naive_ucb1(tapes: list[list[float]], decisions: int) -> tuple[float, list[int]]:
    """UCB1 as a lecture has it, reading one reward after the other."""
    seen: list[list[float]] = [[] for _ in tapes]
    for t in range(1, decisions + 1):
        if t <= len(tapes):
            arm = t - 1
        else:
            worth = [sum(x) / len(x) + math.sqrt(2.0 * math.log(t) / len(x)) for x in seen]
            arm = worth.index(max(worth))
        seen[arm].append(tapes[arm][len(seen[arm])])
    return sum(map(sum, seen)) / decisions, [len(x) for x in seen]


def test_without_keys_every_decision_gets_the_reward_of_that_very_pull() -> None:
    generator = np.random.default_rng(3)
    tapes = [
        [mean_of(arm, n + 1) + float(generator.normal(0.0, 0.3)) for n in range(60)]
        for arm in range(3)
    ]
    found = replay(without_keys(tapes), {"ucb1": policies.UCB1()}, horizon=60, resamples=0, runs=2)[
        "ucb1"
    ]
    mean, pulls = naive_ucb1(tapes, 60)
    assert found.reward.mean == pytest.approx(mean, rel=1e-12)
    assert list(found.shares.values()) == pytest.approx([n / 60 for n in pulls], rel=1e-12)
    assert found.exact
    assert found.coverage == 1.0
    assert found.bounds == pytest.approx((mean, mean), rel=1e-12)


@pytest.mark.parametrize(
    "policy",
    [policies.CTO(FAMILY), policies.UCB1()],
    ids=["by key", "keys ignored"],
)
def test_with_keys_replay_is_what_a_simulation_with_the_same_rewards_is(policy: Policy) -> None:
    log, horizon = full(keys=7, length=9)
    found = replay(log, {"it": policy}, horizon=horizon, resamples=0, runs=1, pooled=False)["it"]
    arrivals = log.key[np.argsort(log.time)][:horizon]
    audience = Audience(7, arrivals=arrivals)
    direct = simulate(policy, scenario(horizon, audience), runs=1, noise="common")
    assert found.reward.mean == pytest.approx(float(direct.total_reward[0]) / horizon, rel=1e-9)
    assert found.exact


def test_coverage_bounds_and_estimate_beyond_the_tape() -> None:
    log = without_keys([[1.0, 1.0, 1.0, 0.0, 1.0], [1.0, 0.0]])
    found = replay(log, {"turns": policies.RoundRobin()}, resamples=0, runs=1)["turns"]
    # four of the first arm, two of the second, and one that is beyond: its last two rewards are
    # one level, 0.5
    assert found.coverage == pytest.approx(6.0 / 7.0)
    assert not found.exact
    assert found.bounds == pytest.approx((4.0 / 7.0, 4.5 / 7.0))
    assert found.reward.mean == pytest.approx(4.5 / 7.0)
    simulated = replay(
        log, {"turns": policies.RoundRobin()}, resamples=0, runs=1, simulator=[[0.9], [0.25]]
    )["turns"]
    assert simulated.reward.mean == pytest.approx(4.25 / 7.0)
    assert simulated.bounds == found.bounds


def test_a_reward_that_is_not_known_answers_nothing() -> None:
    log = without_keys([[1.0, math.nan, 1.0], [0.0, 0.0, 0.0]])
    found = replay(log, {"turns": policies.RoundRobin()}, resamples=0, runs=1)["turns"]
    assert found.coverage == pytest.approx(5.0 / 6.0)
    assert found.bounds == pytest.approx((2.0 / 6.0, 3.0 / 6.0))


def test_the_floor_of_real_rewards_is_the_least_that_was_seen() -> None:
    log = without_keys([[3.0, 2.5, 2.0, 2.0], [-1.0]])
    found = replay(log, {"turns": policies.RoundRobin()}, resamples=0, runs=1)
    assert found["turns"].bounds == pytest.approx(((7.5 - 2.0) / 5.0, (7.5 - 2.0) / 5.0))
    assert "-1, the least seen" in found.limits


def test_bounds_hold_the_truth() -> None:
    curves = np.array(
        [[0.6 * n**-0.4 for n in range(1, 301)], [0.4 * n**-0.1 for n in range(1, 301)]]
    )
    arms = [Arm(models.Polynomial(0.4).times(0.6)), Arm(models.Polynomial(0.1).times(0.4))]
    true = simulate(policies.UCB1(), Scenario(arms, Bernoulli(), 300), runs=200, checkpoints=1)
    truth = float(true.total_reward.mean()) / 300
    outside = 0
    for seed in range(20):
        log = random_log(curves, 300, seed)
        found = replay(log, {"it": policies.UCB1()}, runs=4, resamples=40, seed=seed)["it"]
        assert found.coverage < 1.0
        assert found.bounds is not None
        assert found.outer is not None
        assert found.bounds[0] < found.bounds[1]
        outside += not found.outer[0] <= truth <= found.outer[1]
    assert outside <= 4  # one in twenty is expected at most; five have a chance of 0.3 %


@pytest.mark.parametrize("kind", ["plain", "gaussian", "each", "pooled"])
def test_plain_python_gives_the_same_bits(kind: str) -> None:
    keyed = kind in ("each", "pooled")
    curves = np.array([[0.8, 0.5, 0.3], [0.5, 0.4, 0.4], [0.6, 0.6, 0.1]])
    log = random_log(curves, 90, 5, gaussian=kind == "gaussian", keys=8 if keyed else 0)
    players: dict[str, Policy] = {"thompson": policies.Thompson(), "ucb1": policies.UCB1()}
    if keyed:
        players["cto"] = policies.CTO(FAMILY)
    asked: dict[str, Any] = {"runs": 3, "resamples": 3, "seed": 4, "threads": 1}
    if keyed:
        asked["pooled"] = kind == "pooled"
    compiled = replay(log, players, **asked).as_data()
    assert json.dumps(compiled) == json.dumps(
        replay(log, players, compiled=False, **asked).as_data()
    )
    assert json.dumps(compiled) == json.dumps(
        replay(log, players, **asked | {"threads": 2}).as_data()
    )


def test_a_resample_has_keys_with_their_tapes_and_arrivals() -> None:
    log = random_log([[0.5, 0.4], [0.5, 0.4]], 60, 2, keys=6)
    source = Each(log, 40, seed=1)
    drawn = np.sort(source.drawn(3))
    sample = source.resample(3)
    visits = np.bincount(log.key[np.argsort(log.time)][:40], minlength=log.keys)
    assert np.bincount(sample.arrivals, minlength=drawn.size).tolist() == visits[drawn].tolist()
    for slot, key in enumerate(drawn):
        for arm in range(2):
            mine = log.reward[(log.key == key) & (log.arm == arm)]
            first, many = sample.tape.first[slot, arm], sample.tape.many[slot, arm]
            assert sample.tape.rewards[first : first + many].tolist() == mine.tolist()
    assert source.most(5) == max(40, *(source.resample(n).arrivals.size for n in range(1, 6)))


def test_intervals_and_differences_are_paired_by_resample() -> None:
    log = random_log([[0.8], [0.2]], 400, 1)
    same = {"one": policies.UCB1(), "two": policies.UCB1()}
    found = replay(log, same, horizon=150, resamples=30, runs=2)
    first = found.differences[0]
    assert (first.reward.mean, first.reward.error) == (0.0, 0.0)
    assert not first.clear
    more = next(d for d in found.differences if d.one == "one" and d.other != "two")
    assert more.clear
    assert more.reward.mean == pytest.approx(found["one"].reward.mean - found.logged.mean)
    assert "clearly more than the log's own play" in found.recommendation


def test_it_prints_and_becomes_data() -> None:
    log = random_log([[0.5], [0.2]], 40, 1)
    found = replay(log, {"<b>": policies.UCB1()}, resamples=4, runs=2)
    data = found.as_data()
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    assert len(data["policies"][0]["resampled"]) == 4
    assert "simulated" in found.intervals
    assert str(found).splitlines()[2].split()[0] == "policy"
    assert "&lt;b&gt;" in found._repr_html_()
    assert "<b>" not in found._repr_html_()
    none = replay(log, {"<b>": policies.UCB1()}, resamples=0, runs=2).as_data()
    assert none["policies"][0]["reward"]["low"] is None


def test_a_policy_that_chooses_no_arm_is_named() -> None:
    log = without_keys([[1.0, 0.0], [0.0, 1.0]])
    player = Replayer(policies.UCB1(), 2, 1, horizon=4, most=4, seed=0, keyed=False, compiled=False)
    player.stop[0] = 2
    with pytest.raises(ValueError, match="choose must return an arm from 0 to 1; UCB1 did not"):
        player.play(Each(log, 4, seed=0).original(), 0, 1)


LOG = without_keys([[1.0, 0.0], [0.0, 1.0]])
KEYED = random_log([[0.5], [0.5]], 30, 1, keys=4)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"log": [1]}, "log must be a Log"),
        ({"log": LOG.only(np.zeros(4, dtype=bool))}, "known rewards"),
        ({"log": replace(LOG, propensity=np.array([0.5, 0.0, 1.0, 1.0]))}, "propensity must be"),
        (
            {"log": replace(LOG, exposure=np.array([1, 2**31 - 2, 1, 2**31 - 2], dtype=np.int32))},
            "exposure must add up to at most 2147483647",
        ),
        ({"log": replace(LOG, rows="last")}, "rows='last'"),
        ({"horizon": 5}, "horizon must be an integer from 1 to 4, got 5"),
        ({"runs": 0}, "runs must be an integer >= 1, got 0"),
        ({"resamples": -1}, "resamples must be an integer >= 0, got -1"),
        ({"level": 1.0}, "level must be a number > 0 and < 1, got 1.0"),
        ({"seed": -1}, "seed must be an integer from 0"),
        ({"threads": 0}, "threads must be an integer >= 1, got 0"),
        ({"pooled": True}, "pooled must be False or None for a log without keys"),
        ({"pooled": 1}, "pooled must be True or False, got 1"),
        ({"calendar": True}, "by_time=True goes by time"),
        ({"compiled": 2}, "compiled must be True or False, got 2"),
        ({"simulator": [[0.5]]}, r"simulator must be .* of 2 arms, got an array of shape \(1, 1\)"),
        ({"simulator": [[0.5], [math.nan]]}, "simulator must be finite"),
        ({"simulator": "none"}, "simulator must be"),
        ({"policies": {}}, "policies must hold at least one"),
        ({"policies": policies.UCB1()}, "policies must be a list or a dict"),
        ({"policies": [policies.UCB1(), policies.UCB1()]}, "policies must have different labels"),
        ({"policies": {"x": "ucb1"}}, "got 'ucb1' for 'x'"),
        ({"policies": [policies.Oracle()]}, "needs the true means"),
        ({"policies": {"the log's own play": policies.UCB1()}}, "names of their own"),
        ({"log": KEYED, "policies": [policies.DCTO(FAMILY, 0.3)]}, "can play an audience"),
    ],
)
def test_refusals(changes: dict[str, Any], said: str) -> None:
    asked = {"log": LOG, "policies": [policies.UCB1()], **changes}
    with pytest.raises(ValueError, match=said):
        replay(**asked)


def test_pooled_is_for_short_tapes() -> None:
    assert short_tapes(KEYED)
    one_arm = log_of([0, 0, 1, 1], [0, 0, 0, 0], [1.0, 0.0, 1.0, 0.0])
    assert not short_tapes(one_arm)


def test_arms_that_were_not_there_throughout_are_named() -> None:
    days = np.arange(60.0)
    late = days[20:]
    table = {
        "ad": ["old"] * 60 + ["new"] * 40 + ["gone"] * 31,
        "time": [*days, *late, *days[:31]],
        "click": [1.0, 0.0] * 65 + [1.0],
    }
    log = read(table, key=False)
    said = availability(log)
    assert "of 60 days in the log 'new' began on day 21, 'gone' ended on day 31" in said
    assert "'old'" not in said
    found = replay(log, [policies.RoundRobin()], resamples=0, compiled=False)
    assert said in found.assumptions
    assert availability(read({name: part[:60] for name, part in table.items()})) == ""
    assert availability(replace(log, columns={})) == ""


def test_the_share_answered_is_the_same_in_table_and_sentence() -> None:
    log = without_keys([[1.0, 1.0, 1.0, 1.0, 0.0], [0.0, 0.0]])
    found = replay(log, [policies.RoundRobin()], resamples=0, compiled=False)
    (each,) = found
    assert 0.0 < each.coverage < 1.0
    assert each.sentence.startswith(f"{percent(each.coverage)} of the decisions")
    assert percent(0.98699) == "98.7 %"


def test_an_estimate_outside_its_bounds_is_explained() -> None:
    log = without_keys([[1.0, 1.0, 1.0, 0.0, 1.0], [1.0, 0.0]])
    high: Any = [[0.9], [0.9]]  # beyond the tape more than the last level
    found = replay(log, [policies.RoundRobin()], resamples=0, simulator=high, compiled=False)
    (each,) = found
    assert each.bounds is not None
    assert each.reward.mean > each.bounds[1]
    assert each.sentence.endswith("Rather believe the bounds.")
    plain = replay(log, [policies.RoundRobin()], resamples=0, compiled=False)
    assert all("Rather" not in one.sentence for one in plain)


def test_bounds_only_has_no_estimate_and_compares_with_nothing() -> None:
    log, decisions = full(keys=3, length=4)
    named = [policies.UCB1(), policies.RoundRobin()]
    options: dict[str, Any] = {"resamples": 5, "runs": 2, "compiled": False}
    exact = replay(log, named, horizon=decisions, pooled=False, **options)
    found = exact.bounds_only()
    assert found.kind == "bounds"
    assert found.differences == ()
    for before, after in zip(exact, found, strict=True):
        assert after.bounds == before.outer
        assert math.isnan(after.reward.mean)
        assert after.weighed is None
    table = found.table()
    assert table.headings == ["policy", "bounds", "from the log"]
    assert [row[0] for row in table.rows] == [each.name for each in exact]
    said = str(found)
    assert "highest" not in said
    assert "than the log's own play" not in said
    assert "Arms are taken to wear out by use alone" in said
    assert json.loads(json.dumps(found.as_data(), allow_nan=False))["policies"][0]["bounds"]
    pooled = replay(log, named, horizon=decisions, pooled=True, **options)
    with pytest.raises(ValueError, match="kind must be 'exact' for bounds, got 'pooled'"):
        pooled.bounds_only()
