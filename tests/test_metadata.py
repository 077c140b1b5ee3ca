"""What the package says about itself is true."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import yaml

import rotting

ROOT = Path(__file__).parents[1]


def project() -> dict[str, Any]:
    found: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return found


def test_the_citation_can_be_read_and_agrees_with_the_project() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    ours = project()
    assert cited["cff-version"] == "1.2.0"
    assert cited["message"]
    assert cited["title"] == ours["name"]
    assert cited["abstract"] == ours["description"]
    assert cited["authors"] == ours["authors"]
    assert cited["license"] == ours["license"]
    assert cited["keywords"] == ours["keywords"]
    assert cited.get("version", rotting.__version__) == rotting.__version__


def test_the_paper_is_cited() -> None:
    (paper,) = yaml.safe_load((ROOT / "CITATION.cff").read_text())["references"]
    assert (paper["title"], paper["year"]) == ("Rotting Bandits", 2017)
    assert [author["family-names"] for author in paper["authors"]] == [
        "Levine",
        "Crammer",
        "Mannor",
    ]


def test_the_oldest_python_named_is_the_oldest_allowed() -> None:
    ours = project()
    named = [line.rpartition(" :: ")[2] for line in ours["classifiers"] if ":: 3." in line]
    assert ours["requires-python"] == f">={named[0]}"
