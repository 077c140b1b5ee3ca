"""The mutation command: its faults are faults, and its explanations are of mutants that exist."""

from __future__ import annotations

import ast

import mutate
from mutation import mutants, sites


def changes(source: str) -> list[str]:
    """What can be changed in a piece of code."""
    tree = ast.parse(source)
    once = sites._set_once(tree)
    return [
        change
        for node, _, _, _ in sites._nodes(tree, (), (), once)
        for change, _ in mutants.faults(node, once)
    ]


def test_the_faults() -> None:
    assert changes("a < b") == ["< to <="]
    assert changes("x = a and not b") == ["and to or", "without not"]
    assert changes("y[0] += 2 * z") == [
        "+ to -",
        "assignment removed",
        "0 to 1",
        "* to /",
        "2 to 3",
    ]
    assert changes("if a < b:\n f(min(c, -d))") == [
        *("condition negated", "< to <=", "call removed", "min to max", "without -")
    ]
    assert changes("for i in range(n, m):\n pass") == [
        *("range ends one earlier", "range starts one later")
    ]
    assert changes("def f():\n return True") == ["return nothing", "True to False"]


def test_what_is_no_fault() -> None:
    """Messages, annotations, docstrings, the names a module offers, a value's only name."""
    for source in (
        '"""Doc 1."""',
        "def f(a: Literal[1]) -> Annotated[int, 3]: pass",
        'raise ValueError(f"{1 + 2}")',
        "__all__ = [1]",
        "x = a",
        "def examples():\n return 1",
    ):
        assert changes(source) == [], source


def test_every_mutant_differs_from_its_module() -> None:
    module = "rotting.policies.parts.window"
    original = ast.dump(ast.parse(sites.file_of(module).read_text()))
    found = sites.sites(module)
    assert len(found) > 80
    assert len({site.mutant.key for site in found}) == len(found)
    assert len({ast.dump(sites.mutated(site)) for site in found} | {original}) == len(found) + 1


def test_explanations_are_of_mutants_that_exist() -> None:
    known = mutate.explained()
    there = {site.mutant.key for name in {key[0] for key in known} for site in sites.sites(name)}
    assert not set(known) - there
    assert all(len(why) > 20 for why in known.values())
