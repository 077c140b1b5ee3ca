"""Public names: their page, `__all__`, docstrings, and imports in the documents."""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path

import pytest

import names

ROOT = Path(__file__).parents[1]
PUBLIC = names.public_modules()


def test_the_page_is_made_from_the_modules() -> None:
    """`python docs/making/names.py` writes it."""
    assert names.PAGE.read_text(encoding="utf-8") == names.page()


@pytest.mark.parametrize("module", PUBLIC)
def test_a_public_module_says_what_is_public(module: str) -> None:
    """Every module without an underscore has `__all__`; each name is there and is explained."""
    found = importlib.import_module(module)
    assert (found.__doc__ or "").strip()
    public = getattr(found, "__all__", None)
    if public is None:  # a package of modules that are public
        values = {key: value for key, value in vars(found).items() if not key.startswith("_")}
        values.pop("annotations", None)  # of `from __future__`
        assert all(inspect.ismodule(value) for value in values.values()), "no __all__"
        return
    assert len(set(public)) == len(public)
    for key in public:
        value = getattr(found, key)
        assert not key.startswith("_")
        if inspect.isclass(value) or inspect.isroutine(value):
            assert (value.__doc__ or "").strip(), f"{module}.{key} has no docstring"


def test_documents_import_what_is_public() -> None:
    docs = ROOT / "docs"
    pages = [*ROOT.glob("*.md"), *docs.rglob("*.md"), *(docs / "gallery").glob("*.py")]
    assert len(pages) > 40
    private = re.compile(r"^\s*(?:from|import) rotting.*\b_[a-z]\w*", re.MULTILINE)
    used = {page.name: private.findall(page.read_text(encoding="utf-8")) for page in pages}
    assert not {page: lines for page, lines in used.items() if lines}
