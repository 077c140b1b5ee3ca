"""Puts small faults into the code, one at a time, and counts those that the tests notice.

    python tests/mutate.py                                  all 4,700: an hour or so on two cores
    python tests/mutate.py --module rotting.policies._cto    one of them (may be given again)
    python tests/mutate.py --limit 200 --seed 1             a sample
    python tests/mutate.py --module rotting.theory._sums --tests tests/theory    by some tests only

The score is killed / (all - explained). Survivors that no test can kill are explained, one by one,
in tests/mutate_explained.toml. A run of all modules writes benchmarks/results/mutation.json.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import os
import random
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from mutation.mutants import Mutant
from mutation.sites import ROOT, SOURCE, Site, file_of, sites

EXPLAINED = ROOT / "tests" / "mutate_explained.toml"
RESULTS = ROOT / "benchmarks" / "results" / "mutation.json"
TERMINAL = os.dup(1)
PLACES = ("policies", "policies/parts", "theory", "_engines/loop.py", "stats.py")


def modules() -> list[str]:
    """The modules that are mutated."""
    files: list[Path] = []
    for place in PLACES:
        path = SOURCE / "rotting" / place
        files += sorted(path.glob("*.py")) if path.is_dir() else [path]
    names = [".".join(file.relative_to(SOURCE).with_suffix("").parts) for file in files]
    return [name for name in names if not name.endswith("__init__")]


def explained() -> dict[tuple[str, str, str, str], str]:
    """Why a mutant cannot be killed, by its key.

    An entry may name several changes of its line, and several modules, as rotting.policies.*, of
    which those that have the line are meant.
    """
    found = {}
    for entry in tomllib.loads(EXPLAINED.read_text()).get("mutant", []):
        for name in modules():
            if not fnmatch.fnmatchcase(name, entry["module"]):
                continue
            if "*" in entry["module"] and entry["line"] not in file_of(name).read_text():
                continue
            for change in entry["changes"]:
                found[name, entry["function"], entry["line"], change] = entry["why"]
    return found


def chosen(names: list[str], limit: int | None, seed: int) -> list[Site]:
    """The mutants to try."""
    found = [site for name in names for site in sites(name)]
    if limit is None or limit >= len(found):
        return found
    picked = set(random.Random(seed).sample(range(len(found)), limit))
    return [site for place, site in enumerate(found) if place in picked]


def judged(trying: list[Site], items: Sequence[Any], jobs: int, budget: float) -> Iterator[Any]:
    """The verdicts, each as plain data; survivors are printed as they are found."""
    from mutation.host import passes
    from mutation.reach import measure
    from mutation.trial import SURVIVED, UNREACHED, trials

    reach = measure(items, passes, modules(), lambda words: say(words))
    for verdict in trials(trying, {item.nodeid: item for item in items}, reach, jobs, budget):
        mutant = verdict.mutant
        if verdict.outcome in (SURVIVED, UNREACHED):
            where = f"{mutant.module}:{mutant.line} {mutant.function}"
            say(f"{verdict.outcome}: {where}: {mutant.text}   [{mutant.change}]")
        yield row(mutant, verdict.outcome)


def say(words: str) -> None:
    """Print to the terminal itself: pytest captures standard output."""
    with os.fdopen(os.dup(TERMINAL), "w") as out:
        print(words, file=out)


def summary(found: list[dict[str, Any]]) -> dict[str, Any]:
    """Counts and the score."""
    counts = Counter(one["outcome"] for one in found)
    killed = counts["killed"] + counts["timeout"]
    total = len(found) - counts["explained"]
    return {
        "mutants": len(found),
        "killed": killed,
        "of these by timeout": counts["timeout"],
        "explained": counts["explained"],
        "survived": total - killed,
        "score": round(killed / total, 4) if total else None,
    }


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--module", action="append", help="as rotting.policies._cto")
    parser.add_argument("--limit", type=int, help="try a sample of so many mutants")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument("--jobs", type=int, default=2, help="processes at once")
    parser.add_argument("--budget", type=float, default=30.0, help="seconds of tests a mutant")
    parser.add_argument("--tests", action="append", help="of these files only, as tests/theory")
    parser.add_argument("--out", type=Path, help="where the verdicts go, as JSON")
    parser.add_argument("--explained", action="store_true", help="try the explained ones too")
    asked = parser.parse_args()
    names = asked.module or modules()
    unknown = sorted(set(names) - set(modules()))
    if unknown:
        parser.error(f"module must be one of those mutated, got {', '.join(unknown)}")
    if asked.limit is not None and asked.limit < 1:
        parser.error(f"limit must be at least 1, got {asked.limit}")
    from mutation.host import TESTS, with_tests

    started = time.monotonic()
    known = explained()
    found: list[dict[str, Any]] = []
    trying = []
    for site in chosen(names, asked.limit, asked.seed):
        if site.mutant.key in known and not asked.explained:
            found.append(row(site.mutant, "explained") | {"why": known[site.mutant.key]})
        else:
            trying.append(site)
    with_tests(
        lambda items: found.extend(judged(trying, items, asked.jobs, asked.budget)),
        asked.tests or TESTS,
    )
    by_module = {
        name: summary([one for one in found if one["module"] == name])
        for name in names
        if any(one["module"] == name for one in found)
    }
    for name, line in by_module.items():
        counted = line["mutants"] - line["explained"]
        print(f"{name:40} {line['killed']:5} of {counted:5}  {line['score']}")
    everything = summary(found)
    print(f"all: {everything}, {time.monotonic() - started:.0f} s")
    out = asked.out or (RESULTS if asked == parser.parse_args([]) else None)
    if out is not None:
        survivors = [one for one in found if one["outcome"] in ("survived", "unreached")]
        record = {
            "command": " ".join(["python", "tests/mutate.py", *sys.argv[1:]]),
            "seconds": round(time.monotonic() - started),
            "all": everything,
            "modules": by_module,
            "survivors": survivors,
        }
        out.write_text(json.dumps(record, indent=1) + "\n")


def row(mutant: Mutant, outcome: str) -> dict[str, Any]:
    """A verdict as plain data."""
    return {**mutant._asdict(), "outcome": outcome}


if __name__ == "__main__":
    main()
