"""The statements of docs/guides/coming-from.md about other libraries, where these are installed.

Their code and then ours run in one scope, as they stand on the page, and results that it calls
equal are compared. Its other statements are checked on the libraries themselves.

`make test-peers` makes environments with the versions that the page names. Elsewhere most of these
tests skip; our own code on the page is run by test_docs.py in any case.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import math
import pickle
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest

from helpers.page_blocks import DOCS, ROOT, blocks
from rotting import Player, policies

PAGE = DOCS / "guides" / "coming-from.md"
LIBRARIES = {"SMPyBandits": "SMPyBandits", "river": "river", "MABWiser": "mabwiser"}
ARMS = ["red", "blue", "green"]
SCALES = [1.0, 0.5, 3.0]  # of the padding

# They warn of much: numpy's old names, divisions by zero, text with stray backslashes.
pytestmark = pytest.mark.filterwarnings("ignore")


class Pair(NamedTuple):
    """What theirs found, and what ours found after it."""

    theirs: dict[str, Any]
    ours: dict[str, Any]


class Peer(NamedTuple):
    """UCB1 of a library, by the three things that all of them can do."""

    learn: Callable[[str, float], Any]
    choose: Callable[[], str]
    counts: Callable[[], list[int]]


def module(name: str) -> Any:
    """A module of another library; the test skips where that is not installed."""
    library = name.partition(".")[0]
    if importlib.util.find_spec(library) is None:
        pytest.skip(f"{library} is not installed; make test-peers installs it")
    return importlib.import_module(name)


def code(title: str) -> tuple[str, str]:
    """Their block and ours in the section of a library."""
    (section,) = re.findall(rf"^## {title}\n(.*?)(?=^## )", PAGE.read_text(), re.M | re.S)
    theirs, ours = blocks(section)
    assert (theirs.language, ours.language) == ("py", "python")
    assert theirs.text.startswith(f"# needs {LIBRARIES[title]}\n")
    return theirs.text, ours.text


@functools.cache
def run(title: str) -> Pair:
    """Their code, then ours, in one scope."""
    theirs, ours = code(title)
    scope: dict[str, Any] = {"__name__": "page"}
    exec(compile(theirs, f"{title} on {PAGE.name}", "exec"), scope)
    found = dict(scope)
    exec(compile(ours, f"ours for {title} on {PAGE.name}", "exec"), scope)
    return Pair(found, scope)


def both(title: str) -> Pair:
    """The same, once for all tests; they skip where the library is not installed."""
    module(LIBRARIES[title])
    return run(title)


def peer(title: str, scale: float = 1.0) -> Peer:
    """A new UCB1 of the other library; a larger scale is more padding."""
    if title == "SMPyBandits":
        ucb = module("SMPyBandits.Policies").UCB(3, amplitude=scale)
        ucb.startGame()
        return Peer(
            lambda arm, reward: ucb.getReward(ARMS.index(arm), reward),
            lambda: ARMS[ucb.choice()],
            lambda: [int(pulls) for pulls in ucb.pulls],
        )
    if title == "river":
        ucb = module("river.bandit").UCB(delta=scale, seed=0)
        return Peer(
            ucb.update, lambda: str(ucb.pull(ARMS)), lambda: [ucb._counts[arm] for arm in ARMS]
        )
    mab = module("mabwiser.mab")
    ucb = mab.MAB(list(ARMS), mab.LearningPolicy.UCB1(alpha=scale))
    return Peer(
        lambda arm, reward: ucb.partial_fit([arm], [reward]),
        lambda: str(ucb.predict()),
        lambda: [int(ucb._imp.arm_to_count[arm]) for arm in ARMS],
    )


def ours(scale: float = 1.0) -> Player:
    """Our UCB1, with the constant that the page gives for theirs."""
    return policies.UCB1(c=2 * scale**2).online(ARMS, compiled=False)


class Story:
    """Rewards as they come, each arm's once first; and the indices of the page."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.arms = [*ARMS, *map(str, rng.choice(ARMS, size=rng.integers(1, 60)))]
        self.rewards = [float(reward) for reward in rng.random(len(self.arms))]

    def __iter__(self) -> Iterator[tuple[str, float]]:
        return iter(zip(self.arms, self.rewards, strict=True))

    def indices(self, rounds: int, scale: float) -> dict[str, float]:
        """mean + scale sqrt(2 ln rounds / N) of each arm."""
        heard = {arm: [reward for a, reward in self if a == arm] for arm in ARMS}
        return {
            arm: float(np.mean(rewards)) + scale * math.sqrt(2 * math.log(rounds) / len(rewards))
            for arm, rewards in heard.items()
        }


def best(indices: dict[str, float]) -> str:
    """The first arm with the largest index."""
    return max(indices, key=lambda arm: indices[arm])


def test_the_environments_have_the_versions_that_the_page_names() -> None:
    text = re.sub(r"\s+", " ", PAGE.read_text())
    (said,) = re.findall(r"Their code was run with (.*?)\. `make", text)
    named = dict(re.findall(r"(\w+) ([\d.]+\d)", said))
    assert set(named) == set(LIBRARIES)
    target = (ROOT / "Makefile").read_text().partition("\ntest-peers:")[2].partition("\n\n")[0]
    assert dict(re.findall(r"(\w+)==([\d.]+)", target)) == {
        package: named[title] for title, package in LIBRARIES.items()
    }


@pytest.mark.parametrize("title", LIBRARIES)
def test_sections_have_their_code_and_ours_which_stands_alone(title: str) -> None:
    theirs, ours = code(title)
    compile(theirs, title, "exec")
    scope: dict[str, Any] = {"__name__": "page"}
    exec(ours, scope)
    assert scope["chosen"] == "green"


@pytest.mark.parametrize("title", LIBRARIES)
def test_the_same_arm_is_chosen(title: str) -> None:
    found = both(title)
    assert found.theirs["chosen"] == found.ours["chosen"]


def test_smpybandits_regret() -> None:
    """Both regrets are the gap times the pulls of the worse arm, and near each other."""
    found = both("SMPyBandits")
    evaluator, result = found.theirs["evaluator"], found.ours["result"]
    worse = evaluator.lastPulls[0][0, 0]
    assert len(worse) == len(result.final_regret) == 100
    assert found.theirs["regret"] == pytest.approx(0.6 * worse.mean())
    mine = result.final_regret / 0.6
    np.testing.assert_allclose(mine, np.round(mine), atol=1e-6)
    error = math.hypot(0.6 * worse.std(), result.final_regret.std()) / 10
    assert 0 < error < 0.05 * found.ours["regret"]
    assert abs(found.theirs["regret"] - found.ours["regret"]) < 3 * error
    (said,) = re.findall(r"worse arm: here ([\d.]+) and ([\d.]+),", PAGE.read_text())
    assert said == (f"{found.theirs['regret']:.1f}", f"{found.ours['regret']:.1f}")
    np.testing.assert_allclose(evaluator.getLastRegrets(0), found.theirs["regret"])
    assert len(set(result.final_regret)) > 1


def test_smpybandits_classes_of_the_tables() -> None:
    theirs = module("SMPyBandits.Policies")
    for name in ("SWUCB", "DiscountedUCB", "Exp3S", "DiscountedThompson", "klUCB", "MOSS", "IMED"):
        assert hasattr(theirs, name)
    for name in ("RAWUCB", "FEWA"):
        assert not hasattr(theirs, name)
    assert hasattr(module("SMPyBandits.Environment"), "PieceWiseStationaryMAB")
    window, discounted = theirs.SWUCB(2), theirs.DiscountedUCB(2)
    for policy in (window, discounted):
        policy.startGame()
        policy.getReward(0, 1.0)
        policy.startGame()
    assert 0 in window.last_choices
    assert discounted.discounted_pulls[0] == 1


def test_river_and_ours_count_pulls_at_other_times() -> None:
    found = both("river")
    assert (found.theirs["counted"], found.ours["counted"]) == (0, 3)
    assert found.theirs["first"] == [decision.arm for decision in found.ours["first"]]


def test_river_table() -> None:
    bandit = module("river.bandit")
    policy = both("river").theirs["policy"]
    assert policy.ranking[0] == "blue"
    assert "Pulls" in repr(policy)
    assert "Pulls" not in str(policy)
    assert not policy.clone()._counts
    burnt = bandit.UCB(delta=1.0, burn_in=2)
    burnt.update("red", 0.0)
    assert burnt.pull(["red", "blue"]) == "red"
    kept = bandit.evaluate_offline(
        bandit.UCB(delta=1.0), [(["red"], None, "red", 1.0), (["red"], None, "blue", 1.0)]
    )
    assert (kept[0].get(), kept[1]) == (1.0, 1)


def test_mabwiser_indices_are_ours_but_for_one_round() -> None:
    found = both("MABWiser")
    shorter = math.sqrt(math.log(6) / math.log(7))
    for row in found.ours["player"].table():
        if row.arm in ARMS:
            mean = {"red": 1 / 2, "blue": 2 / 3, "green": 0.0}[row.arm]
            padding = found.ours["index"][row.arm] - mean
            assert found.theirs["index"][row.arm] == pytest.approx(mean + shorter * padding)


def test_mabwiser_arms_without_a_decision_wait() -> None:
    found = both("MABWiser")
    assert found.theirs["new"] == 0
    mab = found.theirs["mab"]
    assert {mab.predict() for _ in range(50)} == {"green"}
    mab.partial_fit(["orange"], [1])
    mab.remove_arm("orange")
    mab.add_arm("orange")
    assert mab.predict_expectations()["orange"] == 0
    theirs = module("mabwiser.mab")
    for kind in ("ThompsonSampling", "EpsilonGreedy"):
        drawing = theirs.MAB(["red", "blue"], getattr(theirs.LearningPolicy, kind)())
        with pytest.raises(Exception, match="fit before"):
            drawing.predict()
        drawing.fit(["red"], [1])
        assert {drawing.predict() for _ in range(500)} == {"red", "blue"}


def test_mabwiser_fit_forgets() -> None:
    theirs = module("mabwiser.mab")
    mab = theirs.MAB(["red", "blue"], theirs.LearningPolicy.UCB1())
    mab.fit(["red", "blue", "red"], [0, 1, 0])
    mab.fit(["blue", "red"], [0, 1])
    assert mab.predict() == "red"
    assert theirs.LearningPolicy.UCB1().alpha == 1


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("title", LIBRARIES)
def test_ucb1_has_the_index_of_the_page(title: str, scale: float) -> None:
    """Theirs with ln n, ours with ln(n + 1); the choice is nearly always the same."""
    same = 0
    for seed in range(100):
        story, theirs, mine = Story(seed), peer(title, scale), ours(scale)
        for arm, reward in story:
            theirs.learn(arm, reward)
        mine.learn(story.arms, story.rewards)
        rounds = len(story.arms)
        assert theirs.choose() == best(story.indices(rounds, scale))
        indices = story.indices(rounds + 1, scale)
        assert {row.arm: row.index for row in mine.table()} == pytest.approx(indices)
        same += theirs.choose() == mine.select().arm
    assert same >= 95


@pytest.mark.parametrize("title", LIBRARIES)
def test_equal_indices_and_arms_without_a_reward(title: str) -> None:
    drawn = title != "MABWiser"
    theirs, mine = peer(title), ours()
    if drawn:
        assert {theirs.choose() for _ in range(100)} == set(ARMS)
    assert [mine.select().arm for _ in ARMS] == ARMS
    for arm in reversed(ARMS):
        theirs.learn(arm, 1.0)
    mine = ours()
    mine.learn(ARMS, [1.0] * 3)
    assert {theirs.choose() for _ in range(100)} == (set(ARMS) if drawn else {"red"})
    assert mine.select().arm == "red"


@pytest.mark.parametrize("title", LIBRARIES)
def test_theirs_count_a_pull_when_its_reward_is_learnt_and_are_pickled(title: str) -> None:
    theirs = peer(title)
    for arm in ARMS:
        theirs.learn(arm, 1.0)
    for _ in range(5):
        theirs.choose()
    assert theirs.counts() == [1, 1, 1]
    name = {"SMPyBandits": "policy", "river": "policy", "MABWiser": "mab"}[title]
    assert pickle.loads(pickle.dumps(both(title).theirs[name]))
