"""The documents' code runs, and they name everything public."""

from __future__ import annotations

import doctest
import json
import re
import sys
from pathlib import Path

import pytest

from api import CHAPTERS
from helpers import page_commands
from helpers.page_blocks import PAGES, ROOT, SERVING, SITE, Block, blocks, name_of
from rotting._catalogue.experiment_file import parse_experiment
from rotting._cli import app
from rotting.policies import POLICIES

# Files of which pages say that their commands write them.
WRITTEN = {
    "docs/start.md": ["demo.png"],
    "docs/guides/comparing.md": ["dcto.npz", "out/av/comparison.json", "out/av/regret.png"],
    "docs/paper/index.md": ["small/report.html", "small/figure1.png", "small/table1.csv"],
}
SAME = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


class Reader:
    """A reader who follows a page in an empty folder."""

    def __init__(self, page: Path, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.page, self.folder, self.capsys = page, folder, capsys
        self.scope: dict[str, object] = {"__name__": "page"}
        self.printed = ""

    def does(self, block: Block) -> None:
        """One piece of code: it is run, or written to the file that its first line names."""
        named = re.match(r"# ([\w-]+\.(?:py|toml))\n", block.text)
        if block.language == "toml":
            self.reads_experiment(block.text)
        if named:
            (self.folder / named[1]).write_text(block.text)
        elif block.language == "python":
            self.executes(block.text)
        elif block.language == "sh":
            self.enters(block.text)
        elif block.language == "console":
            self.types(block.text)
        elif block.language == "text" and re.search(r"\bprints\b[^.]*\Z", block.before):
            self.compares(block.text)

    def executes(self, code: str) -> None:
        self.capsys.readouterr()
        exec(compile(code, str(self.page), "exec"), self.scope)
        self.printed = self.capsys.readouterr().out

    def enters(self, text: str) -> None:
        """Commands, a line each."""
        each = page_commands.commands(text)
        self.printed = "".join(page_commands.follow(words, self.folder) for words in each)

    def types(self, session: str) -> None:
        """Commands after a dollar sign, and what they print below them."""
        for part in re.split(r"^\$ ", session, flags=re.MULTILINE)[1:]:
            line, _, output = part.partition("\n")
            self.enters(line)
            if output.strip():
                self.compares(output)

    def compares(self, shown: str) -> None:
        """What a page shows is what was printed; three dots stand for anything."""
        same = doctest.OutputChecker().check_output(shown, self.printed, SAME)
        assert same, f"{self.page.name} shows\n{shown}\nbut it prints\n{self.printed}"

    def reads_experiment(self, text: str) -> None:
        """A file, or only its policies; those of comparing.md are read by tests/catalogue."""
        if self.page.name != "comparing.md":
            scenario = "" if "scenario" in text else 'scenario = "clicks"\n'
            assert parse_experiment(scenario + text, self.page.name).policies


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_code_runs(
    page: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Code and commands of a page run in order, and print what it shows."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("COLUMNS", "80")
    before = set(sys.modules)
    policies_before = dict(POLICIES)
    reader = Reader(page, tmp_path, capsys)
    for block in blocks(page.read_text()):
        if page not in SERVING or block.language == "sh":  # the rest: tests/serve
            reader.does(block)
    for name in WRITTEN.get(name_of(page), ()):
        assert (tmp_path / name).is_file(), f"{page.name} says that {name} is written"
        assert Path(name).name in page.read_text()
    for key in set(POLICIES) - set(policies_before):
        del POLICIES[key]
    for module in set(sys.modules) - before:
        if str(getattr(sys.modules[module], "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[module]


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


# A page's first words: what a reader can do or knows after it.
OPENING = re.compile(r"\b(?:(?:After|On) this page|Here|In \w+ minutes) you (?:can|know|will)\b")


@pytest.mark.parametrize("page", SITE, ids=name_of)
def test_a_page_begins_with_what_it_is_good_for(page: Path) -> None:
    title, first, *_ = [*page.read_text().split("\n\n", 2), ""]
    assert re.fullmatch(r"# .+", title), f"{page.name} must begin with its title"
    assert OPENING.search(" ".join(first.split())), f"{page.name} begins: {first}"


def test_links_between_pages_lead_somewhere() -> None:
    """In the files as they are; tests/test_site.py sees to the built pages."""
    reference = ROOT / "docs" / "reference"  # where these are made, when the site is
    made = {reference / "commands.md", *(reference / f"api/{name}.md" for name in CHAPTERS)}
    for page in PAGES:
        for target, section in re.findall(r"\]\(([^)#]+)(?:#([^)]*))?\)", page.read_text()):
            if "://" in target or page.parent / target in made:
                continue
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
            if section:
                titles = re.findall(r"^#+ (.*)$", (page.parent / target).read_text(), re.MULTILINE)
                anchors = [
                    re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in titles
                ]
                assert section in anchors, f"{page.name} links to {target}#{section}"


def test_the_cost_of_a_decision_is_that_on_record() -> None:
    """The table of docs/maintainers/performance.md, against benchmarks/results/decisions.json."""
    page = (ROOT / "docs" / "maintainers" / "performance.md").read_text()
    text = page.partition("## First use")[0]
    record = json.loads((ROOT / "benchmarks" / "results" / "decisions.json").read_text())["rows"]
    for policy in dict.fromkeys(row["policy"] for row in record):
        (line,) = re.findall(rf"^\| {policy} \|(.*)\|$", text, re.MULTILINE)
        said = [float(cell) for cell in line.split("|") if cell.strip()]
        assert said == [row["ratio"] for row in record if row["policy"] == policy], policy
