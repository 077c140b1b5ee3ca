"""The stories of the gallery: scripts of docs/gallery, as pages and as notebooks.

A script is written in cells ("# %%"). Its first cell is text: a title, a question, and a paragraph
that begins with "What to see". It prints what it finds and saves a picture under its own name.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import jupytext
import nbformat

GALLERY = Path(__file__).parents[1] / "gallery"
IMAGES = GALLERY / "images"
MOST_LINES = 60  # a story fits on a screen

SECTIONS = {
    "What goes wrong, and what helps": [
        "why_ucb1_fails",
        "two_arms",
        "cto_detects",
        "wrong_family",
        "your_own_policy",
    ],
    "Decide in production": [
        "caps_or_curves",
        "learnt_curves",
        "log_diagnosed",
        "late_clicks",
        "come_and_go",
    ],
    "Study": [
        "regret_and_bounds",
        "tuning_alpha",
        "candy_cane",
        "gpu_million",
    ],
}


@dataclass(frozen=True)
class Story:
    """A script of the gallery."""

    path: Path

    @property
    def name(self) -> str:
        """The name of its files, without a suffix."""
        return self.path.stem

    @cached_property
    def cells(self) -> list[Any]:
        """Its cells: those of a notebook, each with a `cell_type` and a `source`."""
        return list(jupytext.read(self.path, fmt="py:percent").cells)

    @property
    def title(self) -> str:
        """The heading of its first cell."""
        first = self.cells[0].source
        if self.cells[0].cell_type != "markdown" or not first.startswith("# "):
            raise ValueError(f"{self.path.name} must begin with a cell of text and a title")
        return str(first.partition("\n")[0][2:])

    @property
    def pictures(self) -> list[str]:
        """The files that it saves, the tile's first."""
        found = re.findall(r'"(\w+\.(?:png|gif))"', self.path.read_text(encoding="utf-8"))
        return sorted(found, key=lambda name: name.endswith(".gif"))

    @property
    def needs(self) -> str:
        """What must be installed to play it."""
        return (
            "rotting[logs]" if "import logs" in self.path.read_text(encoding="utf-8") else "rotting"
        )

    def notebook(self) -> Any:
        """The script as a notebook, which shows its pictures at the end."""
        made = jupytext.read(self.path, fmt="py:percent")
        shown = "\n".join(f'display(Image("{name}"))' for name in self.pictures)
        made.cells.append(
            nbformat.v4.new_code_cell(f"from IPython.display import Image\n\n{shown}")
        )
        for place, cell in enumerate(made.cells):
            cell["id"] = f"cell-{place}"  # not at random: the same script makes the same file
        made.metadata = {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        }
        return made

    def page(self) -> str:
        """The page: its words, its picture, what it printed, and the code."""
        title, (lead, see) = self.title, self._words()
        parts = [f"# {title}", lead]
        parts += [f"![{self.title}](images/{name}){{ .story }}" for name in self.pictures]
        parts += [see, "It printed:", f"```text\n{self.printed.rstrip()}\n```"]
        parts += [
            f"[Open it as a notebook]({self.name}.ipynb){{ .md-button download }}",
            f"It needs `pip install '{self.needs}'`. In a clone, "
            f"`python docs/gallery/{self.name}.py` does the same, and `make gallery` made the "
            f"picture and the text above.",
            "## The code",
        ]
        for cell in self.cells[1:]:
            text = cell.source.strip()
            parts.append(text if cell.cell_type == "markdown" else f"```python\n{text}\n```")
        parts.append("[All stories](index.md)")
        return "\n\n".join(parts) + "\n"

    def _words(self) -> tuple[str, str]:
        """What stands before "What to see", and from there on."""
        body = self.cells[0].source.partition("\n")[2].strip()
        lead, mark, see = body.partition("**What to see.**")
        if not mark:
            raise ValueError(f"{self.path.name} must say what to see, in its first cell")
        return lead.strip(), mark + see

    @property
    def question(self) -> str:
        """The first paragraph, as plain text, for the tile."""
        first = self._words()[0].partition("\n\n")[0]
        return re.sub(r"[`*]", "", " ".join(first.split()))

    @property
    def printed(self) -> str:
        """What it printed when its pictures were made."""
        return (IMAGES / f"{self.name}.txt").read_text(encoding="utf-8")


def stories() -> dict[str, Story]:
    """All stories by name, in the order of the gallery."""
    ordered = [name for names in SECTIONS.values() for name in names]
    found = {path.stem for path in GALLERY.glob("*.py")}
    if odd := found.symmetric_difference(ordered):
        raise ValueError(f"docs/gallery and SECTIONS must agree, but not on {sorted(odd)}")
    return {name: Story(GALLERY / f"{name}.py") for name in ordered}


def index() -> str:
    """The gallery's first page: tiles."""
    every = stories()
    parts = [
        "# Gallery",
        f"Here you can see what `rotting` does before you read how. {len(every)} small stories: "
        f"each is a picture, what to see in it, and a script of under {MOST_LINES} lines that you "
        f"can open as a notebook.",
    ]
    for section, names in SECTIONS.items():
        parts.append(f"## {section}")
        tiles = [_tile(every[name]) for name in names]
        parts.append('<div class="tiles">\n' + "\n".join(tiles) + "\n</div>")
    return "\n\n".join(parts) + "\n"


def _tile(story: Story) -> str:
    title, picture = html.escape(story.title), story.pictures[0]
    return (
        f'<a class="tile" href="{story.name}.html"><img src="images/{picture}" alt="">'
        f"<strong>{title}</strong><span>{html.escape(story.question)}</span></a>"
    )
