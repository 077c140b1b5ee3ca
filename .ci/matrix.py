"""Install the wheel alone, on each Python, with the oldest and the newest dependencies, and try it.

python .ci/matrix.py                                   every Python that is here
python .ci/matrix.py --python 3.12 --end oldest        one of them

For each Python and each end a new environment gets the wheel of dist/ and nothing else, and tries
it (.ci/trial.py); then the extra `all`, and tries that. The oldest are the lowest versions which
pyproject.toml allows and which are built for that Python; the newest, the highest. Pythons are
found on PATH; one that is not there is skipped, and said so.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from email.parser import Parser
from pathlib import Path
from typing import NamedTuple

from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).resolve().parents[1]
PYTHONS = ("3.11", "3.12", "3.13")
ENDS = {"oldest": "lowest-direct", "newest": "highest"}


class Tried(NamedTuple):
    """How one environment did."""

    python: str
    end: str
    verdict: str  # "passed", "FAILED" or "skipped"
    seconds: float
    said: str


def found(python: str) -> str | None:
    """The program of this Python, if there is one on PATH that runs."""
    program = shutil.which(f"python{python}")
    if program is None:
        return None
    asked = "import sys; print(sys.executable, '%d.%d' % sys.version_info[:2])"
    done = subprocess.run([program, "-c", asked], capture_output=True, text=True, check=False)
    executable, _, version = done.stdout.strip().rpartition(" ")
    return executable if done.returncode == 0 and version == python else None


def environment() -> dict[str, str]:
    """The variables of this process, without those that could lend it our own packages."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    kept.pop("VIRTUAL_ENV", None)
    return kept | {"PYTHONUNBUFFERED": "1", "PYTHONUTF8": "1"}


def run(words: list[str], folder: Path) -> str:
    """Run a command in a folder and return what it printed; fail with all it said."""
    done = subprocess.run(
        words, cwd=folder, env=environment(), capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(words)}\n{done.stdout}{done.stderr}")
    return done.stdout.strip()


def needs(wheel: Path, extra: str, python: str) -> list[Requirement]:
    """What the wheel says it needs there, alone (`extra` is empty) or with an extra."""
    with zipfile.ZipFile(wheel) as packed:
        (name,) = (name for name in packed.namelist() if name.endswith(".dist-info/METADATA"))
        about = Parser().parsestr(packed.read(name).decode())
    wanted = []
    for text in about.get_all("Requires-Dist", []):
        needed = Requirement(text)
        there = {"python_version": python, "extra": extra}
        alone = {"python_version": python, "extra": ""}
        if needed.marker is not None and not needed.marker.evaluate(there):
            continue
        if extra and (needed.marker is None or needed.marker.evaluate(alone)):
            continue  # it comes without the extra
        if needed.name == about["Name"]:  # an extra that is made of others
            for other in sorted(needed.extras):
                wanted += needs(wheel, other, python)
        else:
            wanted.append(needed)
    return wanted


def too_new(needed: list[Requirement], versions: dict[str, str]) -> list[str]:
    """Those that are newer than their lower end, which can then not be had, or not be used."""
    found = []
    for each in needed:
        (end,) = (Version(end.version) for end in each.specifier if end.operator == ">=")
        version = Version(versions[each.name])
        if version.release[: len(end.release)] != end.release:
            found.append(f"{each.name} {version} instead of {end}")
    return found


def attempt(wheel: Path, python: str, program: str, end: str, folder: Path) -> str:
    """Install and try the wheel alone, then with the extra `all`; return what was seen."""
    uv = [sys.executable, "-m", "uv"]
    place = folder / "environment"
    run([*uv, "venv", "--quiet", "--python", program, str(place)], folder)
    own = str(place / ("Scripts/python.exe" if os.name == "nt" else "bin/python"))
    trial = shutil.copy(ROOT / ".ci" / "trial.py", folder)
    install = [*uv, "pip", "install", "--quiet", "--python", own, "--only-binary", ":all:"]
    needed, said = [], []
    for what, extra in {"alone": "", "all": "all"}.items():
        needed += needs(wheel, extra, python)
        # the lowest versions are taken of what is named on the command line, hence all of it
        named = [f"{each.name}{each.specifier}" for each in needed]
        asked = f"rotting{f'[{extra}]' if extra else ''} @ {wheel.as_uri()}"
        run([*install, "--resolution", ENDS[end], asked, *named], folder)
        empty = folder / what
        empty.mkdir()
        said.append(f"{what}: {run([own, str(trial), what], empty)}")
    listed = run([*uv, "pip", "list", "--format=freeze", "--python", own], folder)
    versions = dict(line.split("==") for line in listed.splitlines() if "==" in line)
    said.append(" ".join(f"{each.name} {versions[each.name]}" for each in needed))
    if end == "oldest" and python == PYTHONS[0] and (newer := too_new(needed, versions)):
        raise RuntimeError(f"lower ends that cannot be had: {', '.join(newer)}")
    return "; ".join(said)


def try_one(wheel: Path, python: str, end: str) -> Tried:
    """One Python with one end of the dependencies."""
    program = found(python)
    if program is None:
        return Tried(python, end, "skipped", 0.0, f"no python{python} on PATH that runs")
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        try:
            said = attempt(wheel, python, program, end, Path(folder))
            verdict = "passed"
        except RuntimeError as error:
            verdict, said = "FAILED", str(error)
    return Tried(python, end, verdict, time.perf_counter() - start, said)


def main() -> int:
    """Try what was asked for; a line for each, and 1 if any failed or nothing could be tried."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--python", action="append", choices=PYTHONS)
    parser.add_argument("--end", action="append", choices=list(ENDS))
    asked = parser.parse_args()
    wheels = sorted((ROOT / "dist").glob("*.whl"))
    if len(wheels) != 1:
        print(f"dist/ must hold one wheel, but holds {len(wheels)}: make dist")
        return 1
    outcomes = []
    for python in asked.python or PYTHONS:
        for end in asked.end or ENDS:
            tried = try_one(wheels[0], python, end)
            outcomes.append(tried)
            about = f"{tried.verdict} in {tried.seconds:.0f} s" if tried.seconds else tried.verdict
            print(f"Python {python}, {end} dependencies: {about}: {tried.said}", flush=True)
    verdicts = [tried.verdict for tried in outcomes]
    return int("FAILED" in verdicts or "passed" not in verdicts)


if __name__ == "__main__":
    sys.exit(main())
