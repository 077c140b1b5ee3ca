"""Try an installed rotting: everything imports, a player plays; with the extra `all`, more.

This runs in a new environment, in an empty folder, and must not find the repository:

python trial.py alone        what `pip install rotting` gives
python trial.py all          what `pip install 'rotting[all]'` gives
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import urllib.request
from pathlib import Path

PROGRAM = str(Path(sysconfig.get_path("scripts")) / "rotting")
# What may be missing, and the extra that brings it.
EXTRAS = {
    "pandas": "frames",
    "polars": "logs",
    "starlette": "serve",
    "uvicorn": "serve",
    "httptools": "serve",
    "uvloop": "serve",
    "msgspec": "serve",
    "prometheus_client": "serve",
    "httpx": "serve",
    "joblib": "dask",
    "distributed": "dask",
    "ray": "ray",
    "cuda": "cuda",
}


def command(*words: str) -> str:
    """Run `rotting` as it was installed, and return what it printed."""
    done = subprocess.run([PROGRAM, *words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"rotting {' '.join(words)}: {done.stdout}{done.stderr}")
    return done.stdout


def import_everything(allowed: set[str]) -> tuple[int, list[str]]:
    """Import every module; return how many, and those that lack one of the `allowed` extras."""
    import rotting

    count, lacking = 0, []
    for module in pkgutil.walk_packages(rotting.__path__, "rotting.", onerror=lambda name: None):
        if module.name.endswith("__main__"):  # to import it is to run it
            continue
        try:
            importlib.import_module(module.name)
            count += 1
        except ImportError as error:
            extra = EXTRAS.get((error.name or "").partition(".")[0])
            named = re.search(r"rotting\[(\w+)\]", str(error))
            extra = extra or (named.group(1) if named else None)
            if extra not in allowed:
                raise
            lacking.append(module.name)
    return count, lacking


def play() -> None:
    """A player decides, learns, and is the same after it was saved and loaded."""
    import rotting
    from rotting import policies

    player = policies.recommended(rewards="bernoulli").online(arms=["red", "blue"], seed=1)
    for step in range(50):
        decision = player.select()
        player.update(decision, reward=float(decision.arm == "red" or step % 3 == 0))
    again = rotting.Player.from_bytes(player.to_bytes())
    assert [player.select().arm for _ in range(9)] == [again.select().arm for _ in range(9)]


def complete() -> None:
    """`rotting --install-completion` makes bash complete commands, where there is a bash."""
    bash = shutil.which("bash")
    if bash is None or os.name == "nt":
        return
    home = Path("home").resolve()
    home.mkdir()
    variables = {**os.environ, "HOME": str(home), "SHELL": bash}
    variables["PATH"] = f"{Path(PROGRAM).parent}{os.pathsep}{variables['PATH']}"
    # From within a bash, as users do: the shell is recognised by the process that asks.
    install = "rotting --install-completion; exit $?"
    done = subprocess.run(
        [bash, "--norc", "-c", install], env=variables, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done
    # What a Tab does: the function that .bashrc registered, called as bash calls it.
    script = """
    source "$HOME/.bashrc"
    function=$(complete -p rotting | sed -E 's/.* -F ([^ ]+).*/\\1/')
    COMP_WORDS=(rotting com); COMP_CWORD=1; COMP_LINE="rotting com"; COMP_POINT=11
    "$function" rotting com rotting
    echo "${COMPREPLY[*]}"
    """
    done = subprocess.run(
        [bash, "--norc", "-c", script], env=variables, capture_output=True, text=True, check=False
    )
    assert done.stdout.split() == ["compare"], done


def serve() -> None:
    """The service starts, answers and stops."""
    assert "would listen" in command("serve", "--data", "service.db", "--check")
    words = [PROGRAM, "serve", "--data", "service.db", "--port", "0"]
    with (
        tempfile.TemporaryFile("w+") as complaints,
        subprocess.Popen(words, stdout=subprocess.PIPE, stderr=complaints, text=True) as server,
    ):
        assert server.stdout is not None
        found = None
        for line in server.stdout:
            if found := re.search(r"http://\S+", line):
                break
        if not found:
            complaints.seek(0)
            raise SystemExit(f"rotting serve said no address: {complaints.read()}")
        with urllib.request.urlopen(found.group() + "/health", timeout=30) as answer:
            assert answer.status == 200
        server.send_signal(signal.SIGTERM)
        status = server.wait(timeout=30)
    assert os.name == "nt" or status in (0, 128 + signal.SIGTERM), status
    assert "all is as it should be" in command("serve", "verify", "--data", "service.db")


def spread() -> None:
    """A frame is made, and a Dask cluster of this machine gives the same bits as its threads."""
    import numpy as np

    import rotting
    from rotting import policies
    from rotting.papers import levine2017

    scenario = levine2017.non_parametric()
    here = rotting.compare([policies.UCB1(), policies.Uniform()], scenario, runs=4)
    assert len(here.to_frame()) == 2
    there = rotting.simulate(policies.UCB1(), scenario, runs=4, backend="dask")
    again = rotting.simulate(policies.UCB1(), scenario, runs=4)
    np.testing.assert_array_equal(there.regret, again.regret)


def main() -> None:
    """Try what was asked for, and say in one line what was seen."""
    import rotting

    what = sys.argv[1]
    place = Path(rotting.__file__).resolve()
    assert place.is_relative_to(Path(sys.prefix).resolve()), f"this is another rotting: {place}"
    assert command("--version").strip() == f"rotting {rotting.__version__}"
    allowed = set(EXTRAS.values()) if what == "alone" else {"cuda", "ray"}
    count, lacking = import_everything(allowed)
    if what == "alone":
        command("demo", "--runs", "2", "--out", "demo.png")
        assert Path("demo.png").stat().st_size > 10_000
        play()
        complete()
    else:
        command("diagnose", "--example")
        serve()
        spread()
    without = f", {len(lacking)} await an extra" if lacking else ""
    print(f"{count} modules{without}")


if __name__ == "__main__":
    main()
