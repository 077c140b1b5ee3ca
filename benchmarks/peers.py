"""Decisions a second of other libraries and of ours, on the paper's NP and AV, in one run.

    python benchmarks/peers.py          (make bench-peers)

Builds an environment for each peer under .peers/, with the versions it needs, and lets each play
the same bandits: one run, decisions in a loop as its documentation has it, rewards drawn ahead.
Ours is measured before and after every peer, both simulated and one decision at a time. Then the
two halves of a decision apart, choosing and learning: fifty of the one, then fifty of the other. A
policy that a peer does not have is an empty cell.
"""

from __future__ import annotations

import json
import subprocess
import textwrap
import time
import venv
from pathlib import Path
from typing import Any

from record import record
from rotting import policies, simulate
from rotting.papers import levine2017

ENVIRONMENTS = Path(".peers")
PACKAGES = {
    "river": ["river"],
    "mabwiser": ["mabwiser"],
    "banditbungee": ["banditbungee"],
    "SMPyBandits": [
        "SMPyBandits",
        "scipy==1.11.4",
        "numpy==1.26.4",
        "matplotlib<3.9",
        "pandas<2.2",
    ],
}

# makes `play(kind, arms)`: a pair (choose, learn), or None where the peer has no such policy
ADAPTERS = {
    "river": """
        from river import bandit
        def play(kind, arms):
            made = {"UCB1": lambda: bandit.UCB(delta=1.0)}.get(kind)
            if made is None:
                return None
            policy, ids = made(), list(range(arms))
            return (lambda: policy.pull(ids)), policy.update
    """,
    "mabwiser": """
        from mabwiser.mab import MAB, LearningPolicy
        def play(kind, arms):
            if kind != "UCB1":
                return None
            policy = MAB(list(range(arms)), LearningPolicy.UCB1(alpha=1.41))
            policy.fit(list(range(arms)), [0.5] * arms)
            return policy.predict, (lambda arm, reward: policy.partial_fit([arm], [reward]))
    """,
    "banditbungee": """
        from bandits.agents.ucb import UCB1
        from bandits.agents.ducb import DiscountedUCB
        from bandits.agents.sw_ucb import SlidingWindowUCB
        def play(kind, arms):
            policy = {"UCB1": lambda: UCB1(arms), "DUCB": lambda: DiscountedUCB(arms, gamma=0.999),
                      "SWUCB": lambda: SlidingWindowUCB(arms, window_size=4000)}.get(kind)
            if policy is None:
                return None
            policy = policy()
            return policy.select_arm, policy.update
    """,
    "SMPyBandits": """
        from SMPyBandits.Policies import UCB, SWUCB, DiscountedUCB
        def play(kind, arms):
            policy = {"UCB1": lambda: UCB(arms), "SWUCB": lambda: SWUCB(arms, tau=4000),
                      "DUCB": lambda: DiscountedUCB(arms, gamma=0.999)}.get(kind)
            if policy is None:
                return None
            policy = policy()
            policy.startGame()
            return policy.choice, policy.getReward
    """,
}

LOOP = """
import json, random, sys, time, warnings
warnings.simplefilter("ignore")
found = {}
rng = random.Random(0)
noise = [rng.gauss(0, 0.4472) for _ in range(4096)]
for setup, arms in (("NP", 2), ("AV", 10)):
    for kind in ("UCB1", "DUCB", "SWUCB"):
        made = play(kind, arms)
        if made is None:
            continue
        choose, learn = made
        pulls = [0] * arms
        done, begin = 0, time.perf_counter()
        while time.perf_counter() - begin < 4.0 and done < 30000:
            for _ in range(100):
                arm = choose()
                pulls[arm] += 1
                if setup == "NP":
                    mean = 0.5 if arm == 0 else (1.0 if pulls[arm] <= 7500 else 0.4)
                else:
                    mean = (pulls[arm] // 100 + 1) ** -(0.1 + 0.03 * arm)
                learn(arm, mean + noise[done & 4095])
                done += 1
        found[f"{setup} {kind}"] = done / (time.perf_counter() - begin)
        found[f"{setup} {kind} apart"] = apart(choose, learn)
print(json.dumps(found))
"""

# nanoseconds of choosing and of learning, the least of many rounds; for peers and for us
APART = """
import time
def apart(choose, learn):
    best = [float("inf")] * 2
    end = time.perf_counter() + 2.0
    while time.perf_counter() < end:
        begin = time.perf_counter()
        made = [choose() for _ in range(50)]
        middle = time.perf_counter()
        for decision in made:
            learn(decision, 0.5)
        end_of_round = time.perf_counter()
        best = [min(best[0], middle - begin), min(best[1], end_of_round - middle)]
    return [1e9 * seconds / 50 for seconds in best]
"""


def environment(name: str) -> Path:
    """The peer's own Python, made if it is not there."""
    folder = ENVIRONMENTS / name
    python = folder / "bin" / "python"
    if not (folder / "done").exists():
        print(f"installing {name}", flush=True)
        venv.create(folder, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *PACKAGES[name]], check=True)
        (folder / "done").touch()
    return python


def peer(name: str) -> dict[str, Any]:
    """Decisions a second of each policy that the peer has, and its two halves apart."""
    script = textwrap.dedent(ADAPTERS[name]) + APART + LOOP
    done = subprocess.run([environment(name), "-c", script], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip().splitlines()[-1])
    found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def ours() -> dict[str, float]:
    """The same, simulated on one thread."""
    made = {"UCB1": policies.UCB1(), "DUCB": policies.DUCB(0.999), "SWUCB": policies.SWUCB(4000)}
    found = {}
    for setup, scenario in (("NP", levine2017.non_parametric()), ("AV", levine2017.av())):
        for kind, policy in made.items():
            simulate(policy, scenario, runs=1, threads=1, checkpoints=1)
            begin = time.perf_counter()
            simulate(policy, scenario, runs=20, threads=1, checkpoints=1)
            found[f"{setup} {kind}"] = 20 * scenario.horizon / (time.perf_counter() - begin)
    return found


def one_by_one() -> dict[str, Any]:
    """The same played online: one select and one update a decision, both calls from Python."""
    scope: dict[str, Any] = {}
    exec(APART, scope)  # the very code that the peers run
    made = {"UCB1": policies.UCB1(), "DUCB": policies.DUCB(0.999), "SWUCB": policies.SWUCB(4000)}
    found: dict[str, Any] = {}
    for setup, arms in (("NP", 2), ("AV", 10)):
        for kind, policy in made.items():
            player = policy.online(range(arms), compiled=True)
            player.update(player.select(), 0.5)
            begin = time.perf_counter()
            for _ in range(50_000):
                player.update(player.select(), 0.5)
            found[f"{setup} {kind}"] = 50_000 / (time.perf_counter() - begin)
            found[f"{setup} {kind} apart"] = scope["apart"](player.select, player.update)
    return found


def _ns(pair: list[float]) -> str:
    return " + ".join(f"{value:,.0f}" for value in pair) + " ns"


def main() -> None:
    rows: list[dict[str, Any]] = []
    online = one_by_one()
    for name in PACKAGES:
        before = ours()
        try:
            theirs = peer(name)
        except (RuntimeError, subprocess.CalledProcessError) as error:
            rows.append({"peer": name, "error": str(error)})
            print(rows[-1], flush=True)
            continue
        after = ours()
        for case in before:
            row: dict[str, Any] = {"peer": name, "case": case, "ratio": None, "online_ratio": None}
            if case in theirs:
                simulated = (before[case] + after[case]) / 2
                row |= {
                    "theirs": theirs[case],
                    "ours_simulated": simulated,
                    "ours_online": online[case],
                    "ratio": simulated / theirs[case],
                    "online_ratio": online[case] / theirs[case],
                    "theirs_choose_and_learn_ns": theirs[f"{case} apart"],
                    "ours_choose_and_learn_ns": online[f"{case} apart"],
                }
            rows.append(row)
            shown = (
                "no such policy"
                if row["ratio"] is None
                else (
                    f"{row['theirs']:,.0f} a second; ours simulated {row['ratio']:,.0f} times, "
                    f"online {row['online_ratio']:,.1f} times; choosing and learning "
                    f"{_ns(row['theirs_choose_and_learn_ns'])}, ours "
                    f"{_ns(row['ours_choose_and_learn_ns'])}"
                )
            )
            print(f"{name:14s} {case:10s} {shown}", flush=True)
    record("peers", rows)


if __name__ == "__main__":
    main()
