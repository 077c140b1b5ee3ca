"""Every piece of code in the documents is accounted for: run, read, or listed with a reason.

`test_docs.py` runs the pages in order; these rules cover the rest.
"""

from __future__ import annotations

import configparser
import json
import re
import shlex
from pathlib import Path

import pytest
import yaml

from helpers import page_commands
from helpers.page_blocks import PAGES, SERVING, Block, blocks, lines_without_fence, name_of
from rotting._serve.config import PREFIX, Config

# Who looks after code in which language.
RUN = {"python", "sh", "console", "toml", "text"}  # test_docs.py, in the order of the page
SERVED = {"bash", "json", "python", "toml"}  # tests/serve/test_serving_docs.py, on its own pages
READ = {"yaml", "ini", "dockerfile", "nginx", "caddyfile"}  # this file, as far as it can be
ELSEWHERE = {
    "docs/paper/citing.md": {"bibtex"},  # tests/test_metadata.py
    "docs/guides/coming-from.md": {"py"},  # code of others: tests/test_coming_from.py
}
SHOWN = {"mermaid"}  # a picture
COMMAND = re.compile(r"`((?:rotting|make|python|pip install) [^`]*)`")  # within a sentence


def unknown_languages(page: Path, text: str) -> list[str]:
    """Fences whose code no test covers."""
    own = SERVED if page in SERVING else ELSEWHERE.get(name_of(page), set())
    known = RUN | READ | SHOWN | own
    return [f"{name_of(page)}:{b.line}" for b in blocks(text) if b.language not in known]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_all_code_has_a_language_that_somebody_looks_after(page: Path) -> None:
    text = page.read_text()
    assert not unknown_languages(page, text)
    assert not lines_without_fence(text), "code in a page needs a fence that says what it is"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_what_sentences_name_is_there(page: Path) -> None:
    """Commands within sentences have options that exist; those with dots or letters are forms."""
    if page.name == "CHANGELOG.md":
        return  # it speaks of other versions, too
    for line in COMMAND.findall(page.read_text()):
        if not re.search(r"\.\.\.|\b[A-Z]+\b(?!=)", line.replace("\n", " ")):
            page_commands.check(shlex.split(line.replace("\n", " ")))


def test_settings_of_the_service_exist() -> None:
    """Variables of the environment, wherever a page names one."""
    known = {f"{PREFIX}{name.upper()}" for name in Config.__struct_fields__}
    for page in PAGES:
        named = set(re.findall(rf"{PREFIX}[A-Z_]+", page.read_text()))
        assert named <= known, f"{name_of(page)}: there is no {named - known}"


def code(language: str) -> list[Block]:
    """All blocks in that language."""
    return [b for page in PAGES for b in blocks(page.read_text()) if b.language == language]


def test_files_for_other_programs_can_be_read() -> None:
    """As far as that can be seen here: their form, and the commands of ours in them."""
    operation = SERVING[1].read_text()
    for block in code("yaml"):
        assert all(yaml.safe_load_all(block.text))
        for metric in set(re.findall(r"rotting_\w+", block.text)):
            assert f"`{metric}" in operation, f"the table of metrics has no {metric}"
    for block in code("ini"):
        unit = configparser.ConfigParser(strict=False)
        unit.read_string(block.text)
        program, *words = shlex.split(unit["Service"]["ExecStart"])
        page_commands.check([Path(program).name, *words])
    for block in code("dockerfile"):
        image = dict(line.split(" ", 1) for line in block.text.splitlines() if line[0].isupper())
        page_commands.check(json.loads(image["ENTRYPOINT"]))
        assert json.loads(image["VOLUME"]) == ["/data"]
        page_commands.check(shlex.split(image["RUN"].rstrip("\\")))
    for block in [*code("nginx"), *code("caddyfile")]:
        assert block.text.count("{") == block.text.count("}") > 0


def test_a_page_with_something_new_is_found_out() -> None:
    page = PAGES[0]
    assert unknown_languages(page, "# A\n\n```rust\nfn main() {}\n```\n") == [f"{name_of(page)}:3"]
    assert unknown_languages(page, "```\nanything\n```\n")
    assert unknown_languages(page, "- so\n\n    ```bash\n    curl x\n    ```\n")
    assert not unknown_languages(page, "```text\na tree\n```\n\n~~~mermaid\ngraph\n~~~\n")
    assert lines_without_fence("So:\n\n    rotting demo\n") == [3]
    assert lines_without_fence("- so:\n\n      rotting demo\n\n        code\n") == [5]
    assert not lines_without_fence("```text\nso\n\n    more\n```\n\nwords\n    that go on\n")
    with pytest.raises(AssertionError, match="does not end"):
        blocks("```python\n1 + 1\n")


@pytest.mark.parametrize(
    "line",
    [
        "rm -rf out",
        "curl -s http://127.0.0.1:8100/health",
        "make no-such-target",
        "pip install 'rotting[no-such-extra]'",
        "python benchmarks/no_such_file.py",
        "python benchmarks/gpu.py --no-such-flag",
        "rotting league --no-such-option",
        "rotting reproduce levine2017 --no-such-option --engine cuda",
        "docker run --rm rotting-serve keys ad --data /data/service.db",
    ],
)
def test_a_command_that_is_not_there_is_found_out(line: str, tmp_path: Path) -> None:
    (words,) = page_commands.commands(line)
    with pytest.raises(AssertionError):
        page_commands.follow(words, tmp_path)


def test_commands_are_told_apart() -> None:
    text = "rotting demo --out 'a b.png'  # it's quick\n\n# nothing\nmake \\\n  test\n"
    assert page_commands.commands(text) == [
        ["rotting", "demo", "--out", "a b.png"],
        ["make", "test"],
    ]
    assert page_commands.is_run(["rotting", "demo"])
    assert not page_commands.is_run(["rotting", "serve", "--data", "a.db"])
    assert page_commands.is_run(["rotting", "serve", "verify", "--data", "a.db"])


def test_a_command_that_fails_or_writes_nothing_is_found_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(AssertionError, match="scenario"):
        page_commands.run(["rotting", "theory", "--scenario", "no-such-scenario"], tmp_path)
    printed = page_commands.run(["rotting", "run", "--example", ">", "a.toml"], tmp_path)
    assert (tmp_path / "a.toml").read_text() == printed
