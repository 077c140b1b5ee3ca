"""Papers are found by name: a third one is a folder, and edits no other file."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from rotting import Result, papers
from rotting._catalogue import names as catalogue
from rotting._cli import app

TINY = '''
"""A paper of two policies on one scenario."""

import json
from typing import NamedTuple

from rotting import Arm, Comparison, NoNoise, Scenario, compare, models, policies
from rotting._table import Table
from rotting.papers._paper import Paper, Shown


class Found(NamedTuple):
    comparison: Comparison
    seconds: float = 1.25
    gpu_seconds: float = 0.5


def two_constants() -> Scenario:
    """Two arms that stay as they are."""
    return Scenario([Arm(models.Constant(1.0)), Arm(models.Constant(0.0))], NoNoise(), 40)


def reproduce(runs, seed, report, engine, **options):
    known = {"best": policies.Oracle(), "in turn": policies.RoundRobin()}
    return Found(compare(known, two_constants(), runs=runs, seed=seed, report=report,
                         engine="reference", **options))


def as_data(found, command):
    return {"command": command, "runs": found.comparison["best"].runs,
            "mean": {k: r.mean_regret[-1] for k, r in found.comparison.results.items()}}


def write(found, folder, command):
    (folder / "report.html").write_text(json.dumps(as_data(found, command)))


def show(found):
    rows = [[name, f"{result.mean_regret[-1]:.1f}"]
            for name, result in found.comparison.results.items()]
    table = Table(["policy", "regret"], rows, title="a tiny table")
    return Shown([table], ["a line about it"])


PAPER = Paper("Tiny, 2030", {"two_constants": two_constants}, 3, lambda runs: 2 * runs,
              reproduce, write, as_data, show)
'''


def add_paper(name: str, text: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / name).mkdir(parents=True)
    (folder / name / "__init__.py").write_text(text)
    monkeypatch.setattr(papers, "__path__", [*papers.__path__, str(folder)])
    importlib.invalidate_caches()


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    add_paper("tiny", TINY, tmp_path / "more", monkeypatch)
    yield
    sys.modules.pop("rotting.papers.tiny", None)
    vars(papers).pop("tiny", None)


@pytest.mark.usefixtures("tiny")
def test_a_third_paper_is_a_folder(tmp_path: Path) -> None:
    out = tmp_path / "found"
    done = CliRunner().invoke(app, ["reproduce", "tiny", "--out", str(out)])
    assert done.exit_code == 0, done.stderr
    for text in (
        "a tiny table",
        "in turn",
        "20.0",
        "a line about it",
        "Played in 1.2 s, 0.5 s of them on the GPU.",
    ):
        assert text in done.stdout
    written = json.loads((out / "report.html").read_text())
    assert written == {
        "command": "rotting reproduce tiny --runs 3 --seed 0",
        "runs": 3,
        "mean": {"best": 0.0, "in turn": 20.0},
    }
    again = CliRunner().invoke(
        app, ["reproduce", "tiny", "-r", "5", "--json", "--force", "--out", str(out)]
    )
    assert json.loads(again.stdout)["runs"] == 5


@pytest.mark.usefixtures("tiny")
def test_its_scenarios_get_names() -> None:
    assert {"non_parametric", "av", "anv", "two_constants"} <= set(catalogue.scenarios())
    assert catalogue.parse_scenario("two_constants:horizon=7").horizon == 7
    listed = CliRunner().invoke(app, ["scenarios"]).stdout
    assert "Two arms that stay as they are." in " ".join(listed.split())


@pytest.mark.parametrize("name", papers.names())
def test_every_paper_has_the_shape(name: str) -> None:
    paper = papers.find(name)
    assert paper.title
    assert paper.runs >= 2
    assert 0 < paper.steps(10) < paper.steps(20)
    for make in paper.scenarios.values():
        assert make().horizon > 0


@pytest.mark.parametrize("name", papers.names())
def test_steps_are_what_is_reported(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With simulations that only report, a bar ends where `steps` says."""
    from rotting._experiments import comparison, tuning

    def simulate(
        policy: object, scenario: object, *, runs: int, progress: object = None, **options: object
    ) -> Result:
        assert callable(progress)
        progress(1, runs)
        progress(runs, runs)
        one = np.ones(1)
        return Result(
            np.ones(1, dtype=np.int64),
            np.ones((runs, 1)),
            np.ones((runs, 1), dtype=int),
            one,
            one,
            {"parameters": "", "gpu_seconds": 0.25},
        )

    monkeypatch.setattr(comparison, "simulate", simulate)
    monkeypatch.setattr(tuning, "simulate", simulate)
    done: list[int] = []
    paper = papers.find(name)
    found = paper.reproduce(runs=3, seed=0, report=lambda what, steps: done.append(steps))
    assert sum(done) == paper.steps(3)
    assert found.gpu_seconds >= 0.25 * 10


def test_papers_are_imported_lazily() -> None:
    code = (
        "import sys, rotting.papers as p\n"
        "lazy = 'rotting.papers.levine2017' not in sys.modules\n"
        "print(lazy, p.levine2017.av().arm_count, hasattr(p, 'nothing'))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "True 10 False\n", done.stderr


def test_refusals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="unknown paper 'levin2017'; did you mean 'levine2017'"):
        papers.find("levin2017")
    add_paper("shapeless", "PAPER = 3\n", tmp_path / "a", monkeypatch)
    with pytest.raises(ValueError, match=r"papers\.shapeless must expose a Paper as PAPER, got 3"):
        papers.find("shapeless")
    twice = "from rotting.papers.levine2017 import PAPER\n"
    monkeypatch.undo()
    add_paper("twice", twice, tmp_path / "b", monkeypatch)
    with pytest.raises(ValueError, match="scenario 'non_parametric' of twice must have another"):
        catalogue.scenarios()
    for name in ("shapeless", "twice"):
        del sys.modules[f"rotting.papers.{name}"], vars(papers)[name]
