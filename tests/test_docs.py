"""The documents are true: their code runs, and they name every public thing."""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from pathlib import Path

import pytest

from rotting.cli import app
from rotting.policies import POLICIES

ROOT = Path(__file__).parents[1]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
RUN_HERE = [page for page in PAGES if page.name != "serving.md"]  # it needs a server: tests/serve
BLOCK = re.compile(r"```python\n(.*?)```", re.DOTALL)


@pytest.mark.parametrize("page", RUN_HERE, ids=lambda page: page.name)
def test_code_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of a page run in order; one that starts with a file name becomes that file."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)
    policies_before = dict(POLICIES)
    scope: dict[str, object] = {"__name__": "page"}
    for block in BLOCK.findall(page.read_text()):
        name = re.match(r"# (\w+\.py)\n", block)
        if name:
            (tmp_path / name.group(1)).write_text(block)
        else:
            exec(compile(block, str(page), "exec"), scope)
    for key in set(POLICIES) - set(policies_before):
        del POLICIES[key]
    for module in set(sys.modules) - before:
        if str(getattr(sys.modules[module], "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[module]


@pytest.mark.parametrize(
    "name",
    [
        "rotting",
        "rotting.models",
        "rotting.bandits",
        "rotting.policies",
        "rotting.experiments.stats",
        "rotting.theory",
        "rotting.logs",
        "rotting.league",
        "rotting.papers",
        "rotting.papers.levine2017",
        "rotting.papers.seznec2019",
    ],
)
def test_every_public_name_is_documented(name: str) -> None:
    module = importlib.import_module(name)
    text = (ROOT / "docs" / "reference" / "names.md").read_text()
    public = getattr(module, "__all__", None) or [
        key
        for key, value in vars(module).items()
        if not key.startswith("_")
        and getattr(value, "__module__", None) == name
        and (inspect.isclass(value) or inspect.isfunction(value))
    ]
    for key in public:
        value = getattr(module, key)
        if inspect.isclass(value) or inspect.isfunction(value):
            assert (value.__doc__ or "").strip(), f"{name}.{key} has no docstring"
        if key in ("check_means", "check_positive", "function_name", "world_tables"):
            continue  # helpers of the package itself
        assert f"`{key}`" in text, f"docs/reference/names.md does not name {name}.{key}"


def test_the_toolkit_of_parts_is_there() -> None:
    text = (ROOT / "docs" / "reference" / "names.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \| (`[A-Z]\w+`.*)$", text, re.MULTILINE)
    assert len(rows) >= 10
    for name, row in rows:
        module = importlib.import_module(f"rotting.policies.parts.{name}")
        for thing in re.findall(r"`(\w+)`", row):
            assert hasattr(module, thing), f"{name} has no {thing}"


def test_every_policy_has_its_row_and_its_formula() -> None:
    text = (ROOT / "docs" / "reference" / "policies.md").read_text()
    for kind in POLICIES.values():
        if kind.__module__.startswith("rotting."):
            assert f"`{kind.__name__}(" in text, (
                f"docs/reference/policies.md does not name {kind.__name__}"
            )
            assert len((kind.__doc__ or "").strip()) > 60


def test_every_command_is_documented() -> None:
    text = (ROOT / "docs" / "reference" / "names.md").read_text()
    for command in app.registered_commands:
        assert command.callback is not None
        name = command.name or command.callback.__name__
        assert f"`rotting {name}`" in text
        assert "Example: rotting" in (command.callback.__doc__ or ""), name


def test_every_benchmark_has_its_row() -> None:
    text = (ROOT / "docs" / "maintainers" / "benchmarks.md").read_text()
    helpers = ("record.py", "revisions_worker.py", "serve_process.py")
    for file in sorted((ROOT / "benchmarks").glob("*.py")):
        if file.name not in helpers:
            row = f"| `python benchmarks/{file.name}"
            assert row in text, f"docs/maintainers/benchmarks.md does not name {file.name}"
    for data in re.findall(r"`(benchmarks/results/[^`]+)`", text):
        assert (ROOT / data).exists(), f"docs/maintainers/benchmarks.md names {data}"


def test_links_between_pages_lead_somewhere() -> None:
    for page in PAGES:
        for target, section in re.findall(r"\]\(([^)#]+)(?:#([^)]*))?\)", page.read_text()):
            if "://" in target:
                continue
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
            if section:
                titles = re.findall(r"^#+ (.*)$", (page.parent / target).read_text(), re.MULTILINE)
                anchors = [
                    re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in titles
                ]
                assert section in anchors, f"{page.name} links to {target}#{section}"


def test_readme_earns_what_it_promises(capsys: pytest.CaptureFixture[str]) -> None:
    """The clicks that README's ten lines print are those that the sentence below them names."""
    text = (ROOT / "README.md").read_text()
    code = next(
        block for block in re.findall(r"```python\n(.*?)```", text, re.S) if "clicked" in block
    )
    exec(code, {})
    printed = [float(line.split()[-1]) for line in capsys.readouterr().out.splitlines()]
    said = re.search(r"It prints ([\d,]+) clicks .*? ([\d,]+) for UCB1.*?and ([\d,]+)", text, re.S)
    assert said is not None
    assert printed == [float(number.replace(",", "")) for number in said.groups()]
    assert printed[0] > 1.1 * printed[1] > 1.1 * printed[2]
