"""What MkDocs does besides turning docs/ into pages (`hooks` in mkdocs.yml).

Pages that are made: the gallery's from its scripts, with a notebook each; the command line's from
the commands; those of the files at the root of the repository. Links that lead out of docs/ become
links to these, or plain names of files.
"""

from __future__ import annotations

import posixpath
import re
import sys
from pathlib import Path

import nbformat
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

sys.path.insert(0, str(Path(__file__).parent))

import api
import checking
import commands
import mathematics
import stories

ROOT = Path(__file__).parents[2]
# Files at the root of the repository that have a page of their own.
AT_ROOT = {
    "CHANGELOG.md": "maintainers/changes.md",
    "CONTRIBUTING.md": "maintainers/contributing.md",
    "SECURITY.md": "maintainers/security.md",
    "CODE_OF_CONDUCT.md": "maintainers/conduct.md",
    "README.md": "index.md",
    "docs/gallery": "gallery/index.md",
}
# What the theme would fetch when a page is opened from a folder, and the copy that is with us.
FETCHED, KEPT = "https://unpkg.com/iframe-worker/shim", "making/vendor/iframe-worker/shim.js"
LINK = re.compile(r"(!?)\[((?:[^]\[]|\[[^]]*\])*)\]\((?!\w+:|#)([^)# ]+)(#[^) ]*)?\)")


SOURCE = re.compile(r'(src|srcset|href)="(?!\w+:|#)([^"]+)"')
FENCE = re.compile(r"(^ *```.*?^ *```$)", re.DOTALL | re.MULTILINE)
# Two pictures, for dark and for light, of which a browser takes one.
PICTURE = re.compile(
    r'<picture>\s*<source [^>]*dark[^>]*srcset="([^"]+)">\s*'
    r'<img(.*?)src="([^"]+)"(.*?)>\s*</picture>'
)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the stories into the menu, below the gallery."""
    every = stories.stories()
    for entry in config.nav or []:
        if "Gallery" in entry:
            chapters = {
                section: [{every[name].title: f"gallery/{name}.md"} for name in names]
                for section, names in stories.SECTIONS.items()
            }
            entry["Gallery"] = [
                "gallery/index.md",
                *({key: value} for key, value in chapters.items()),
            ]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are made."""

    def add(place: str, text: str) -> None:
        if (there := files.get_file_from_path(place)) is not None:
            files.remove(there)
        files.append(File.generated(config, place, content=text))

    add("gallery/index.md", stories.index())
    for name, story in stories.stories().items():
        add(f"gallery/{name}.md", story.page())
        add(f"gallery/{name}.ipynb", nbformat.writes(story.notebook()))
    add("reference/commands.md", commands.page())
    for name, chapter in api.CHAPTERS.items():
        add(f"reference/api/{name}.md", api.page(chapter))
    for source, place in AT_ROOT.items():
        if not source.endswith(".md"):
            continue
        text = (ROOT / source).read_text(encoding="utf-8")
        add(place, led(text, "", posixpath.dirname(place)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Lead links out of docs/ to their pages."""
    if page.file.src_uri in AT_ROOT.values():
        return markdown  # its links were led when it was made
    folder = posixpath.dirname(page.file.src_uri)
    return led(markdown, posixpath.join("docs", folder), folder)


def led(text: str, written_in: str, shown_in: str) -> str:
    """The text, its relative links made right for the site.

    `written_in` is the folder of the repository that links start from, `shown_in` that of docs/
    where the page is.

    >>> led("[a](docs/start.md#see), [b](LICENSE), [c](CHANGELOG.md)", "", "maintainers")
    '[a](../start.md#see), b (`LICENSE`), [c](changes.md)'
    """

    def there(target: str) -> str | None:
        place = posixpath.normpath(posixpath.join(written_in, target))
        page = AT_ROOT.get(place)
        if page is None and place.startswith("docs/"):
            page = place.removeprefix("docs/")
        return None if page is None else posixpath.relpath(page, shown_in or ".")

    def new(found: re.Match[str]) -> str:
        picture, words, target, section = found.groups()
        page = there(target)
        if page is None:
            name = posixpath.normpath(posixpath.join(written_in, target))
            return f"`{name}`" if words.strip("`") in (name, target) else f"{words} (`{name}`)"
        return f"{picture}[{words}]({page}{section or ''})"

    def moved(found: re.Match[str]) -> str:
        return f'{found.group(1)}="{there(found.group(2)) or found.group(2)}"'

    pieces = FENCE.split(text)  # words and code in turn
    pieces[::2] = [SOURCE.sub(moved, LINK.sub(new, words)) for words in pieces[::2]]
    return PICTURE.sub(_both, "".join(pieces))


def _both(found: re.Match[str]) -> str:
    """Both pictures, of which the theme shows the one that fits its colours, not the system's."""
    dark, before, light, after = found.groups()
    return (
        f'<img{before}src="{light}#only-light"{after}>\n<img{before}src="{dark}#only-dark"{after}>'
    )


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Mathematics that the browser shows by itself."""
    return mathematics.shown(html)


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Nothing is fetched from elsewhere."""
    return output.replace(
        FETCHED, posixpath.relpath(KEPT, posixpath.dirname(page.file.dest_uri) or ".")
    )


def on_post_template(output_content: str, template_name: str, config: MkDocsConfig) -> str:
    """The same for the page that says that there is no such page."""
    return output_content.replace(FETCHED, KEPT)


def on_post_build(config: MkDocsConfig) -> None:
    """Every link of the built pages leads somewhere, and nothing is fetched from elsewhere."""
    if faults := checking.faults(Path(config.site_dir)):
        raise PluginError("\n".join(["the built pages are not whole:", *faults]))
