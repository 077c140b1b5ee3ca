"""Two revisions of this library side by side: is the new one slower, and for which policy?

    python benchmarks/revisions.py OLD NEW [--what decisions online batches audience compiling
                                                   instructions gpu]
                                   [--policies ucb1 wswa ...] [--arms 2 10] [--rounds 8]

OLD and NEW are folders that contain src/rotting, or revisions that git knows. In every round each
revision gets a new process (not on a GPU), so that the luck of a process (where its memory and its
code lie) is part of the spread; the two are asked in turn, old new new old: both have the same
neighbours. Of the short slices that a process needs for the same work the least counts: what
others do on the machine only ever adds. A round gives one ratio new / old for each policy. Printed
are the geometric mean of the rounds and its 95 % interval (Student's, on logarithms); an upper end
above 1.05 is marked; a revision compared with itself has exceeded that, too. A policy whose
interval is still wide after all rounds plays more of them; the width decides, not where it lies,
since playing until a result pleases proves nothing.

decisions: simulate(threads=1), after a warm-up; pi_max is then in the cache of both.
online: select and update in turn, compiled; batches: 100 decisions and 100 rewards in turn;
audience: select and update in turn, for one of 200 keys.
compiling: the first simulation of 300 rounds less the second, with an empty cache. The first
policy also pays for what all policies share.
instructions: those of `decisions`, where the machine can count them.
gpu: `decisions` on a GPU, in seconds of the clock on the wall; all else is processor time.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.stats import t as student

from record import record

LIMIT = 1.05  # what the upper end of an interval must not exceed
SLICE = 0.03  # seconds of one measurement, about: short, so that some fall between disturbances
HORIZON, RUNS, PAIRS = 30_000, 64, 20_000  # at most
GPU_RUNS = 1 << 16
WIDTH = 1.08  # wider intervals (upper over lower end) get more rounds, up to three times as many
WHATS = ("decisions", "online", "batches", "audience", "compiling", "instructions", "gpu")
PAIRED = ("online", "batches", "audience")  # measured in decisions with their rewards
UNITS = {"compiling": "s", "instructions": "each"}  # nanoseconds else
WORKER = Path(__file__).with_name("revisions_worker.py")
Case = tuple[str, str, int]  # what is measured, policy, arms


class Worker:
    """A process that runs one revision and answers one request at a time."""

    def __init__(self, tree: Path, cache: Path) -> None:
        cache.mkdir(parents=True, exist_ok=True)
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(
                [str(tree / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]
            ),
            "NUMBA_CACHE_DIR": str(cache),
        }
        self.process = subprocess.Popen(
            [sys.executable, "-P", str(WORKER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            text=True,
        )
        self.about = self.ask({"what": "hello"})
        if Path(self.about["file"]).resolve().parents[1] != (tree / "src").resolve():
            raise SystemExit(f"{tree} must contain src/rotting, but {self.about['file']} was run")

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """Send a request, wait for its answer."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"a worker ended while it was asked for {request}")
        found: dict[str, Any] = json.loads(line)
        return found

    def spend(self, request: dict[str, Any]) -> float:
        """What the work of a request takes; not a number, and a sentence, where it fails."""
        found = self.ask(request)
        if "error" in found:
            print(f"{request['what']} {request['policy']}: {found['error']}", file=sys.stderr)
        return float(found.get("spent", math.nan))

    def close(self) -> None:
        self.process.communicate()


def size_of(case: Case, worker: Worker) -> dict[str, Any]:
    """A request for this case that takes about a slice; the same one then goes to both."""
    what, policy, arms = case
    ask: dict[str, Any] = {"what": what, "policy": policy, "arms": arms}
    if what == "compiling":
        return ask
    if what == "gpu":
        return {**ask, "horizon": HORIZON, "runs": GPU_RUNS, "repeat": 1}
    if what in PAIRED:
        ask["pairs"] = PAIRS
        while ask["pairs"] > 500 and _warm(worker, ask) > 2 * SLICE:
            ask["pairs"] //= 2
        return ask
    ask |= {"what": "decisions", "horizon": HORIZON, "runs": 1, "repeat": 1}
    while ask["horizon"] > 1000 and _warm(worker, ask) > 2 * SLICE:
        ask["horizon"] //= 2
    while ask["runs"] < RUNS and _warm(worker, ask) < SLICE / 2:
        ask["runs"] *= 2
    spent = _warm(worker, ask)
    if spent > 0.0:
        ask["repeat"] = max(1, round(SLICE / spent))
    return {**ask, "what": what}


def _warm(worker: Worker, ask: dict[str, Any]) -> float:
    worker.spend(ask)
    return worker.spend(ask)


def per_decision(ask: dict[str, Any], spent: float) -> float:
    """Nanoseconds (or instructions) of one decision; for compiling, seconds of a policy."""
    if ask["what"] == "compiling":
        return spent
    made: int = (
        ask["pairs"] if ask["what"] in PAIRED else ask["horizon"] * ask["runs"] * ask["repeat"]
    )
    return spent / made if ask["what"] == "instructions" else 1e9 * spent / made


def least(pair: tuple[Worker, Worker], ask: dict[str, Any], slices: int) -> tuple[float, float]:
    """What each worker of a pair needs at the least, asked in turn: one other other one ..."""
    compiling = ask["what"] == "compiling"  # there is only one first time
    found: tuple[list[float], list[float]] = ([], [])
    if not compiling:
        for worker in pair:
            worker.spend(ask)
    for turn in range(1 if compiling else slices):
        for side in (0, 1) if turn % 2 == 0 else (1, 0):
            found[side].append(pair[side].spend(ask))
    return min(found[0]), min(found[1])


def play(
    trees: list[Path], cases: list[Case], rounds: int, most: int, slices: int
) -> dict[Case, list[Any]]:
    """What a decision of old and new takes for each case, a pair for every round."""
    found: dict[Case, list[Any]] = {case: [] for case in cases}
    sizes: dict[Case, dict[str, Any]] = {}
    workers: list[Worker] = []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(most):
            left = [case for case in cases if number < rounds or vague(found[case])]
            if not left:
                break
            for kind in ("compiling", "gpu", "else"):
                some = [case for case in left if kind_of(case) == kind]
                if some:
                    where = Path(folder) / (f"round{number}" if kind == "compiling" else "kept")
                    if kind != "gpu" or not workers:
                        workers = [Worker(tree, where / str(k)) for k, tree in enumerate(trees)]
                    play_round(workers, some, number % 2, slices, sizes, found)
                    if kind != "gpu":
                        close_all(workers)
            print(f"round {number + 1}: {len(left)} cases", file=sys.stderr, flush=True)
        close_all(workers)
    return found


def kind_of(case: Case) -> str:
    """What processes a case needs: with an empty cache, kept from round to round, or new ones.

    Kernels are not cached between processes and take long to compile: processes with a GPU stay.
    """
    return case[0] if case[0] in ("compiling", "gpu") else "else"


def close_all(workers: list[Worker]) -> None:
    """End the processes."""
    while workers:
        workers.pop().close()


def play_round(
    workers: list[Worker],
    cases: list[Case],
    first: int,
    slices: int,
    sizes: dict[Case, dict[str, Any]],
    found: dict[Case, list[Any]],
) -> None:
    """Add a pair to each case; `first` (0 old, 1 new) is asked first."""
    for case in cases:
        if case not in sizes:
            sizes[case] = size_of(case, workers[0])
        spent = least((workers[first], workers[1 - first]), sizes[case], slices)
        both = [per_decision(sizes[case], spent[side]) for side in (first, 1 - first)]
        found[case].append(tuple(both))


def vague(pairs: list[tuple[float, float]]) -> bool:
    """Whether the interval is still wider than wanted; where it lies must not matter here."""
    _, low, high = interval(pairs)
    return high / low > WIDTH


def interval(pairs: list[tuple[float, float]]) -> tuple[float, float, float]:
    """Geometric mean of the ratios new / old with its 95 % interval."""
    logs = np.log([new / old for old, new in pairs])
    if logs.size < 2:
        return float(np.exp(logs.mean())), math.nan, math.nan
    margin = student.ppf(0.975, logs.size - 1) * logs.std(ddof=1) / math.sqrt(logs.size)
    low, middle, high = np.exp(logs.mean() + np.array([-margin, 0.0, margin]))
    return float(middle), float(low), float(high)


@contextlib.contextmanager
def tree_of(name: str) -> Iterator[tuple[Path, str]]:
    """The source tree of a folder or a revision, and the revision in words."""
    if (Path(name) / "src" / "rotting").is_dir():
        try:
            changed = _git("-C", name, "status", "--porcelain", "--", "src")
            said = _git("-C", name, "log", "-1", "--format=%h %s") + ", changed" * bool(changed)
        except SystemExit:
            said = "sources that git does not know"
        yield Path(name), said
        return
    with tempfile.TemporaryDirectory() as folder:
        packed = Path(folder) / "src.tar"
        _git("archive", "-o", str(packed), name, "src")
        subprocess.run(["tar", "-xf", str(packed), "-C", folder], check=True)
        yield Path(folder), _git("log", "-1", "--format=%h %s", name)


def _git(*words: str) -> str:
    done = subprocess.run(["git", *words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"git {' '.join(words)}: {done.stderr.strip()}")
    return done.stdout.strip()


def cases_of(wanted: argparse.Namespace, trees: list[Path]) -> list[Case]:
    """What is measured: every policy that both revisions have, unless some are named."""
    with tempfile.TemporaryDirectory() as folder:
        workers = [Worker(tree, Path(folder)) for tree in trees]
        missing = sorted({key for worker in workers for key in worker.about["missing"]})
        if missing:
            raise SystemExit(f"{WORKER.name} must know every policy, but not {', '.join(missing)}")
        known, crowds = workers[0].about["policies"], workers[0].about["audience"]
        strange = sorted({*wanted.policies} - {*known})
        if strange:
            raise SystemExit(f"policies must be of {', '.join(known)}, got {', '.join(strange)}")
        whats = list(wanted.what)
        if "instructions" in whats and "error" in (said := workers[0].ask({"what": "count"})):
            print(f"instructions are left out: {said['error']}")
            whats.remove("instructions")
        for worker in workers:
            worker.close()
    chosen = [key for key in known if key in (wanted.policies or known)]
    sizes = {"compiling": [10], "gpu": [10], **{what: [10] for what in PAIRED}}
    return [
        (what, policy, arms)
        for what in whats
        for policy in chosen
        if what != "audience" or policy in crowds
        for arms in sizes.get(what, wanted.arms)
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("old", help="a folder that contains src/rotting, or a git revision")
    parser.add_argument("new", help="the same, to compare with the old one")
    parser.add_argument("--what", nargs="+", choices=WHATS, default=WHATS[:6])
    parser.add_argument("--policies", nargs="+", default=[], help="keys; all, if not given")
    parser.add_argument("--arms", nargs="+", type=int, default=[2, 10], help="of `decisions`")
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--most", type=int, default=0, help="rounds at most; else thrice as many")
    parser.add_argument("--slices", type=int, default=16, help="measurements of each in a round")
    parser.add_argument("--name", default="revisions", help="of the file in benchmarks/results")
    wanted = parser.parse_args()
    with tree_of(wanted.old) as (old, old_said), tree_of(wanted.new) as (new, new_said):
        cases = cases_of(wanted, [old, new])
        most = wanted.most or 3 * wanted.rounds
        found = play([old, new], cases, wanted.rounds, most, wanted.slices)
    rows = []
    table = Table("what", "policy", "K", "old", "", "new / old", "95 % interval", "")
    for (what, policy, arms), pairs in found.items():
        ratio, low, high = interval(pairs)
        row: dict[str, Any] = {"what": what, "policy": policy, "arms": arms, "rounds": len(pairs)}
        row |= {"old": float(f"{np.median([old for old, _ in pairs]):.4g}")}
        for name, value in (("ratio", ratio), ("low", low), ("high", high)):
            row[name] = None if math.isnan(value) else round(value, 4)
        rows.append(row)
        mark = "" if high <= LIMIT else f"above {LIMIT:g}"
        shown = str(row["old"]), UNITS.get(what, "ns"), f"{ratio:.3f}"
        table.add_row(what, policy, str(arms), *shown, f"{low:.3f} to {high:.3f}", mark)
    print(f"old: {old_said}\nnew: {new_said}")
    Console(width=100).print(table)
    for what in dict.fromkeys(row["what"] for row in rows):
        some = [row for row in rows if row["what"] == what and row["ratio"]]
        middle = math.exp(sum(math.log(row["ratio"]) for row in some) / len(some))
        total = sum(row["old"] * row["ratio"] for row in some) / sum(row["old"] for row in some)
        print(f"{what}: geometric mean {middle:.2f}, all together {total:.2f} of the old time")
    command = " ".join(["python benchmarks/revisions.py OLD NEW", *sys.argv[3:]])
    record("revisions", rows, name=wanted.name, command=command, old=old_said, new=new_said)
    return int(any(row["high"] is None or row["high"] > LIMIT for row in rows))


if __name__ == "__main__":
    sys.exit(main())
