"""The parts of a release agree, and the programs that check it notice faults."""

from __future__ import annotations

import os
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement

import rotting

ROOT = Path(__file__).parents[1]
GITHUB = ROOT / ".github"
RELEASE = runpy.run_path(str(ROOT / ".ci" / "release.py"), run_name="release")
MATRIX = runpy.run_path(str(ROOT / ".ci" / "matrix.py"), run_name="matrix")


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


# -------------------------------------------------------------------------- versions and their day


def test_version_changelog_and_citation_agree() -> None:
    verdict, said = RELEASE["papers"]()
    assert verdict == "passed", said
    assert said.startswith(f"{rotting.__version__} of ")


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The files that a release's papers are read from, to be spoilt."""
    for name in ("CHANGELOG.md", "CITATION.cff", "src/rotting/_provenance.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("CITATION.cff", f"version: {rotting.__version__}", "version: 9.9.9"),
        ("CITATION.cff", "date-released: 20", "date-released: 19"),
        ("CHANGELOG.md", f"## {rotting.__version__} (", "## 9.9.9 ("),
        ("src/rotting/_provenance.py", f'VERSION = "{rotting.__version__}"', 'VERSION = "9.9.9"'),
    ],
)
def test_papers_that_disagree_are_noticed(copy: Path, name: str, old: str, new: str) -> None:
    text = (copy / name).read_text()
    assert old in text
    (copy / name).write_text(text.replace(old, new, 1))
    assert RELEASE["papers"](copy).verdict == "FAILED"


def test_a_release_without_a_date_is_noticed(copy: Path) -> None:
    for name in ("CHANGELOG.md", "CITATION.cff"):
        text = (copy / name).read_text()
        (copy / name).write_text(re.sub(r"\d{4}-\d\d-\d\d", "unreleased", text))
    verdict, said = RELEASE["papers"](copy)
    assert verdict == "FAILED"
    assert "no date" in said


def test_a_tag_of_another_commit_is_noticed(copy: Path) -> None:
    def git(*words: str) -> None:
        who = ["-c", "user.name=a", "-c", "user.email=a@b.example", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", *who, *words], cwd=copy, check=True, capture_output=True)

    git("init")
    git("add", ".")
    assert RELEASE["tree"](copy).verdict == "FAILED"
    git("commit", "-m", "one")
    assert RELEASE["tree"](copy).verdict == "passed"
    assert RELEASE["tag"](copy).said.endswith("is free")
    git("tag", f"v{rotting.__version__}")
    assert RELEASE["tag"](copy).said.endswith("is this commit")
    git("commit", "--allow-empty", "-m", "two")
    assert RELEASE["tag"](copy).verdict == "FAILED"


def test_every_step_is_explained() -> None:
    page = (ROOT / "docs" / "maintainers" / "releasing.md").read_text()
    assert re.findall(r"^\| `([\w-]+)` \|", page, re.MULTILINE) == list(RELEASE["STEPS"])


def test_a_target_that_fails_fails_its_step(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text("good:\n\t@echo fine\nbad:\n\t@echo broken; exit 3\n")
    assert RELEASE["made"]("good", tmp_path).verdict == "passed"
    verdict, said = RELEASE["made"]("bad", tmp_path)
    assert verdict == "FAILED"
    assert "broken" in said
    assert RELEASE["made"]("absent", tmp_path).verdict == "skipped"


# ------------------------------------------------------------------- Pythons and both ends


def test_pythons_are_those_that_are_named_and_those_that_ci_runs() -> None:
    classifiers = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["classifiers"]
    named = [line.rpartition(" :: ")[2] for line in classifiers if ":: 3." in line]
    assert list(MATRIX["PYTHONS"]) == named
    assert read(GITHUB / "workflows" / "ci.yml")["jobs"]["run"]["strategy"]["matrix"]["python"] == (
        named
    )


def test_what_a_wheel_needs_is_read_from_it(tmp_path: Path) -> None:
    wheel = tmp_path / "rotting-1-py3-none-any.whl"
    lines = [
        "Name: rotting",
        "Requires-Dist: numpy<3,>=2.0",
        'Requires-Dist: old>=1; python_version < "3.12"',
        'Requires-Dist: polars>=1.21; extra == "logs"',
        'Requires-Dist: httpx>=0.27; extra == "serve"',
        'Requires-Dist: rotting[logs,serve]; extra == "all"',
    ]
    with zipfile.ZipFile(wheel, "w") as packed:
        packed.writestr("rotting-1.dist-info/METADATA", "\n".join(lines) + "\n")

    def names(extra: str, python: str) -> list[str]:
        return [needed.name for needed in MATRIX["needs"](wheel, extra, python)]

    assert names("", "3.12") == ["numpy"]
    assert names("", "3.11") == ["numpy", "old"]
    assert names("logs", "3.11") == ["polars"]
    assert names("all", "3.12") == ["polars", "httpx"]


def test_a_lower_end_that_cannot_be_had_is_named() -> None:
    needed = [Requirement("numpy>=2.0,<3"), Requirement("scipy>=1.13,<2")]
    assert MATRIX["too_new"](needed, {"numpy": "2.0.1", "scipy": "1.13.0"}) == []
    assert MATRIX["too_new"](needed, {"numpy": "2.1.0", "scipy": "1.13.0"}) == [
        "numpy 2.1.0 instead of 2.0"
    ]


# --------------------------------------------------------------------------------- the public CI


def test_the_workflow_does_what_ci_run_does_on_three_systems() -> None:
    job = read(GITHUB / "workflows" / "ci.yml")["jobs"]["run"]
    assert [step["run"] for step in job["steps"] if "run" in step][-1] == ".ci/run"
    systems = [name.partition("-")[0] for name in job["strategy"]["matrix"]["os"]]
    assert systems == ["ubuntu", "macos", "windows"]


def test_the_workflow_makes_what_there_is() -> None:
    text = (GITHUB / "workflows" / "ci.yml").read_text()
    makefile = (ROOT / "Makefile").read_text()
    targets = re.findall(r"\bmake ([a-z][\w-]*)", text)
    assert targets
    for target in targets:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
    (steps,) = re.findall(r'STEPS="([^"]*)"', text)
    assert set(steps.split()) <= set(RELEASE["STEPS"])


def test_the_workflow_may_do_little_and_publishes_tags_only() -> None:
    flow = read(GITHUB / "workflows" / "ci.yml")
    assert flow["permissions"] == {"contents": "read"}
    for name, job in flow["jobs"].items():
        allowed = {"id-token": "write"} if name == "publish" else None
        assert job.get("permissions") == allowed, name
        for step in job["steps"]:
            if "uses" in step:
                assert re.search(r"@(v\d+|release/v\d+)$", step["uses"]), step["uses"]
    assert flow["jobs"]["publish"]["needs"] == "release"
    assert "refs/tags/v" in flow["jobs"]["release"]["if"]


# ----------------------------------------------------------------------------- templates, policies


@pytest.mark.parametrize("name", ["bug", "feature", "question"])
def test_issue_templates_can_be_read(name: str) -> None:
    form = read(GITHUB / "ISSUE_TEMPLATE" / f"{name}.yml")
    assert form["name"]
    assert form["description"]
    ids = [part["id"] for part in form["body"]]
    assert len(set(ids)) == len(ids)
    for part in form["body"]:
        assert part["type"] in ("textarea", "input")
        assert part["attributes"]["label"]
    assert any(part.get("validations", {}).get("required") for part in form["body"])


def test_the_pull_request_template_names_targets_that_exist() -> None:
    targets = re.findall(r"`make ([\w-]+)`", (GITHUB / "pull_request_template.md").read_text())
    assert targets
    for target in targets:
        assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE)


def test_the_security_policy_mends_this_version() -> None:
    minor = rotting.__version__.rpartition(".")[0]
    assert f"| {minor} | yes |" in (ROOT / "SECURITY.md").read_text()


# ------------------------------------------------------------------------------------- completion


@pytest.mark.skipif(os.name == "nt" or not shutil.which("bash"), reason="there is no bash")
def test_completion_is_installed_and_completes_in_bash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trial = runpy.run_path(str(ROOT / ".ci" / "trial.py"), run_name="trial")
    if not Path(trial["PROGRAM"]).exists():
        pytest.skip("rotting is not installed as a command here")
    monkeypatch.chdir(tmp_path)
    trial["complete"]()
    assert "rotting" in (tmp_path / "home" / ".bashrc").read_text()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_can_be_shown_for_a_shell(shell: str) -> None:
    """The installed script, called outside that shell."""
    program = 'import sys; from rotting._cli import main; sys.argv = ["rotting"]; main()'
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "_ROTTING_COMPLETE": f"source_{shell}"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert f"complete_{shell}" in done.stdout
