"""The sdist holds what its tests need: all under version control; those that read files pass.

python .ci/sdist.py dist/rotting-*.tar.gz          (make smoke)
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

LEFT_OUT = {".gitignore"}
# Tests that read files beside the package and compile nothing
READING = [
    "tests/test_metadata.py",
    "tests/test_release.py",
    "tests/test_docs.py",
    "tests/test_house.py",
    "tests/ground/test_provenance.py",
    "tests/experiments/test_results.py",
    "tests/online/test_save.py",
    "-k",
    "not code_runs and (metadata or release or docs or house or provenance or format)",
]


def missing(unpacked: Path) -> list[str]:
    """Files that git knows and the sdist does not hold."""
    known = subprocess.run(["git", "ls-files"], capture_output=True, text=True, check=False)
    if known.returncode:
        print(f"not compared with what is under version control: {known.stderr.strip()}")
    wanted = [name for name in known.stdout.splitlines() if Path(name).exists()]
    return [name for name in wanted if name not in LEFT_OUT and not (unpacked / name).exists()]


def relative(metadata: Path) -> list[str]:
    """Links and pictures of the description that are relative: on a package index they are dead."""
    return re.findall(r"\]\((?!https?://|#)([^)]*)\)", metadata.read_text(encoding="utf-8"))


def pytest(unpacked: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run pytest on what was unpacked."""
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-qq", "-p", "no:cacheprovider", *words],
        cwd=unpacked,
        env={**os.environ, "PYTHONPATH": "src"},
        capture_output=True,
        text=True,
        check=False,
    )


def main() -> int:
    """Say what is wrong with the sdist named on the command line, if anything."""
    with tempfile.TemporaryDirectory() as folder, tarfile.open(sys.argv[1]) as packed:
        packed.extractall(folder, filter="data")
        (unpacked,) = Path(folder).iterdir()
        if lost := missing(unpacked):
            print(f"the sdist lacks {', '.join(lost)}; MANIFEST.in says what goes into it")
            return 1
        if shown := relative(unpacked / "PKG-INFO"):
            print(f"a package index cannot follow {', '.join(shown)}; setup.py makes its page")
            return 1
        for what, words in {"collected": ["--collect-only"], "run": READING}.items():
            done = pytest(unpacked, *words)
            if done.returncode:
                print(f"the tests in the sdist cannot be {what}:\n{done.stdout}{done.stderr}")
                return 1
        print("the sdist holds what its tests need")
    return 0


if __name__ == "__main__":
    sys.exit(main())
