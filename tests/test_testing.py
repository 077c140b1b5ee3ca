"""`rotting.testing.check_policy`: every promise is broken by some policy, and named.

There is a sound policy that keeps every promise. Each breach changes one thing about it, and every
promise is tested on every broken policy: those named must break, with these words, and no others.
So `check_policy` has no test that cannot fail.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pytest

from rotting import Arm, Audience, Bernoulli, Scenario, models, policies
from rotting.kernel.arrays import FloatArray, IntArray
from rotting.kernel.random import uniform
from rotting.kernel.state import Counts, Numbers, Values
from rotting.kernel.verbs import KINDS, CurvePoint, Inspection
from rotting.policies import POLICIES, Policy, Verbs
from rotting.policies.parts.arms import Arms, next_pull, next_untried, no_pulls, rewarded
from rotting.policies.parts.exposures import has_key_counts
from rotting.policies.parts.openings import is_open, may_close, nth_open, open_arms
from rotting.policies.parts.ranking import Ranking, best, rank, set_open_ranked, unranked
from rotting.testing import PROMISES, BrokenPromise, check_policy

COMPILED = ("compiled simulation", "compiled player")
PLAIN = [name for name in PROMISES if name not in COMPILED]
EVERYTHING = tuple(PLAIN)
ROUNDS = 160  # past a growth of the state


# ------------------------------------------------------------------------------- a sound policy


class Ring(NamedTuple):
    """The last rewards of all arms together, as many as there is space for."""

    reward: Numbers

    def grown(self, larger: Ring, state: Any) -> Ring:
        if larger.reward.size != self.reward.size:
            larger.reward[: self.reward.size] = self.reward
            return larger
        return self


class State(NamedTuple):
    arms: Arms
    mean: Values
    ranking: Ranking  # by the mean, less something for the pulls
    ring: Ring
    spare: Counts  # for breaches, as the next
    first: FloatArray


class Silent(NamedTuple):
    arms: Arms
    mean: Values
    ranking: Ranking
    ring: Ring
    spare: IntArray
    first: FloatArray


def init(params: Any, arms: int, capacity: int) -> Any:
    ring, spare = Ring(np.zeros(min(capacity, 1 << 14))), np.zeros(2, dtype=np.int64)
    mean = np.full(arms, -np.inf)
    return State(no_pulls(arms), mean, unranked(arms), ring, spare, np.zeros(arms))


def choose(params: Any, state: Any, draw: Any) -> Any:
    arm = next_untried(state.arms, 1)
    return best(state.ranking, state.arms.opening, draw) if arm < 0 else arm


def update(params: Any, state: Any, arm: Any, pull: Any, reward: Any) -> None:
    n = rewarded(state.arms, arm, 1)
    old = 0.0 if n == 1 else float(state.mean[arm])
    state.mean[arm] = old + (reward - old) / n
    state.ring.reward[state.arms.observed.sum() - 1] = reward
    refresh_score(params, state, arm)


def score(params: Any, state: Any, arm: Any, pull: Any) -> Any:
    return float(state.mean[arm]) - 0.01 * params.table[min(pull, 20) - 1]


def refresh_score(params: Any, state: Any, arm: Any) -> None:
    rank(state.ranking, arm, score(params, state, arm, next_pull(state.arms, arm)))


def curve(params: Any, state: Any, arm: int, pull: int) -> CurvePoint | None:
    worth = score(params, state, arm, pull)
    return CurvePoint(worth, worth - 0.1, worth + 0.1) if math.isfinite(worth) else None


def prepare(self: Any, arms: int, horizon: int | None, reach: int) -> Any:
    return self.verbs.params(np.arange(float(max(reach, 20))))


def made(changes: dict[str, Any]) -> Policy:
    """The sound policy with some of its parts replaced, as a new class."""

    class Params(NamedTuple):
        table: FloatArray

    changes = {"params": Params, **changes}
    verbs = {
        name: changes.pop(name, default)
        for name, default in {
            **{"params": Params, "state": State, "init": init, "choose": choose},
            **{"update": update, "score": score, "refresh_score": refresh_score},
            **{"curve": curve, "set_open": set_open_ranked, "pulled": None, "inspect": None},
        }.items()
    }
    equal = changes.pop("equal", True)
    attributes = {"prepare": prepare, **changes, "verbs": Verbs(**verbs), "key": "broken"}
    kind: Any = type("Broken", (Policy,), attributes)
    policy: Policy = dataclass(frozen=True, eq=equal)(kind)()
    return policy


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    """No policy of these tests stays."""
    known = set(KINDS)
    yield
    POLICIES.pop("broken", None)
    for kind in set(KINDS) - known:
        del KINDS[kind]


# ----------------------------------------------------------------------------------- the breaches

STARTS: list[int] = []  # how many states or params were made
MEMORY: dict[int, float] = {}


def writes_params(params: Any, state: Any, arm: Any, pull: Any, reward: Any) -> None:
    update(params, state, arm, pull, reward)
    params.table[-1] += 1.0  # which nothing reads


def shares(params: Any, arms: int, capacity: int) -> Any:
    return init(params, arms, capacity)._replace(first=params.table[:arms])


def counts_below_zero(params: Any, state: Any, arm: Any, pull: Any, reward: Any) -> None:
    update(params, state, arm, pull, reward)
    state.spare[0] -= 1


class Lost(Ring):
    """A part whose contents are lost when it grows."""

    def grown(self, larger: Any, state: Any) -> Any:
        return self if larger.reward.size == self.reward.size else larger


def loses(params: Any, arms: int, capacity: int) -> Any:
    state = init(params, arms, capacity)
    return state._replace(ring=Lost(*state.ring))


def two_sizes(params: Any, arms: int, capacity: int) -> Any:
    size = 1 << 12 if capacity <= 1 << 20 else 1 << 13
    return init(params, arms, capacity)._replace(ring=Ring(np.zeros(size)))


def reads_ring(params: Any, state: Any, draw: Any) -> Any:
    """Chooses by the first reward, once all arms were tried."""
    arm = next_untried(state.arms, 1)
    if arm >= 0 or state.ring.reward[0] != 0.0:
        return choose(params, state, draw)
    for i in range(state.mean.size):
        if is_open(state.arms.opening, i):
            arm = i
    return arm


def reads_reach(params: Any, state: Any, draw: Any) -> Any:
    arm = choose(params, state, draw)
    odd = params.table.size > 100 and state.arms.clock[0] % 7 == 0
    return 0 if odd and is_open(state.arms.opening, 0) else arm


def counts(params: Any, state: Any, draw: Any) -> Any:
    arm = choose(params, state, draw)
    state.arms.clock[0] += 1
    return arm


def alternates(params: Any, state: Any, draw: Any) -> Any:
    arm = choose(params, state, draw)
    state.spare[0] = 1 - state.spare[0]
    return 0 if state.spare[0] == 1 and is_open(state.arms.opening, 0) else arm


def draws_when_it_likes(params: Any, state: Any, draw: Any) -> Any:
    if state.spare[0] == 0:
        uniform(draw)
    state.spare[0] = 1 - state.spare[0]
    return choose(params, state, draw)


def remembers_the_choice(params: Any, state: Any, draw: Any) -> Any:
    arm = choose(params, state, draw)
    state.spare[0] = arm
    return arm


def counts_the_choice(params: Any, state: Any, arm: Any) -> None:
    arm = state.spare[0]
    state.arms.pulls[arm] += 1
    state.arms.clock[0] += 1


def starts_anywhere(params: Any, arms: int, capacity: int) -> Any:
    state = init(params, arms, capacity)
    STARTS.append(0)
    state.spare[0] = len(STARTS) % 2
    return state


def reads_spare(params: Any, state: Any, draw: Any) -> Any:
    arm = choose(params, state, draw)
    return 0 if state.spare[0] == 1 and is_open(state.arms.opening, 0) else arm


def another_table(self: Any, scenario: Any) -> Any:
    return self.verbs.params(1000.0 * np.arange(float(scenario.horizon)) ** 3)


def prompt_only(params: Any, state: Any, arm: Any, pull: Any, reward: Any) -> None:
    update(params, state, arm, pull, reward)
    with np.errstate(all="ignore"):
        state.first[arm] += 0.0 / np.float64(max(0, 1 - (state.arms.pulls[arm] - pull)))


def no_ramp_up(params: Any, state: Any, draw: Any) -> Any:
    return best(state.ranking, state.arms.opening, draw)


def blind(params: Any, state: Any, draw: Any) -> Any:
    arm = next_untried(state.arms, 1)
    return int(np.argmax(state.ranking.value)) if arm < 0 else arm


def opens(params: Any, state: Any, arm: Any, pull: Any, reward: Any) -> None:
    update(params, state, arm, pull, reward)
    if may_close(state.arms.opening) and state.arms.opening.flags.sum() == 0:
        state.arms.opening.flags[arm] = 1
        state.arms.opening.count[0] += 1


def forgets_when_opened(params: Any, state: Any, flags: Any) -> None:
    state.spare[0] += 1
    set_open_ranked(params, state, flags)


def reads_openings(params: Any, state: Any, draw: Any) -> Any:
    arm = choose(params, state, draw)
    return 0 if state.spare[0] % 5 == 4 and is_open(state.arms.opening, 0) else arm


def minds_closing(params: Any, state: Any, draw: Any) -> Any:
    arm = choose(params, state, draw)
    return arm if may_close(state.arms.opening) else 0


def ranked_backwards(params: Any, arms: int, capacity: int) -> Any:
    return init(params, arms, capacity)._replace(first=np.arange(float(arms))[::-1].copy())


def minds_number(params: Any, state: Any, draw: Any) -> Any:
    arm = choose(params, state, draw)
    return 0 if state.mean.size > 3 and is_open(state.arms.opening, 0) else arm


def counting_score(params: Any, state: Any, arm: Any, pull: Any) -> Any:
    state.spare[1] += 1
    return score(params, state, arm, pull)


def undefined_score(params: Any, state: Any, arm: Any, pull: Any) -> Any:
    return math.nan if pull > state.arms.pulls[arm] + 20 else score(params, state, arm, pull)


def stale(params: Any, state: Any, arm: Any, pull: Any, reward: Any) -> None:
    before = state.ranking.value[arm]
    update(params, state, arm, pull, reward)
    if state.arms.observed[arm] > 1:
        state.ranking.value[arm] = before


def pooled_pull(params: Any, state: Any, arm: Any) -> None:
    pull = state.arms.pulls[arm] + 1  # and not next_pull
    rank(state.ranking, arm, score(params, state, arm, pull))


def pooled_update(params: Any, state: Any, arm: Any, pull: Any, reward: Any) -> None:
    update(params, state, arm, pull, reward)
    pooled_pull(params, state, arm)


def wrong_index(params: Any, state: Any, arm: int) -> Any:
    worth = float(state.ranking.value[arm])
    return Inspection() if worth == -math.inf else Inspection(None, None, -worth)


def wrong_sum(params: Any, state: Any, arm: int) -> Any:
    worth = float(state.ranking.value[arm])
    return Inspection() if worth == -math.inf else Inspection(worth, 1.0, worth)


def off_band(params: Any, state: Any, arm: int, pull: int) -> Any:
    point = curve(params, state, arm, pull)
    return None if point is None else point._replace(low=point.estimate + 0.01)


def always(params: Any, state: Any, arm: int, pull: int) -> Any:
    return curve(params, state, arm, pull) or CurvePoint(0.5)


def remembers(params: Any, state: Any, arm: Any, pull: Any, reward: Any) -> None:
    """Keeps a sum outside the state, for each state of a player."""
    update(params, state, arm, pull, reward)
    if id(state.mean) not in MEMORY:
        weakref.finalize(state.mean, MEMORY.pop, id(state.mean), None)
    MEMORY[id(state.mean)] = MEMORY.get(id(state.mean), 0.0) + reward


def recalls(params: Any, state: Any, draw: Any) -> Any:
    arm = choose(params, state, draw)
    known = MEMORY.get(id(state.mean), 0.0) > 1.0
    return 0 if known and is_open(state.arms.opening, 0) else arm


def recalls_in_audiences(params: Any, state: Any, draw: Any) -> Any:
    if has_key_counts(state.arms.exposure) and state.arms.exposure.current[0] > 0:
        return recalls(params, state, draw)
    return choose(params, state, draw)


def minds_keys(params: Any, state: Any, draw: Any) -> Any:
    arm = choose(params, state, draw)
    return 0 if has_key_counts(state.arms.exposure) and is_open(state.arms.opening, 0) else arm


class Wrapped(NamedTuple):
    """Params of a type that no policy has."""

    table: FloatArray


def of_another_type(self: Any, arms: int, horizon: int | None, reach: int) -> Any:
    return Wrapped(*prepare(self, arms, horizon, reach))


def different(self: Any, arms: int, horizon: int | None, reach: int) -> Any:
    STARTS.append(0)
    return self.verbs.params(np.append(np.arange(float(max(reach, 20))), len(STARTS)))


def silent(params: Any, arms: int, capacity: int) -> Any:
    return Silent(*init(params, arms, capacity))


def beyond(params: Any, state: Any, draw: Any) -> Any:
    arm = choose(params, state, draw)
    return state.mean.size if state.arms.clock[0] == 11 else arm


def raises(params: Any, state: Any, arm: Any, pull: Any, reward: Any) -> None:
    update(params, state, arm, pull, reward)
    if pull < state.arms.pulls[arm] - 3:
        raise IndexError("no place for it")


def not_an_inspection(params: Any, state: Any, arm: int) -> Any:
    return float(state.ranking.value[arm])


class Breach(NamedTuple):
    """What is changed about the sound policy, and what is said then."""

    promise: str
    words: str
    changes: dict[str, Any]
    also: tuple[str, ...] = ()  # promises that cannot be kept either, later in their order


BREACHES = {
    "a verb writes to params": Breach(
        "params", "params must never change, but a verb wrote to table", {"update": writes_params}
    ),
    "prepare differs": Breach(
        "params", "the same at each call, but table differs", {"prepare": different}
    ),
    "params of another type": Breach(
        "params",
        "prepare must return Params, got Wrapped",
        {"prepare": of_another_type},
        EVERYTHING,
    ),
    "shared memory": Breach("params", "first of the state shares memory", {"init": shares}),
    "a silent field": Breach(
        "fields", "spare must have a type that says", {"state": Silent, "init": silent}
    ),
    "a count below zero": Breach(
        "fields",
        "spare of the state must lie between 0",
        {"update": counts_below_zero},
        ("saving", "many keys"),
    ),
    "contents are lost": Breach(
        "growth",
        "with less space at first the policy decides otherwise at decision",
        {"init": loses, "choose": reads_ring},
        ("simulation",),
    ),
    "two sizes": Breach("growth", "grows is False, but", {"init": two_sizes, "grows": False}),
    "tables matter": Breach(
        "growth",
        "decides otherwise at decision",
        {"choose": reads_reach, "tables": False},
        ("inspect",),
    ),
    "choose counts": Breach(
        "choose",
        "but changed arms.clock",
        {"choose": counts},
        ("fields", "many keys", "pulled", "saving"),
    ),
    "choose alternates": Breach(
        "choose",
        "calls in the same state gave arms [",
        {"choose": alternates},
        ("inspect", "restriction"),
    ),
    "choose draws at will": Breach(
        "choose", "as many random numbers", {"choose": draws_when_it_likes}, ("restriction",)
    ),
    "no such arm": Breach("choose", "an arm from 0 to 2, got 3", {"choose": beyond}),
    "only what was chosen is counted": Breach(
        "pulled",
        "pulls that somebody else chose",
        {"choose": remembers_the_choice, "pulled": counts_the_choice},
        ("fields", "many keys", "one key"),
    ),
    "another start": Breach(
        "same seed",
        "two players of one seed decide differently at decision",
        {"init": starts_anywhere, "choose": reads_spare},
        (
            *("choose", "pulled", "no rewards", "growth", "restriction", "all open"),
            *("unused arm", "score", "one key", "simulation"),
        ),
    ),
    "simulated otherwise": Breach("simulation", "a player made [", {"prepare_for": another_table}),
    "late rewards are NaN": Breach(
        "late rewards",
        "first of the state holds nan",
        {
            "update": prompt_only,
        },
    ),
    "late rewards raise": Breach(
        "late rewards",
        "raises raised IndexError: no place for it",
        {"update": raises},
        ("same seed", "saving", "one key", "many keys"),
    ),
    "no ramp-up": Breach("no rewards", "were pulled [300, 0, 0] times", {"choose": no_ramp_up}),
    "closed arms are chosen": Breach("open arms", "when the open arms were [", {"choose": blind}),
    "update opens": Breach("closed arms", "update for arm", {"update": opens}),
    "a restriction leaves a trace": Breach(
        "restriction",
        "restricted to all open arms it decides otherwise",
        {"set_open": forgets_when_opened, "choose": reads_openings},
        ("unused arm",),
    ),
    "closing matters": Breach(
        "all open",
        "whose arms cannot close decides otherwise",
        {"choose": minds_closing},
        ("simulation",),
    ),
    "init for more arms": Breach(
        "more arms",
        "same contents in front, but first of the state differs for 3 and 4",
        {"init": ranked_backwards},
    ),
    "the number of arms matters": Breach(
        "unused arm", "closed and never pulled, the policy decides", {"choose": minds_number}
    ),
    "score counts": Breach(
        "score", "score must change nothing, but changed spare", {"score": counting_score}
    ),
    "score is NaN": Breach("score", "must be a number, got NaN", {"score": undefined_score}),
    "a stale score": Breach(
        "score", "with the scores of all arms refreshed", {"update": stale}, ("inspect",)
    ),
    "a pooled score": Breach(
        "score",
        "the next one of the present key, but the policy keeps",
        {"refresh_score": pooled_pull, "update": pooled_update},
    ),
    "no inspection": Breach("inspect", "must return an Inspection", {"inspect": not_an_inspection}),
    "another index": Breach("inspect", "and not the highest", {"inspect": wrong_index}),
    "another sum": Breach("inspect", "must be estimate and padding", {"inspect": wrong_sum}),
    "off its band": Breach("curve", "within low and high", {"curve": off_band}),
    "a curve without rewards": Breach("curve", "must return None for arm", {"curve": always}),
    "memory outside the state": Breach(
        "saving",
        "a player that was saved as JSON and loaded decides otherwise at decision",
        {"update": remembers, "choose": recalls},
        ("unused arm", "inspect", "many keys"),
    ),
    "policies that are never equal": Breach("saving", "no longer equal", {"equal": False}),
    "keys matter": Breach(
        "one key", "in an audience of one key it decides otherwise", {"choose": minds_keys}
    ),
    "memory of keys outside the state": Breach(
        "many keys",
        "a player that was saved as JSON and loaded decides otherwise at decision",
        {"update": remembers, "choose": recalls_in_audiences},
    ),
}


def clear() -> None:
    """Reset what broken policies keep outside their states."""
    MEMORY.clear()
    STARTS.clear()


def broken_by(policy: Policy, names: list[str]) -> dict[str, BrokenPromise]:
    """What is said of each promise, tested by itself; those that are kept are left out."""
    found = {}
    for name in names:
        clear()
        try:
            check_policy(policy, rounds=ROUNDS, compiled=False, promises=[name])
        except BrokenPromise as error:
            found[name] = error
    return found


@pytest.mark.parametrize("name", BREACHES)
def test_a_broken_promise_is_named_and_no_other(name: str) -> None:
    promise, words, changes, also = BREACHES[name]
    policy = made(dict(changes))
    found = broken_by(policy, PLAIN)
    assert words in str(found[promise])
    assert str(found[promise]).startswith(f"Broken breaks {promise!r}: ")
    assert {error.promise for error in found.values()} == {promise, *also}, found
    clear()
    with pytest.raises(BrokenPromise) as first:
        check_policy(policy, rounds=ROUNDS, compiled=False)
    assert first.value.promise == promise


def test_every_promise_has_a_breach() -> None:
    assert {breach.promise for breach in BREACHES.values()} == set(PLAIN)


def test_a_sound_policy_keeps_every_promise() -> None:
    assert broken_by(made({}), PLAIN) == {}
    report = check_policy(made({}), rounds=ROUNDS, compiled=False)
    assert list(report.kept) == PLAIN
    assert report.skipped == dict.fromkeys(COMPILED, "compiled=False")


@pytest.mark.parametrize("name", PROMISES)
def test_promises_are_told_in_a_sentence(name: str) -> None:
    assert PROMISES[name].endswith(".")
    assert "  " not in PROMISES[name]


class CubedParams(NamedTuple):
    arms: int


class CubedState(NamedTuple):
    arms: Arms
    total: Numbers


def cubed_init(params: Any, arms: int, capacity: int) -> Any:
    return CubedState(no_pulls(arms), np.zeros(1))


def cubed_choose(params: Any, state: Any, draw: Any) -> Any:
    arm = next_untried(state.arms, 1)
    if arm < 0:
        size = (1000.0 * abs(state.total[0]) + 0.1) ** 3  # which plain Python rounds differently
        odd = int((size - math.floor(size)) * 1e7)
        opening = state.arms.opening
        arm = nth_open(opening, params.arms, odd % open_arms(opening, params.arms))
    return arm


def cubed_update(params: Any, state: Any, arm: Any, pull: Any, reward: Any) -> None:
    rewarded(state.arms, arm, 1)
    state.total[0] += reward


def listing_choose(params: Any, state: Any, draw: Any) -> Any:
    return max([next_untried(state.arms, 1), 0])  # compiled code allocates nothing


def cubed(choose: Any) -> Policy:
    class Cubed(Policy):
        """Chooses by the last bits of a power."""

        verbs: ClassVar[Verbs] = Verbs(CubedParams, CubedState, cubed_init, choose, cubed_update)
        key = "broken"

        def prepare(self, arms: int, horizon: int | None, reach: int) -> Any:
            return CubedParams(arms)

    return dataclass(frozen=True)(Cubed)()


@pytest.mark.parametrize("promise", COMPILED)
def test_compiled_code_that_decides_otherwise(promise: str) -> None:
    with pytest.raises(BrokenPromise, match=r"compiled and plain .* differ.* decision \d+") as it:
        check_policy(cubed(cubed_choose), promises=[promise])
    assert it.value.promise == promise


def test_code_that_cannot_be_compiled() -> None:
    with pytest.raises(BrokenPromise, match="Cubed cannot be compiled: ") as it:
        check_policy(cubed(listing_choose), rounds=20, promises=COMPILED[0])
    assert it.value.promise == COMPILED[0]


def test_a_compiled_policy_keeps_all_promises() -> None:
    report = check_policy(policies.UCB1(), rounds=60)
    assert set(report.skipped) == {"score", "curve"}
    assert report.kept[-2:] == COMPILED


def test_what_is_not_tested_has_a_reason() -> None:
    oracle = policies.Oracle([Arm(models.Constant(level)) for level in (0.5, 0.25, 0.5)])
    assert set(check_policy(oracle, rounds=20, compiled=False).skipped) == {
        *("simulation", "no rewards", "more arms", "unused arm", "score", "curve", *COMPILED)
    }
    alone = made({"no_audience": "it has no time for it"})
    report = check_policy(alone, rounds=20, compiled=False)
    assert report.skipped["one key"] == "no_audience says: it has no time for it"
    assert report.skipped["many keys"] == report.skipped["one key"]
    words = str(report)
    assert words.startswith(f"Broken keeps {len(report.kept)} promises: params, same seed, ")
    assert "\n- one key: no_audience says: it has no time for it" in words


class TurnParams(NamedTuple):
    arms: int


class TurnState(NamedTuple):
    time: Counts


def test_arms_that_cannot_close() -> None:
    """A state without the part `Arms`, and no verb `set_open`."""

    def pulled(params: Any, state: Any, arm: Any) -> None:
        state.time[0] += 1

    class Turn(Policy):
        """Each arm in turn."""

        verbs: ClassVar[Verbs] = Verbs(
            TurnParams,
            TurnState,
            lambda params, arms, capacity: TurnState(np.zeros(1, dtype=np.int64)),
            lambda params, state, draw: int(state.time[0]) % params.arms,
            lambda params, state, arm, pull, reward: None,
            pulled,
        )
        key = "broken"

        def prepare(self, arms: int, horizon: int | None, reach: int) -> Any:
            return TurnParams(arms)

    report = check_policy(dataclass(frozen=True)(Turn)(), rounds=60, compiled=False)
    reasons = {report.skipped[name] for name in ("open arms", "closed arms", "all open")}
    assert reasons == {"the policy has no verb set_open"}
    assert {"choose", "fields", "saving", "one key", "many keys"} <= set(report.kept)


def test_rewards_and_arms_are_those_of_the_scenario() -> None:
    """Clicks of five arms: a policy that is given other rewards refuses them."""
    seen = set()

    def clicks(params: Any, state: Any, arm: Any, pull: Any, reward: Any) -> None:
        assert reward in (0.0, 1.0)
        seen.add(arm)
        update(params, state, arm, pull, reward)

    arms = [Arm(models.Constant(rate)) for rate in (0.1, 0.3, 0.5, 0.7, 0.9)]
    scenario = Scenario(arms, Bernoulli(), horizon=100)
    check_policy(made({"update": clicks}), scenario=scenario, rounds=60, compiled=False)
    assert seen == set(range(6))  # with the one that is added
    needy = policies.SWA(alpha=0.2, sigma=0.5)
    check_policy(needy, scenario=scenario, rounds=60, compiled=False, promises=["late rewards"])


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"policy": policies.UCB1}, "policy must be a rotting Policy, an instance"),
        ({"rounds": 3}, "rounds must be an integer from 20 to 1000, got 3"),
        ({"rounds": 3000}, "rounds must be an integer from 20 to 1000, got 3000"),
        ({"seed": -1}, "seed must be an integer"),
        ({"promises": ["chose"]}, "promises must be one of .*'choose'.*, got 'chose'"),
        ({"scenario": 3}, "scenario must be a Scenario, got 3"),
        (
            {
                "scenario": Scenario(
                    [Arm(models.Constant(0.5))], Bernoulli(), 50, audience=Audience(3)
                )
            },
            "scenario must be one without openings and without an audience",
        ),
    ],
)
def test_arguments_that_cannot_be(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        check_policy(**{"policy": policies.UCB1(), "compiled": False, **settings})
