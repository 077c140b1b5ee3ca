"""Checks of loaded states: reachable states are accepted, their neighbours refused."""

from __future__ import annotations

import functools
import itertools
import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from rotting import models
from rotting.policies.parts import arms as counting
from rotting.policies.parts import halves, history, ranking, rounds
from rotting.policies.parts.halves import CHUNK, NOWHERE, PROMPT
from rotting.policies.parts.openings import AllOpen

FAMILY = models.Polynomial().over([0.1, 0.4])


def changed(part: Any, field: str, place: Any, value: float) -> Any:
    """The part with one entry of an array changed."""
    array = getattr(part, field).copy()
    array[place] = value
    return part._replace(**{field: array})


# --- Arms


def counts(pulls: list[int], observed: list[int], clock: list[int]) -> counting.Arms:
    return counting.Arms(np.array(pulls), np.array(observed), np.array(clock), AllOpen())


def test_arms_have_a_pull_for_each_reward_that_came_or_may_come() -> None:
    arms = counts([3, 2], [2, 2], [5, 0, 2])
    assert arms.wrong(None, None, []) is None
    assert arms.wrong(None, None, [(0, 3)]) is None
    for waiting in ([(1, 1)], [(0, 3), (0, 2)], [(0, 3), (1, 2)]):
        assert "observed" in str(arms.wrong(None, None, waiting))


def test_the_clock_is_no_further_than_pulls_and_arms_allow() -> None:
    arms = counts([3, 2], [0, 0], [5, 2, 2])
    assert arms.wrong(None, None, []) is None
    for place in range(3):
        above = changed(arms, "clock", place, arms.clock[place] + 1)
        assert above.wrong(None, None, []).startswith("clock must be at most [5, 2, 2], got [")


# --- History and Starts


def observed(*counts: int) -> Any:
    return SimpleNamespace(observed=np.array(counts))


def remembered(turns: list[int], capacity: int, arms: int = 2) -> history.History:
    """The history after rewards of these arms, in turn."""
    kept = history.empty_history(arms, capacity)
    shown = [0] * arms
    for arm in turns:
        history.remember(kept, arm, shown[arm], shown[arm] + 1, 1.0)
        shown[arm] += 1
    return kept


@pytest.mark.parametrize("n", [1, 63, 64, 65, 128, 129])
def test_the_chunks_of_an_arm_are_as_many_as_its_rewards_fill(n: int) -> None:
    kept = remembered([1] * n, 200)
    needed = math.ceil(n / 64)
    assert kept.chunks(1, n) == list(range(needed))
    assert kept.chunks(1, 64 * needed) == list(range(needed))
    assert kept.chunks(1, 64 * needed + 1) == []  # too few
    assert kept.chunks(1, 64 * needed - 63) == list(range(needed))
    assert kept.chunks(1, 64 * needed - 64) == []  # too many
    assert kept.chunks(0, 1) == kept.chunks(0, 0) == []


def test_a_chain_of_chunks_that_bites_its_tail_is_found_out() -> None:
    kept = changed(remembered([0] * 100, 200), "before", 0, 1)
    assert kept.chunks(0, 100) == []


@pytest.mark.parametrize("turns", [[], [0], [1] * 64, [0, 1] * 65, [0] * 200 + [1], [1] * 130])
def test_a_history_fits_the_rewards_observed(turns: list[int]) -> None:
    kept = remembered(turns, 400)
    n = [turns.count(0), turns.count(1)]
    state = SimpleNamespace(arms=observed(*n))
    assert kept.wrong(state, None, ()) is None
    for arm in (0, 1):
        more = SimpleNamespace(arms=observed(*(n[i] + 64 * (i == arm) for i in (0, 1))))
        assert f"arm {arm}'s" in str(kept.wrong(more, None, ()))
        if n[arm]:
            fewer = SimpleNamespace(arms=observed(*(n[i] * (i != arm) for i in (0, 1))))
            assert f"arm {arm}'s 0 rewards" in str(kept.wrong(fewer, None, ()))


def test_a_chunk_belongs_to_one_arm_and_lies_before_the_free_ones() -> None:
    kept = remembered([0, 1], 400)
    state = SimpleNamespace(arms=observed(1, 1))
    assert kept.wrong(state, None, ()) is None
    words = "before must give every chunk in use to one arm"
    assert changed(kept, "last", 1, 0).wrong(state, None, ()) == words
    assert changed(kept, "free", 0, 1).wrong(state, None, ()) == words
    assert changed(kept, "last", 1, 5).wrong(state, None, ()) == words
    assert changed(kept, "free", 0, 3).wrong(state, None, ()) is None


def test_chunks_given_up_are_less_than_half_of_what_no_arm_has_set_aside() -> None:
    """13 chunks for 2 arms: 10 are not set aside, so that 5 may have been given up."""
    kept = remembered([0, 1, 1], 64 * 10)
    assert kept.before.size == 13
    state = SimpleNamespace(arms=observed(1, 2))
    assert changed(kept, "free", 0, 2 + 5).wrong(state, None, ()) is None
    found = changed(kept, "free", 0, 2 + 6).wrong(state, None, ())
    assert found == "free must leave room for the rewards to come, got 8 of 13 chunks"


def test_a_window_starts_at_a_reward_in_its_chunk() -> None:
    kept = remembered([0] * 130 + [1], 400)  # chunks 0, 1, 2 and 3
    state = SimpleNamespace(arms=observed(130, 1), history=kept)

    def wrong(start: int, chunk: int) -> str | None:
        starts = history.Starts(np.array([chunk, 3]), np.array([start, 0]))
        return starts.wrong(state, None, ())

    for start, chunk in ((0, 0), (63, 0), (64, 1), (127, 1), (128, 2), (129, 2)):
        assert wrong(start, chunk) is None
        for other in {0, 1, 2, 3} - {chunk}:
            assert "arm 0's 130 rewards" in str(wrong(start, other))
    assert "got 130" in str(wrong(130, 2))
    fresh = history.no_starts(2)
    empty = SimpleNamespace(arms=observed(0, 0), history=history.empty_history(2, 10))
    assert fresh.wrong(empty, None, ()) is None  # without rewards nothing is read
    one = SimpleNamespace(arms=observed(0, 1), history=remembered([1], 10))
    assert fresh.wrong(one, None, ()) is None
    assert "arm 1's 1 rewards" in str(changed(fresh, "start", 1, 1).wrong(one, None, ()))


# --- Halves


@functools.cache
def late(kind: str) -> tuple[halves.Halves, Any, Any]:
    """Halves of two arms that were played for a while, their rewards, and their pulls."""
    rng = np.random.default_rng(len(kind))
    tables = halves.half_tables(FAMILY, 200)
    kept = halves.empty_halves(2, 2, 160)
    orders = {
        "prompt": [np.arange(60), np.arange(37)],
        "shuffled": [rng.permutation(60), rng.permutation(37)],
        "a gap at first": [np.arange(1, 61), np.arange(37)],
        "a gap at last": [np.append(np.arange(60), 70), np.arange(16)],
        "one arm only": [np.arange(0), np.append(np.arange(30), np.arange(40, 60))],
        "few": [np.array([0]), np.array([1, 0])],
    }[kind]
    for arm, order in enumerate(orders):
        for n, k in enumerate(order):
            halves.add_reward(tables, kept, arm, n, n, k + 1, 1.0)
            halves.detect(tables, kept, arm, n, k + 1, 1.0)
    observed = np.array([order.size for order in orders])
    return kept, observed, np.array([order.max(initial=-1) + 1 for order in orders])


KINDS = ["prompt", "shuffled", "a gap at first", "a gap at last", "one arm only", "few"]


def queue_of(kept: halves.Halves, first: int) -> list[int]:
    found = []
    while first != NOWHERE:
        found.append(int(first))
        first = kept.after[first]
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_halves_that_were_played_are_accepted(kind: str) -> None:
    kept, n, pulls = late(kind)
    assert kept.wrong_for(n, pulls) is None
    more = kept.grown(halves.empty_halves(2, 2, 4000), None)
    assert more.after.size > kept.after.size
    assert more.wrong_for(n, pulls) is None


@pytest.mark.parametrize("kind", KINDS)
def test_every_link_of_halves_is_looked_at(kind: str) -> None:
    """Any other chunk than the right one is refused."""
    kept, n, pulls = late(kind)
    words = {"head": "head and tail", "tail": "head and tail", "middle": "middle"}
    others = range(NOWHERE, kept.after.size)
    for arm in (0, 1):
        for field, start in words.items():
            right = getattr(kept, field)[arm]
            if field == "middle" and (kept.settled[arm] == PROMPT or n[arm] == 0):
                right = None  # not read
            for other in others:
                found = changed(kept, field, arm, other).wrong_for(n, pulls)
                if right is None or other == right:
                    assert found is None
                else:
                    assert found is not None
                    assert found.startswith(start) or "chunks of arm" in found
        queue = queue_of(kept, kept.head[arm])
        for chunk in queue:
            for other in set(others) - {kept.after[chunk]}:
                assert changed(kept, "after", chunk, other).wrong_for(n, pulls) is not None
        for previous, chunk in itertools.pairwise(queue):
            for other in set(others) - {previous}:
                found = changed(kept, "before", chunk, other).wrong_for(n, pulls)
                assert found == f"before must lead back through the chunks of arm {arm}"
        if queue:
            assert changed(kept, "before", queue[0], 3).wrong_for(n, pulls) is None  # not read
    free = queue_of(kept, kept.free[0])
    rest = f"free must lead through the {len(free)} chunks that no arm has"
    for other in set(others) - {free[0]}:
        assert changed(kept, "free", 0, other).wrong_for(n, pulls) == rest
    for chunk in free:
        for other in set(others) - {kept.after[chunk]}:
            assert changed(kept, "after", chunk, other).wrong_for(n, pulls) is not None


@pytest.mark.parametrize("kind", KINDS)
def test_the_chunks_of_halves_fit_their_rewards(kind: str) -> None:
    """From that of the first reward that may change sides, the half of them, to that of the last.

    So as many rewards as lie in the same chunks are accepted, and no others.
    """
    kept, n, pulls = late(kind)
    for arm in (0, 1):
        length = len(queue_of(kept, kept.head[arm]))
        for other in range(130):
            if kept.settled[arm] != PROMPT and other:
                continue  # the middle moves too
            places = range(other // 2, other)
            needed = len({place // CHUNK for place in places})
            fits = needed == length
            changed_n = np.where(np.arange(2) == arm, other, n)
            found = kept.wrong_for(changed_n, pulls)
            assert (found is None) == fits, (arm, other)


def test_no_more_than_half_of_the_rewards_have_left() -> None:
    kept, n, pulls = late("shuffled")
    assert kept.settled.tolist() == [30, 18]
    assert changed(kept, "settled", 0, 29).wrong_for(n, pulls) is None
    found = changed(kept, "settled", 0, 31).wrong_for(n, pulls)
    assert found == "settled must be at most half of arm 0's 60 rewards, got 31"
    fewer, words = np.array([58, 37]), "settled must be at most half of arm 0's 58 rewards, got 30"
    assert kept.wrong_for(fewer, pulls) == words


def test_rewards_of_pulls_that_were_made() -> None:
    kept, n, pulls = late("shuffled")
    assert kept.pending_pull.max() == pulls.max() == 60
    below = kept.wrong_for(n, pulls - 1)
    assert below == "pending_pull must hold pulls that were made"
    assert kept.wrong_for(n, np.array([0, 60])) is None  # the arm of a chunk is not known here
    fresh = halves.empty_halves(2, 2, 20)
    assert fresh.wrong_for(np.zeros(2, dtype=np.int64), np.zeros(2, dtype=np.int64)) is None
    none = np.zeros(0, dtype=np.int64)
    nobody = halves.empty_halves(0, 2, 20)
    assert nobody.wrong_for(none, none) is None
    assert changed(nobody, "pending_pull", (0, 0), 1).wrong_for(none, none) == below


# --- Ranking


@pytest.mark.parametrize("arms", [48, 50, 64])
def test_every_node_of_the_tree_is_looked_at(arms: int) -> None:
    """An inner node has one of the two arms below it, a leaf its own."""
    rng = np.random.default_rng(arms)
    kept = ranking.unranked(arms)
    assert kept.wrong(None, None, ()) is None  # nothing was played yet, and all will be
    for arm in range(arms):
        ranking.rank(kept, arm, float(rng.normal()))
    ranking.best(kept, AllOpen(), None)
    assert kept.wrong(None, None, ()) is None
    tree, leaves = kept.tree, kept.tree.size // 2
    others = range(-1, arms)
    assert changed(kept, "tree", 0, 7).wrong(None, None, ()) is None  # the root is node 1
    for node in (1, 2, 3, 10, leaves - 1):
        for other in others:
            above = node // 2
            accepted = {int(tree[2 * node]), int(tree[2 * node + 1])} - {-1}
            if tree[2 * node] < 0:
                accepted = {-1}  # a node without arms below it
            if above and tree[node] == tree[above]:
                accepted &= {int(tree[node])}
            found = changed(kept, "tree", node, other).wrong(None, None, ())
            assert (found is None) == (other in accepted), (node, other)
            if found is not None:
                assert found == "tree must have in each node one of the two arms below it"
    for leaf in (leaves, leaves + 1, leaves + arms - 1, 2 * leaves - 1):
        for other in set(others) - {int(tree[leaf])}:
            found = changed(kept, "tree", leaf, other).wrong(None, None, ())
            assert found == "tree must have the arms as its leaves"


def test_inner_nodes_that_will_be_found_anew_may_hold_anything() -> None:
    kept = ranking.unranked(48)
    assert changed(kept, "tree", 5, 17).wrong(None, None, ()) is None
    found = changed(changed(kept, "tree", 5, 17), "changed", 0, ranking.NOTHING)
    assert found.wrong(None, None, ()) is not None


def test_without_a_tree_there_is_nothing_to_look_at() -> None:
    for arms in (0, 1, 47):
        assert ranking.unranked(arms).wrong(None, None, ()) is None
        assert ranking.unranked(arms).tree.size == 1
    assert changed(ranking.unranked(47), "tree", 0, 3).wrong(None, None, ()) is None  # not read


# --- Rounds


@pytest.mark.parametrize("t", [0, 1, 4, 5, 6, 13])
def test_the_counts_of_the_last_rounds_are_those_of_the_ring(t: int) -> None:
    """A ring of five rounds, before and after it is full; every third reward is missing."""
    arms, kept = counting.no_pulls(2), rounds.no_rounds(2, 5)
    for k in range(t):
        rounds.enter(kept, arms, 5, k % 2)
        if k % 3:
            rounds.credit(kept, arms, k % 2, arms.pulls[k % 2], 1.0)
    state = SimpleNamespace(arms=arms)
    assert kept.wrong(state, None, ()) is None
    for arm in (0, 1):
        for change in (-1, 1):
            other = changed(kept, "pulls", arm, kept.pulls[arm] + change)
            assert other.wrong(state, None, ()) == "pulls must be those of the rounds in the ring"
            off = SimpleNamespace(arms=changed(arms, "observed", arm, arms.observed[arm] + change))
            assert kept.wrong(off, None, ()) == "ring_reward must hold the observed rewards"
    for place in range(5):
        swapped = changed(kept, "ring_arm", place, 1 - kept.ring_arm[place])
        assert (swapped.wrong(state, None, ()) is None) == (place >= t)
        known = math.isnan(kept.ring_reward[place])
        other = changed(kept, "ring_reward", place, 1.0 if known else math.nan)
        assert (other.wrong(state, None, ()) is None) == (place >= t)
