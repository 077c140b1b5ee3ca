"""Is this ready to be released? Each step says so in one line, and a table at the end.

python .ci/release.py                   all steps, in this order
python .ci/release.py papers dist       some of them

A step is a target of the Makefile, or a check of this file (papers, tree, tag, citation). What a
target prints is in out/release/STEP.log. A step that cannot run here is skipped, with the reason.
The end is 0 if nothing failed.
"""

from __future__ import annotations

import argparse
import re
import runpy
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import yaml

ROOT = Path(__file__).resolve().parents[1]
HEADING = re.compile(r"^## (\S+) \(([^)]*)\)$", re.MULTILINE)


class Outcome(NamedTuple):
    """How a step went: "passed", "FAILED" or "skipped", and a sentence."""

    verdict: str
    said: str


def version(root: Path = ROOT) -> str:
    """The version that the package says it is."""
    return str(runpy.run_path(str(root / "src" / "rotting" / "_provenance.py"))["VERSION"])


def papers(root: Path = ROOT) -> Outcome:
    """The changelog and the citation are of this version, and of the same day."""
    ours = version(root)
    latest = HEADING.search((root / "CHANGELOG.md").read_text(encoding="utf-8"))
    cited = yaml.safe_load((root / "CITATION.cff").read_text(encoding="utf-8"))
    if latest is None:
        return Outcome("FAILED", "CHANGELOG.md has no heading as ## 1.2.3 (2020-12-31)")
    said = {
        "src/rotting/_provenance.py": (ours, latest.group(2)),
        "CHANGELOG.md": latest.groups(),
        "CITATION.cff": (str(cited.get("version")), str(cited.get("date-released"))),
    }
    if len(set(said.values())) > 1:
        return Outcome("FAILED", "; ".join(f"{name} says {what}" for name, what in said.items()))
    if not re.fullmatch(r"\d{4}-\d\d-\d\d", latest.group(2)):
        return Outcome("FAILED", f"CHANGELOG.md has no date for {ours}, but {latest.group(2)!r}")
    return Outcome("passed", f"{ours} of {latest.group(2)}")


def git(*words: str, root: Path = ROOT) -> str | None:
    """What git prints, or None if it cannot answer."""
    done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=False)
    return None if done.returncode else done.stdout.strip()


def tree(root: Path = ROOT) -> Outcome:
    """Everything is committed: what is built is what is tagged."""
    changed = git("status", "--porcelain", root=root)
    if changed is None:
        return Outcome("skipped", "this is no git repository")
    if changed:
        return Outcome("FAILED", f"{len(changed.splitlines())} files are not committed")
    return Outcome("passed", "everything is committed")


def tag(root: Path = ROOT) -> Outcome:
    """The version has no tag yet, or its tag is this commit."""
    head = git("rev-parse", "HEAD", root=root)
    if head is None:
        return Outcome("skipped", "this is no git repository")
    name = f"v{version(root)}"
    tagged = git("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}", root=root)
    if tagged and tagged != head:
        return Outcome("FAILED", f"{name} is the tag of another commit: raise VERSION")
    return Outcome("passed", f"{name} is {'this commit' if tagged else 'free'}")


def citation(root: Path = ROOT) -> Outcome:
    """CITATION.cff is valid, in the eyes of cffconvert, if that can be had."""
    uv = [sys.executable, "-m", "uv", "tool", "run", "--quiet"]
    try_it = subprocess.run(
        [*uv, "cffconvert", "--version"], capture_output=True, text=True, check=False
    )
    if try_it.returncode:
        return Outcome("skipped", "cffconvert cannot be had; tests/test_metadata.py reads the file")
    done = subprocess.run(
        [*uv, "cffconvert", "--validate"], cwd=root, capture_output=True, text=True, check=False
    )
    last = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()][-1:]
    return Outcome("FAILED" if done.returncode else "passed", " ".join(last))


def made(target: str, root: Path = ROOT) -> Outcome:
    """`make target`, its output in a file; skipped where the Makefile has no such target."""
    if not re.search(rf"^{target}:", (root / "Makefile").read_text(encoding="utf-8"), re.MULTILINE):
        return Outcome("skipped", f"the Makefile has no target {target}")
    log = root / "out" / "release" / f"{target}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("w", encoding="utf-8") as file:
        done = subprocess.run(
            ["make", target], cwd=root, stdout=file, stderr=subprocess.STDOUT, check=False
        )
    name = log.relative_to(root).as_posix()
    if done.returncode:
        end = log.read_text(encoding="utf-8", errors="replace").splitlines()[-15:]
        return Outcome("FAILED", "\n  ".join([f"all of it is in {name}; its end:", *end]))
    missed = sum("skipped" in line for line in log.read_text(encoding="utf-8").splitlines())
    return Outcome("passed", f"{name}{', some of it skipped' if missed else ''}")


CHECKS: dict[str, Callable[[], Outcome]] = {
    "papers": papers,
    "tree": tree,
    "tag": tag,
    "citation": citation,
}
TARGETS = ("check", "dist", "smoke", "matrix", "site", "test", "test-lowest")
STEPS = (*CHECKS, *TARGETS)


def main() -> int:
    """Take the steps that were asked for; 1 if one failed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("steps", nargs="*", metavar="STEP", help=", ".join(STEPS))
    asked = parser.parse_args().steps
    if unknown := sorted(set(asked) - set(STEPS)):
        parser.error(f"there is no step {', '.join(unknown)}; there are {', '.join(STEPS)}")
    rows = []
    for step in STEPS:
        if asked and step not in asked:
            continue
        start = time.perf_counter()
        outcome = CHECKS[step]() if step in CHECKS else made(step)
        rows.append((step, outcome, time.perf_counter() - start))
        print(f"{step}: {outcome.verdict}: {outcome.said}", flush=True)
    print(f"\n{'step':<12} {'verdict':<8} {'seconds':>7}")
    for step, outcome, seconds in rows:
        print(f"{step:<12} {outcome.verdict:<8} {seconds:>7.0f}")
    return int(any(outcome.verdict == "FAILED" for _, outcome, _ in rows))


if __name__ == "__main__":
    sys.exit(main())
