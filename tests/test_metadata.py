"""The package's metadata are correct."""

from __future__ import annotations

import re
import runpy
import tomllib
from itertools import chain
from pathlib import Path
from typing import Any

import yaml
from packaging.requirements import Requirement
from packaging.version import Version

import rotting
from rotting.policies._base import POLICIES

ROOT = Path(__file__).parents[1]
NOT_LOCKED = {"numba-cuda", "ray"}  # one needs a GPU, the other is large: tested by hand


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
    assert cited["version"] == rotting.__version__


def test_bibtex_says_what_the_citation_says() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    page = (ROOT / "docs" / "paper" / "citing.md").read_text()
    entries = re.findall(r"```bibtex\n@(\w+)\{\w+,\n(.*?)\n\}\n```", page, re.DOTALL)
    said = [dict(re.findall(r"^  (\w+) += \{(.*)\},?$", body, re.MULTILINE)) for _, body in entries]
    software, paper = said
    assert software["author"] == f"{{{cited['authors'][0]['name']}}}"
    assert software["title"] == cited["title"]
    assert software["version"] == cited["version"]
    assert software["date"] == str(cited["date-released"])
    assert software["license"] == cited["license"]
    (reference,) = cited["references"]
    authors = [f"{who['family-names']}, {who['given-names']}" for who in reference["authors"]]
    assert paper["author"] == " and ".join(authors)
    assert (paper["title"], paper["year"]) == (reference["title"], str(reference["year"]))
    assert paper["booktitle"] == reference["collection-title"]


def test_the_paper_is_cited() -> None:
    (paper,) = yaml.safe_load((ROOT / "CITATION.cff").read_text())["references"]
    assert (paper["title"], paper["year"]) == ("Rotting Bandits", 2017)
    assert [author["family-names"] for author in paper["authors"]] == [
        "Levine",
        "Crammer",
        "Mannor",
    ]


def test_every_policy_says_whose_it_is() -> None:
    """In the table of the page; where it is not the reproduced paper, in its docstring too."""
    page = (ROOT / "docs" / "paper" / "citing.md").read_text()
    rows = [line.split("|")[1:3] for line in page.splitlines() if line.startswith("| `")]
    whose = {name: paper.strip() for names, paper in rows for name in re.findall(r"`(\w+)`", names)}
    ours = {
        kind.__name__: kind for kind in POLICIES.values() if kind.__module__.startswith("rotting.")
    }
    assert set(whose) == set(ours)
    for name, paper in whose.items():
        if paper.startswith(("this software", "Levine")):
            continue
        author, year = re.split(r"[,' ]", paper)[0], re.findall(r"\((\d{4})\)", paper)[0]
        ending = " ".join(paper.partition(f" ({year})")[0].split()[-3:])  # of the title
        text = " ".join((ours[name].__doc__ or "").split())
        assert all(words in text for words in (author, ending, f"({year})")), name


def test_the_oldest_python_named_is_the_oldest_allowed() -> None:
    ours = project()
    named = [line.rpartition(" :: ")[2] for line in ours["classifiers"] if ":: 3." in line]
    assert ours["requires-python"] == f">={named[0]}"


def requirements() -> list[Requirement]:
    """What the package and its extras need."""
    ours = project()
    extras = ours["optional-dependencies"].values()
    found = [Requirement(text) for text in chain(ours["dependencies"], *extras)]
    return [needed for needed in found if needed.name != ours["name"]]  # `all` is made of others


def test_all_is_what_any_machine_can_use() -> None:
    extras = project()["optional-dependencies"]
    assert set(extras) == {"logs", "serve", "cuda", "dask", "ray", "frames", "all"}
    (everything,) = (Requirement(text) for text in extras["all"])
    assert everything.name == project()["name"]
    assert everything.extras == set(extras) - {"all", "cuda", "ray"}


def test_every_dependency_has_two_ends() -> None:
    found = requirements()
    assert len(found) > 8
    for needed in found:
        signs = sorted(end.operator for end in needed.specifier)
        assert signs == ["<", ">="], f"{needed} must say from where to where"


def test_the_lock_lies_within_the_ends() -> None:
    """What is tested is what is allowed, and the newest that is allowed is tested.

    The upper end is the major version after the locked one, or the minor one below 1.0.
    """
    lines = (ROOT / "requirements-dev.lock").read_text().splitlines()
    locked = [Requirement(line) for line in lines if line and not line.startswith("#")]
    tested = {needed.name for needed in locked}
    assert {"numpy", "numba", "scipy", "matplotlib", "typer", "rich", "pandas"} <= tested
    for needed in requirements():
        versions = [
            Version(str(pin.specifier).removeprefix("=="))
            for pin in locked
            if pin.name == needed.name
        ]
        if not versions:
            assert needed.name in NOT_LOCKED, f"{needed.name} is in no environment"
            continue
        assert all(needed.specifier.contains(version) for version in versions), needed
        (end,) = (Version(end.version) for end in needed.specifier if end.operator == "<")
        newest = max(versions)
        after = (newest.major + 1,) if newest.major else (0, newest.minor + 1)
        assert end.release == after, f"{needed} must end after the tested {newest}"


def test_development_needs_what_users_need() -> None:
    """The lower end is tested with the extras' lower ends."""
    group = tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]["dev"]
    lowest = {Requirement(text).name: text.partition(">=")[2].split(",")[0] for text in group}
    for needed in requirements():
        if needed.name in lowest:
            (least,) = (end.version for end in needed.specifier if end.operator == ">=")
            assert lowest[needed.name] == least


README = "# A [page](docs/a.md#part) [of](https://host/b) [links](#here)\n![Picture](docs/x.png)\n"


def test_links_of_the_readme_work_on_a_package_index() -> None:
    page = runpy.run_path(str(ROOT / "setup.py"), run_name="setup")["index_page"]
    assert page(README, "https://host/us/rotting/", "1.2") == (
        "# A [page](https://host/us/rotting/blob/v1.2/docs/a.md#part) [of](https://host/b) "
        "[links](#here)\n![Picture](https://host/us/rotting/raw/v1.2/docs/x.png)\n"
    )
    assert page(README, "", "1.2") == (
        "# A page [of](https://host/b) [links](#here)\n*Picture (docs/x.png)*\n"
    )
    ours = (ROOT / "README.md").read_text()
    for repository in ("", "https://host/us/rotting"):
        shown = page(ours, repository, "1.2")
        assert not re.search(r"\]\((?!https?://|#)", shown)
        assert shown.count("```") == ours.count("```")
        assert ("![" in shown) == bool(repository)
        assert "<picture" not in shown
