"""Are the built pages whole? Every link leads somewhere; nothing is fetched from elsewhere.

MkDocs checks the links of Markdown. This looks at what was built: tiles, menus, pages of the API,
styles and scripts as well.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

FETCHES = {"img", "script", "source", "iframe", "video", "audio", "object", "embed"}
KINDS = {"stylesheet", "icon", "preload", "modulepreload", "preconnect", "prefetch"}
# In a style sheet: url(...) and @import of an address.
ELSEWHERE = re.compile(r"(?:url\(|@import )\s*[\"']?((?:https?:)?//[^\"')\s]+)")


class Found(HTMLParser):
    """The anchors of a page, its links, and what a browser fetches for it."""

    def __init__(self) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.fetched: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Note what the tag names or asks for."""
        given = {key: value or "" for key, value in attributes}
        self.anchors |= {given[key] for key in ("id", "name") if key in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag in FETCHES:
            self.fetched += [given[key] for key in ("src", "data", "poster") if key in given]
        if "srcset" in given:
            self.fetched += [each.split()[0] for each in given["srcset"].split(",")]
        if tag == "link" and KINDS & set(given.get("rel", "").split()):
            self.fetched.append(given.get("href", ""))


def faults(site: Path) -> list[str]:
    """What is wrong with the pages of a folder: a line each."""
    pages = {}
    for path in sorted(site.rglob("*.html")):
        pages[path] = Found()
        pages[path].feed(path.read_text(encoding="utf-8"))
    wrong = [fault for path in pages for fault in _page_faults(path, pages, site)]
    for style in sorted(site.rglob("*.css")):
        for target in ELSEWHERE.findall(style.read_text(encoding="utf-8")):
            wrong.append(f"{style.relative_to(site)} fetches from elsewhere: {target}")
    return wrong


def _page_faults(path: Path, pages: dict[Path, Found], site: Path) -> list[str]:
    wrong, name = [], path.relative_to(site).as_posix()
    for target in pages[path].links + pages[path].fetched:
        parts = urlsplit(target)
        if parts.scheme or parts.netloc:
            if target in pages[path].fetched and parts.scheme != "data":
                wrong.append(f"{name} fetches from elsewhere: {target}")
            continue
        if name == "404.html":
            continue  # a server shows it anywhere: its links are from the root
        there = (path.parent / unquote(parts.path)).resolve() if parts.path else path
        there = there / "index.html" if there.is_dir() else there
        if not there.exists():
            wrong.append(f"{name} leads to {target}, which is not there")
        elif there in pages and unquote(parts.fragment) not in {"", *pages[there].anchors}:
            wrong.append(f"{name} leads to {target}, which has no such place")
    return wrong
