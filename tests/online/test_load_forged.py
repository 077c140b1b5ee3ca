"""Forged players: all numbers of a state, a ledger and a document, set to forbidden values.

A forgery is refused, or it plays: as plain Python, which notices an index out of bounds, and as
compiled code, which does not, and would crash the process. So the forgeries are tried in a child
process; it is this module, run as a script.
"""

from __future__ import annotations

import contextlib
import copy
import itertools
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from helpers.damaged_files import ODD, forged, played, players, unpacked
from rotting import Arm, Player, models, policies
from rotting._live import ledger as at
from rotting._online import save as saving
from rotting.policies import Oracle, Policy

WHOLE = (-(2**63), -2, -1, 0, 2**62, 2**63 - 1)
FLOATS = (np.nan, np.inf, -np.inf, -1e308)
DECISIONS = 200
FULL = "ucb1 4"  # with a reward window, a default and a control group


def contents() -> Iterator[tuple[str, dict[str, Any]]]:
    """A player that has decided 120 times or more for each policy, and others, by name."""
    seen = set()
    for content in players():
        name = f"{content['policy']['policy']} {content['arm_count']}"
        if unpacked(content["ledger"]["clock"])[at.DECIDED] > 100 and name not in seen:
            seen.add(name)
            yield name, content


def forgeries(name: str, content: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The document with one thing changed, in many ways, each with its name.

    Every array of the state; of the player that has a control group, every number of the ledger and
    of what waits, and every field of the document as well.
    """
    yield from array_forgeries("state", content)
    if name != FULL:
        return
    yield from array_forgeries("ledger", content)
    for row in (0, len(content["waiting"]) - 1):
        for column, value in itertools.product(range(6), (*WHOLE, *FLOATS, None, 1e300)):
            waiting = copy.deepcopy(content["waiting"])
            waiting[row][column] = value
            yield f"waiting[{row}][{column}] = {value}", {**content, "waiting": waiting}
    for field, value in itertools.product(content, ODD):
        if field != "compiled":
            yield f"{field} = {value}", {**content, field: value}


def array_forgeries(where: str, content: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """One number of an array changed: its first, its last, and on the ledger any."""
    for path, packed in content[where].items():
        array = unpacked(packed)
        flat = array.reshape(-1)
        values: set[Any] = set(FLOATS)
        for place in range(flat.size) if where == "ledger" else {0, flat.size - 1}:
            if array.dtype.kind != "f":
                now = int(flat[place])
                values = {*WHOLE, content["arm_count"], array.shape[0], now - 1, now + 1} - {now}
                most = np.iinfo(array.dtype)
                values = {v for v in values if most.min <= v <= most.max}
            for value in values:
                changed = flat.copy()
                changed[place] = value
                held = {**content[where], path: saving._pack(changed.reshape(array.shape))}
                yield f"{where} {path}[{place}] = {value}", {**content, where: held}


def try_forgery(content: dict[str, Any]) -> str:
    """Load a forgery and play it both ways; says what became of it."""
    text = forged({**content, "compiled": True})
    try:
        player = Player.from_json(text)
    except ValueError:
        return "refused"
    plain = Player.from_json(forged({**content, "compiled": False}))
    # made-up rewards may overflow, or divide by zero, where compiled code goes on with infinities
    with contextlib.suppress(ArithmeticError, ValueError):
        play(plain, 10)
    with contextlib.suppress(ValueError):
        play(player, DECISIONS)
    return "played"


def play(player: Player, decisions: int) -> None:
    """Rewards for all that waits, then some prompt, some late."""
    waiting = player.outstanding
    for number in range(decisions):
        waiting.insert(0, player.select())
        while len(waiting) > number % 5:
            player.update(waiting.pop(number % 3 % len(waiting)), 0.3 + 0.1 * (number % 7))


def main(every: int) -> None:
    """Try one of so `every` forgeries; the last line names the one at work."""
    found: dict[str, dict[str, int]] = {}
    for name, content in contents():
        counts = found.setdefault(name, {"refused": 0, "played": 0})
        with np.errstate(all="ignore"):
            for what, forgery in itertools.islice(forgeries(name, content), 0, None, every):
                print(name, ascii(what), flush=True)
                counts[try_forgery(forgery)] += 1
    print(json.dumps(found))


@pytest.mark.parametrize("every", [5, pytest.param(1, marks=pytest.mark.long)])
def test_no_forged_number_leads_compiled_code_astray(every: int) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(
        [sys.executable, __file__, str(every)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    lines = done.stdout.splitlines()
    assert done.returncode == 0, (done.returncode, lines[-1:], done.stderr[-2000:])
    found = json.loads(lines[-1])
    assert {name.split()[0] for name in found} == {
        key for key, kind in policies.POLICIES.items() if kind.__module__.startswith("rotting.")
    }
    assert all(counts["refused"] > 0 for counts in found.values()), found


FAMILY = models.Polynomial().over([0.1, 0.4])
HISTORY = policies.RAWUCB(0.5)
HALVES = policies.DCTO(FAMILY, 0.3)


def swap(array: Any) -> None:
    array[:2] = array[1::-1].copy()


@pytest.mark.parametrize(
    ("policy", "arms", "path", "change", "words"),
    [
        # a chain that never ends, one that is too short, two arms with one chunk, no room
        (HISTORY, 2, "history.before", lambda a: a.fill(0), "last must lead through the chunks"),
        (HISTORY, 2, "history.before", lambda a: a.fill(-1), "last must lead through the chunks"),
        (HISTORY, 2, "history.last", lambda a: a.fill(a[0]), "every chunk in use to one arm"),
        (HISTORY, 2, "history.free", lambda a: a.fill(0), "every chunk in use to one arm"),
        (HISTORY, 2, "history.free", lambda a: a.fill(10), "free must leave room"),
        (policies.FEWA(0.5), 2, "arms.observed", lambda a: a.fill(0), "last must lead through"),
        (HISTORY, 2, "starts.chunk", lambda a: swap(a), "start must be one of arm 0's"),
        (policies.CTO(FAMILY), 50, "ranking.tree", lambda a: swap(a[64:]), "arms as its leaves"),
        (
            policies.CTO(FAMILY),
            50,
            "ranking.tree",
            lambda a: a[1:64].fill(7),
            "one of the two arms",
        ),
        (HALVES, 2, "halves.after", lambda a: a.fill(0), "enclose the .* chunks of arm 0"),
        (HALVES, 2, "halves.head", lambda a: swap(a), "enclose the .* chunks of arm 0"),
        (HALVES, 2, "halves.tail", lambda a: swap(a), "enclose the .* chunks of arm 0"),
        (HALVES, 2, "halves.before", lambda a: a.fill(-1), "before must lead back"),
        (HALVES, 2, "halves.middle", lambda a: swap(a), "middle must be the chunk of arm 0"),
        (HALVES, 2, "halves.free", lambda a: a.fill(-1), "free must lead through the"),
        (HALVES, 2, "halves.settled", lambda a: a.fill(9**9), "settled must be at most half"),
        (HALVES, 2, "halves.pending_pull", lambda a: a.fill(9**9), "pulls that were made"),
        (policies.WSWA(0.2, 0.5), 2, "epoch", lambda a: a.fill(61), "epoch must be that of round"),
        (policies.WSWA(0.2, 0.5), 2, "length", lambda a: a.fill(0), "length must be the window"),
        (policies.SWUCB(50), 2, "rounds.pulls", lambda a: a.fill(9), "rounds in the ring"),
        (policies.SWUCB(50), 2, "rounds.ring_reward", lambda a: a.fill(9), "the observed rewards"),
        (policies.DUCB(0.9), 2, "unit", lambda a: a.fill(0), "must be finite and above 0"),
        (policies.UCB1(), 2, "arms.clock", lambda a: a.fill(9**9), "clock must be at most"),
        (
            policies.CCTO(models.Polynomial().between(0.1, 0.4, 7)),
            *(2, "sums.closest", lambda a: a.fill(6), "a node before the last"),
        ),
        (
            policies.DCTO_UCB(FAMILY, 0.3, 0.1, exploration=80),
            *(2, "explored", lambda a: a.fill(75), "explored must leave out the pulls that wait"),
        ),
        (
            Oracle([Arm(models.Constant(0.5)), Arm(models.Constant(0.5))]),
            *(2, "heap", lambda a: a.fill(1), "heap must hold every arm once"),
        ),
    ],
)
def test_parts_say_what_is_wrong(
    policy: Policy, arms: int, path: str, change: Callable[[Any], None], words: str
) -> None:
    content = played(policy, arms, 150)
    assert Player.from_json(forged(content)).pulls
    array = unpacked(content["state"][path])
    change(array)
    content["state"][path] = saving._pack(array)
    with pytest.raises(ValueError, match=words):
        Player.from_json(forged(content))


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else 1)
