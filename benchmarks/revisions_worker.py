"""One revision's side of benchmarks/revisions.py: times what it is asked to, one line at a time.

It reads requests from standard input and answers each with a line, both JSON. Only what every
revision has is used here: the policies' classes, `simulate` and `online`.
"""

from __future__ import annotations

import ctypes
import dataclasses
import functools
import json
import os
import platform
import random
import struct
import sys
import time
from collections.abc import Callable
from typing import Any

import rotting
from rotting import Arm, RandomArms, Scenario, models, policies, simulate
from rotting.papers import levine2017

BATCH = 100  # decisions at once
FAMILY, SIGMA = levine2017.FAMILY, levine2017.SIGMA
KNOWN: dict[str, Callable[[], policies.Policy]] = {
    "uniform": lambda: policies.Uniform(),
    "roundrobin": lambda: policies.RoundRobin(),
    "greedy": lambda: policies.GreedyLast(),
    "oracle": lambda: policies.Oracle(),
    "ucb1": lambda: policies.UCB1(),
    "ducb": lambda: policies.DUCB(gamma=0.999),
    "swucb": lambda: policies.SWUCB(tau=4000),
    "dts": lambda: policies.DTS(gamma=0.999, sigma=SIGMA),
    "swts": lambda: policies.SWTS(tau=4000, sigma=SIGMA),
    "exp3s": lambda: policies.EXP3S(),
    "swa": lambda: policies.SWA(alpha=0.2, sigma=SIGMA),
    "wswa": lambda: policies.WSWA(alpha=0.2, sigma=SIGMA),
    "steadyucb": lambda: policies.SteadyUCB(sigma=SIGMA),
    "glrucb": lambda: policies.GLRUCB(sigma=SIGMA),
    "rawucb": lambda: policies.RAWUCB(sigma=SIGMA),
    "rawucbpp": lambda: policies.RAWUCBPP(sigma=SIGMA),
    "fewa": lambda: policies.FEWA(sigma=SIGMA),
    "effrawucb": lambda: policies.EFFRAWUCB(sigma=SIGMA),
    "efffewa": lambda: policies.EFFFEWA(sigma=SIGMA),
    "cto": lambda: policies.CTO(FAMILY),
    "ccto": lambda: policies.CCTO(models.Plateau(length=100).between(0.1, 0.4, 7)),
    "lcto": lambda: policies.LCTO(FAMILY),
    "dcto": lambda: policies.DCTO(FAMILY, sigma=SIGMA),
    "dcto_ucb": lambda: policies.DCTO_UCB(FAMILY, sigma=SIGMA, delta=0.1, exploration=10),
    "ldcto": lambda: policies.LDCTO(FAMILY, sigma=SIGMA),
    "posterior": lambda: policies.Posterior(FAMILY, sigma=SIGMA),
    "guarded": lambda: policies.Guarded(FAMILY, sigma=SIGMA),
    "thompson": lambda: policies.Thompson(),
    "cellucb": lambda: policies.CellUCB(sigma=SIGMA),
    "mixture": lambda: policies.Mixture(),
    "fatigue": lambda: policies.Fatigue("gaussian"),
    "perkey": lambda: policies.PerKey(policies.SteadyUCB(sigma=SIGMA)),
    "capped": lambda: policies.Capped(policies.UCB1(), cap=20),
}
KNOW_THE_FAMILY = ("cto", "ccto", "lcto", "posterior", "guarded")
EXPECT_CONSTANTS = ("dcto", "dcto_ucb", "ldcto")


def scenario_of(policy: str, arms: int, horizon: int) -> Scenario:
    """The paper's scenario for the policy: ANV, AV, or, with two arms and no family known, NP."""
    if policy in EXPECT_CONSTANTS:
        drawn = RandomArms(FAMILY, count=arms, constants=(0.0, 0.5))
        return dataclasses.replace(levine2017.anv(), arms=drawn, horizon=horizon)
    if policy in KNOW_THE_FAMILY or arms != 2:
        drawn = RandomArms(FAMILY, count=arms)
        return dataclasses.replace(levine2017.av(), arms=drawn, horizon=horizon)
    return dataclasses.replace(levine2017.non_parametric(), horizon=horizon)


def decisions(ask: dict[str, Any], clock: Callable[[], float]) -> float:
    """Simulate some runs, some times over."""
    policy = KNOWN[ask["policy"]]()
    scenario = scenario_of(ask["policy"], ask["arms"], ask["horizon"])
    more = {"engine": "cuda", "checkpoints": 1} if ask["what"] == "gpu" else {"threads": 1}
    begin = clock()
    for _ in range(ask["repeat"]):
        simulate(policy, scenario, runs=ask["runs"], **more)
    return clock() - begin


def player_of(ask: dict[str, Any]) -> Any:
    """An online player, or one of an audience."""
    policy = KNOWN[ask["policy"]]()
    if isinstance(policy, policies.Oracle):
        policy = policies.Oracle([Arm(models.Plateau(length=100, theta=0.3))] * ask["arms"])
    make = policy.audience if ask["what"] == "audience" else policy.online
    return make(range(ask["arms"]), horizon=ask["pairs"] + 2 * BATCH, compiled=True)


def online(ask: dict[str, Any], clock: Callable[[], float]) -> float:
    """Decide and learn in turn."""
    rng = random.Random(0)
    rewards = [rng.gauss(0.5, 0.3) for _ in range(ask["pairs"])]
    player = player_of(ask)
    player.update(player.select(), 0.5)
    begin = clock()
    for reward in rewards:
        player.update(player.select(), reward)
    return clock() - begin


def batches(ask: dict[str, Any], clock: Callable[[], float]) -> float:
    """Decide and learn in batches."""
    rng = random.Random(0)
    rewards = [[rng.gauss(0.5, 0.3) for _ in range(BATCH)] for _ in range(ask["pairs"] // BATCH)]
    player = player_of(ask)
    player.update_many(player.select_many(BATCH), [0.5] * BATCH)
    begin = clock()
    for some in rewards:
        player.update_many(player.select_many(BATCH), some)
    return clock() - begin


def audience(ask: dict[str, Any], clock: Callable[[], float]) -> float:
    """Decide for keys, one by one, and learn."""
    rng = random.Random(0)
    rewards = [(rng.randrange(200), rng.gauss(0.5, 0.3)) for _ in range(ask["pairs"])]
    player = player_of(ask)
    player.update(player.select(0), 0.5)
    begin = clock()
    for key, reward in rewards:
        player.update(player.select(key), reward)
    return clock() - begin


def compiling(ask: dict[str, Any], clock: Callable[[], float]) -> float:
    """What the first short simulation takes longer than the second."""
    once = {**ask, "arms": 10, "horizon": 300, "runs": 1, "repeat": 1}
    first = decisions(once, clock)
    return first - decisions(once, clock)


@functools.cache
def instruction_counter() -> Callable[[], float]:
    """Counts the instructions that this process retires outside the kernel."""
    number = {"x86_64": 298, "aarch64": 241}.get(platform.machine())
    if number is None or not sys.platform.startswith("linux"):
        raise OSError("instructions can be counted on Linux only, on x86_64 and aarch64")
    hardware, instructions, size = 0, 1, 64
    flags = 1 << 1 | 1 << 5 | 1 << 6  # new threads too; neither the kernel nor a hypervisor
    wanted = struct.pack("IIQQQQQ", hardware, size, instructions, 0, 0, 0, flags)
    buffer = ctypes.create_string_buffer(wanted, size)
    system_call = ctypes.CDLL(None, use_errno=True).syscall
    counter = system_call(number, buffer, 0, -1, -1, 0)  # perf_event_open: here, any processor
    if counter < 0:
        raise OSError(f"this machine counts no instructions: {os.strerror(ctypes.get_errno())}")
    return lambda: float(struct.unpack("Q", os.read(counter, 8))[0])


WORK = {"online": online, "batches": batches, "audience": audience, "compiling": compiling}


def no_audience(kind: Any) -> bool:
    """Whether a policy cannot play an audience; in 0.2.0 `by_key` was then a text."""
    return bool(getattr(kind, "no_audience", "")) or isinstance(getattr(kind, "by_key", 0), str)


def answer(ask: dict[str, Any]) -> dict[str, Any]:
    """What a request asks for."""
    what = ask["what"]
    if what == "hello":
        ours = [key for key, kind in policies.POLICIES.items() if "rotting." in kind.__module__]
        missing = sorted({*ours} - {*KNOWN})
        crowds = [key for key in KNOWN if not no_audience(policies.POLICIES[key])]
        found = {"file": rotting.__file__, "policies": list(KNOWN), "missing": missing}
        return {**found, "audience": crowds}
    if what == "count":
        return {"instructions": instruction_counter()()}
    if what == "instructions":
        clock = instruction_counter()
    else:
        clock = time.perf_counter if what == "gpu" else time.process_time
    return {"spent": WORK.get(what, decisions)(ask, clock)}


def main() -> None:
    answers, sys.stdout = sys.stdout, sys.stderr  # nothing else may write between the answers
    for line in sys.stdin:
        try:
            found = answer(json.loads(line))
        except Exception as error:
            found = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(found), file=answers, flush=True)


if __name__ == "__main__":
    main()
