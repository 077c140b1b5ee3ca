"""Players that threads share, and that a fork takes along.

What could end the interpreter runs in a child process, so that a crash is a failure. So is a
deadlock: faulthandler prints where, and ends it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers.cases import examples, name_of, player_of, run_script
from rotting import policies
from rotting.kernel.state import leaves
from rotting.policies import Policy

SHARED = """
import copy, faulthandler, json, pickle, sys, threading
from rotting import Player, policies

faulthandler.dump_traceback_later(300, exit=True)
THREADS, PAIRS, ARMS = 4, 6000, 400
sys.setswitchinterval(1e-5)

def waits_for(player):  # and the state agrees with what the player has counted
    observed = int(player.core.state.arms.observed.sum())
    assert list(player.pulls.values()) == player.core.state.arms.pulls.tolist()
    assert sum(player.pulls.values()) == observed + len(player.outstanding)
    return len(player.outstanding)

def share(policy):
    player = policy.online(range(ARMS), compiled=True)
    wrong, saved, working = [], [0], [True]

    def work(thread):
        for n in range(PAIRS):
            player.update(player.select(), 0.1 * ((7 * n + thread) % 10))

    def save():
        ways = (
            lambda: Player.from_json(player.to_json()),
            lambda: Player.from_bytes(player.to_bytes()),
            lambda: copy.copy(player),
            lambda: pickle.loads(pickle.dumps(player)),
        )
        while working[0] or saved[0] < len(ways):
            assert waits_for(ways[saved[0] % len(ways)]()) <= THREADS
            assert len(player.outstanding) <= THREADS and "400 arms" in repr(player)
            saved[0] += 1

    def watched(job, *args):
        def run():
            try:
                job(*args)
            except BaseException as error:
                wrong.append(repr(error))
        return threading.Thread(target=run)

    workers, saver = [watched(work, k) for k in range(THREADS)], watched(save)
    for thread in [*workers, saver]:
        thread.start()
    for thread in workers:
        thread.join()
    working[0] = False
    saver.join()
    assert not wrong, wrong
    assert waits_for(player) == 0 and sum(player.pulls.values()) == THREADS * PAIRS
    return saved[0]

print(json.dumps({"saved": share(POLICY)}))
"""


@pytest.mark.parametrize("policy", ["policies.SteadyUCB(None)", "policies.RAWUCB(0.5)"])
def test_threads_share_a_player_and_save_it_meanwhile(policy: str, tmp_path: Path) -> None:
    assert run_script(tmp_path, SHARED.replace("POLICY", policy))["saved"] >= 4


APART = """
import faulthandler, json, random, sys, threading
from rotting import policies

faulthandler.dump_traceback_later(300, exit=True)
sys.setswitchinterval(1e-5)
kinds = (policies.SteadyUCB(None), policies.RAWUCB(0.5), policies.WSWA(0.2, 0.5), policies.UCB1())
played, barrier = {}, threading.Barrier(2 * len(kinds))

def play(policy, seed, compiled):
    player, rng = policy.online(range(20), seed=seed, compiled=compiled), random.Random(seed)
    for _ in range(2000 if compiled else 400):
        player.update(player.select(), rng.random())
        if sum(player.pulls.values()) == 400:
            early = player.pulls
    return early, player.pulls

def job(policy, seed):
    barrier.wait()  # all are made, and compiled, at once
    played[policy.key, seed] = play(policy, seed, True)

threads = [threading.Thread(target=job, args=(policy, n)) for policy in kinds for n in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
for policy in kinds:
    for n in range(2):
        assert played[policy.key, n] == play(policy, n, True), policy
        assert played[policy.key, n][0] == play(policy, n, False)[0], policy
print(json.dumps({"played": len(played)}))
"""


def test_threads_with_a_player_each_do_not_meet(tmp_path: Path) -> None:
    """Players of one policy share their compiled code, and nothing that it writes."""
    assert run_script(tmp_path, APART)["played"] == 8


FORKED = """
import faulthandler, json, os, threading, warnings
from rotting import policies

faulthandler.dump_traceback_later(300, exit=True)
warnings.simplefilter("ignore", DeprecationWarning)  # of forking with threads; that is the point
idle, busy = (policies.UCB1().online("abc".split() + ["d"], compiled=False) for _ in range(2))
held, done = threading.Event(), threading.Event()
thread = threading.Thread(target=lambda: busy.core.lock.alone(lambda: (held.set(), done.wait())))
thread.start()
held.wait()
child = os.fork()
if child == 0:
    idle.update(idle.select(), 1.0)
    try:
        busy.select()
    except RuntimeError as error:
        os._exit(0 if "was forked" in str(error) else 2)
    os._exit(3)
status = os.waitpid(child, 0)[1]
done.set()
thread.join()
busy.update(busy.select(), 1.0)
print(json.dumps({"status": status}))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_while_another_thread_holds_a_player(tmp_path: Path) -> None:
    assert run_script(tmp_path, FORKED)["status"] == 0


def test_a_thread_that_holds_a_player_is_refused_and_does_not_wait_for_itself() -> None:
    """As a signal handler would, or a verb that calls back."""
    player = player_of(policies.UCB1(), compiled=False)
    for use in (player.select, player.to_json, lambda: player.pulls, player.__getstate__):
        with pytest.raises(RuntimeError, match="while the same thread is inside"):
            player.core.lock.alone(use)
    player.update(player.select(), 1.0)


def test_refusals_let_go_of_the_player() -> None:
    player = player_of(policies.UCB1())
    decision = player.select()
    wrong: Any
    uses: list[Callable[[Any], None]] = [lambda said: player.update(said, 1.0), player.drop]
    for wrong in (("a", 7), ("a", []), ("a", "x"), ("a", float("inf")), ("nobody", 1)):
        for use in uses:
            with pytest.raises(ValueError, match=r"pull must be|decision must be"):
                use(wrong)
            assert hasattr(player.core.lock, "free")
    assert player.outstanding == [decision]


@pytest.mark.parametrize("policy", examples(), ids=name_of)
def test_players_share_no_memory_that_is_written(policy: Policy) -> None:
    """Threads that have a player each need no lock between them."""
    one, other = player_of(policy, compiled=False), player_of(policy, compiled=False)
    tables = [np.asarray(leaf.value).copy() for leaf in leaves(one.core.params)]
    for leaf in leaves(one.core.state):
        for holder in (other.core.state, one.core.params):
            for found in leaves(holder):
                assert not np.may_share_memory(leaf.value, found.value), (leaf.path, found.path)
    assert not np.may_share_memory(one.core.draw, other.core.draw)
    for leaf in leaves(one.core.ledger):
        for found in leaves(other.core.ledger):
            assert not np.may_share_memory(leaf.value, found.value), (leaf.path, found.path)
    for n in range(50):
        one.update(one.select(), 0.1 * (n % 7))
    for leaf, table in zip(leaves(one.core.params), tables, strict=True):
        np.testing.assert_array_equal(leaf.value, table, err_msg=leaf.path)


def test_a_player_that_was_let_go_after_a_fork_is_whole() -> None:
    """The thread that forks may hold it itself, and then lets go in the child too."""
    player = policies.UCB1().online(range(2), compiled=False)
    player.core.lock.torn = True  # what the child notes while the player is held
    player.core.lock.wait()
    del player.core.lock.free
    with pytest.raises(RuntimeError, match="forked"):
        player.core.lock.wait()
    player.core.lock.free = None


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_while_another_thread_compiles(tmp_path: Path) -> None:
    code = """
import json, os, threading, warnings
from rotting._engines.compiled.numba_hooks import LOCK
warnings.simplefilter("ignore")
held, done = threading.Event(), threading.Event()
def hold():
    with LOCK:
        held.set()
        done.wait(60)
threading.Thread(target=hold, daemon=True).start()
held.wait(60)
child = os.fork()
if child == 0:
    free = LOCK.acquire(timeout=20)
    os._exit(0 if free else 3)
print(json.dumps({"code": os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])}))
done.set()
"""
    assert run_script(tmp_path, code) == {"code": 0}
