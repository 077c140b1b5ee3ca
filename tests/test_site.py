"""The site can be built from committed files alone, and its parts work."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import api
import checking
import stories
from helpers.serve.browsers import browser, watched

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site as `make site` builds it, warnings being errors."""
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", str(folder)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert not (done.stdout + done.stderr).strip()
    return folder


def test_the_site_is_built_and_whole(site: Path) -> None:
    assert checking.faults(site) == []  # the build itself looks, too
    for place in ("index", "start", "guides/playing", "gallery/two_arms", "reference/commands"):
        assert (site / f"{place}.html").stat().st_size > 5_000


def test_every_public_name_has_its_entry(site: Path) -> None:
    for name in api.CHAPTERS:
        page = (site / "reference" / "api" / f"{name}.html").read_text()
        for module in api.CHAPTERS[name].modules:
            for thing in api.exported(__import__(module, fromlist=["_"])):
                assert re.search(rf'id="rotting\.[\w.]*{thing}"', page), f"{module}.{thing}"


def test_examples_and_columns_of_docstrings_are_shown_as_such(site: Path) -> None:
    page = (site / "reference" / "api" / "rotting.html").read_text()
    assert "<strong>checkpoints</strong>: The number of rounds" in page
    assert '<span class="gp">&gt;&gt;&gt; </span>' in page
    assert "<blockquote>" not in page


def test_every_command_is_on_its_page(site: Path) -> None:
    from rotting._cli import app

    page = (site / "reference" / "commands.html").read_text()
    for command in app.registered_commands:
        assert command.callback is not None
        assert f'id="rotting-{command.name or command.callback.__name__}"' in page
    assert 'id="rotting-serve-backup"' in page


def test_mathematics_is_shown_without_a_script(site: Path) -> None:
    page = (site / "paper" / "theory.html").read_text()
    assert "<math" in page
    assert "arithmatex" not in page


def test_search_and_copying_need_no_server(site: Path) -> None:
    page = (site / "guides" / "playing.html").read_text()
    assert (site / "search" / "search_index.js").exists()
    assert "content.code.copy" in page
    assert "making/vendor/iframe-worker/shim.js" in page


def test_every_story_has_a_tile_a_page_and_a_notebook(site: Path) -> None:
    tiles = (site / "gallery" / "index.html").read_text()
    assert len(stories.stories()) >= 13
    for name, story in stories.stories().items():
        assert f'class="tile" href="{name}.html"' in tiles
        assert (site / "gallery" / f"{name}.ipynb").exists()
        assert len(story.path.read_text().splitlines()) < stories.MOST_LINES, name


@pytest.mark.parametrize(
    ("page", "said"),
    [
        ('<a href="absent.html">a</a>', "which is not there"),
        ('<a href="#absent">a</a>', "no such place"),
        ('<img src="https://a.example/b.png">', "fetches from elsewhere"),
        ('<link rel="stylesheet" href="//a.example/b.css">', "fetches from elsewhere"),
        ('<img srcset="absent.png 2x">', "which is not there"),
    ],
)
def test_faults_of_pages_are_noticed(tmp_path: Path, page: str, said: str) -> None:
    (tmp_path / "index.html").write_text(page)
    (fault,) = checking.faults(tmp_path)
    assert said in fault


def test_what_a_style_fetches_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "a.css").write_text('@import "//a.example/b.css"; p { background: url(data:x) }')
    assert checking.faults(tmp_path) == ["a.css fetches from elsewhere: //a.example/b.css"]


def test_a_whole_page_has_no_faults(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text(
        '<h1 id="a b">x</h1><a href="#a%20b">a</a><a href="https://a.example/">b</a>'
    )
    assert checking.faults(tmp_path) == []


# ------------------------------------------------------------------------------ in a real browser


@pytest.fixture(scope="module")
def chrome() -> Iterator[Browser]:
    with browser() as found:
        yield found


def test_every_page_fits_a_phone_and_asks_nobody(site: Path, chrome: Browser) -> None:
    with watched(chrome, width=400, scheme="dark") as seen:
        for path in sorted(site.rglob("*.html")):
            if path.name == "404.html":
                continue
            seen.page.goto(path.as_uri())
            wide = seen.page.evaluate("document.documentElement.scrollWidth")
            assert wide <= 400, f"{path.relative_to(site)} is {wide} wide"
        assert [url for url in seen.asked if not url.startswith(("file:", "data:", "blob:"))] == []
        assert seen.said == []


def test_search_finds_a_page_without_a_server(site: Path, chrome: Browser) -> None:
    with watched(chrome) as seen:
        seen.page.goto((site / "start.html").as_uri())
        seen.page.fill("input.md-search__input", "frequency caps")
        found = seen.page.locator("a.md-search-result__link[href*='guides/audiences.html']")
        found.first.wait_for(timeout=20_000)
        assert found.first.is_visible()


def test_colours_follow_the_system_and_can_be_switched(site: Path, chrome: Browser) -> None:
    for scheme, ground in (("light", "default"), ("dark", "slate")):
        with watched(chrome, scheme=scheme) as seen:
            seen.page.goto((site / "start.html").as_uri())
            shown = "document.body.getAttribute('data-md-color-scheme')"
            seen.page.wait_for_function(f"{shown} === '{ground}'")
            for _ in range(2 if scheme == "light" else 1):  # system, light, dark, system, ...
                seen.page.locator("label[for^='__palette_']:visible").click()
            other = "slate" if scheme == "light" else "default"
            seen.page.wait_for_function(f"{shown} === '{other}'")
            assert seen.page.evaluate(shown) == other
