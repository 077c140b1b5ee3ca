"""The page of a package index, made from README.md when the package is built.

A relative link leads nowhere there, and a relative picture is not shown. With the address of the
repository (`Repository` in [project.urls], pyproject.toml) they become links into the release's
tag; without one their texts stay and the links go. Everything else is in pyproject.toml.
"""

from __future__ import annotations

import re
import runpy
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent
LINK = re.compile(r"(!?)\[([^]]*)\]\((?!https?://|#|mailto:)([^) ]+)\)")
# Two pictures, for dark and for light: a package index shows the light one.
PICTURE = re.compile(
    r'<picture>.*?<img[^>]* src="([^"]+)" alt="([^"]+)"[^>]*>\s*</picture>', re.DOTALL
)


def index_page(readme: str, repository: str, version: str) -> str:
    """README as a package index shows it; `repository` is its address, or empty."""
    base = repository.rstrip("/")

    def absolute(found: re.Match[str]) -> str:
        picture, text, path = found.groups()
        if base:
            kind = "raw" if picture else "blob"
            return f"{picture}[{text}]({base}/{kind}/v{version}/{path})"
        return f"*{text} ({path})*" if picture else text

    return LINK.sub(absolute, PICTURE.sub(r"![\2](\1)", readme))


if __name__ == "__main__":
    from setuptools import setup

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    repository = project.get("urls", {}).get("Repository", "")
    version = runpy.run_path(str(ROOT / "src" / "rotting" / "_provenance.py"))["VERSION"]
    setup(
        long_description=index_page(
            (ROOT / "README.md").read_text(encoding="utf-8"), repository, version
        ),
        long_description_content_type="text/markdown",
    )
