"""The sdist holds what its tests need: all that is under version control, and pytest finds them.

python .ci/sdist.py dist/rotting-*.tar.gz          (make smoke)
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

LEFT_OUT = {".gitignore"}


def missing(unpacked: Path) -> list[str]:
    """Files that git knows and the sdist does not hold."""
    known = subprocess.run(["git", "ls-files"], capture_output=True, text=True, check=False)
    if known.returncode:
        print(f"not compared with what is under version control: {known.stderr.strip()}")
    wanted = [name for name in known.stdout.splitlines() if Path(name).exists()]
    return [name for name in wanted if name not in LEFT_OUT and not (unpacked / name).exists()]


def main() -> int:
    """Say what is wrong with the sdist named on the command line, if anything."""
    with tempfile.TemporaryDirectory() as folder, tarfile.open(sys.argv[1]) as packed:
        packed.extractall(folder, filter="data")
        (unpacked,) = Path(folder).iterdir()
        if lost := missing(unpacked):
            print(f"the sdist lacks {', '.join(lost)}; MANIFEST.in says what goes into it")
            return 1
        command = [
            sys.executable,
            "-m",
            "pytest",
            "--collect-only",
            "-qq",
            "-p",
            "no:cacheprovider",
        ]
        environment = {**os.environ, "PYTHONPATH": "src"}
        done = subprocess.run(
            command, cwd=unpacked, env=environment, capture_output=True, text=True, check=False
        )
        if done.returncode:
            print(f"the tests in the sdist cannot be collected:\n{done.stdout}{done.stderr}")
            return 1
        print("the sdist holds what its tests need")
    return 0


if __name__ == "__main__":
    sys.exit(main())
