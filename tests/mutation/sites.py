"""Where a module can be mutated, and the module with one of its mutations."""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from mutation.mutants import NOT_MUTATED, Fault, Mutant, faults

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src"
Route = tuple[tuple[str, int | None], ...]  # from the module to a node: field and place in it
DEFINITIONS = (ast.FunctionDef, ast.ClassDef, ast.Lambda)


class Site(NamedTuple):
    """A mutant with the way to its node."""

    mutant: Mutant
    place: int  # among those of its module
    route: Route
    fault: Fault

    @property
    def in_function(self) -> bool:
        """Whether the fault is in the body of a function that its name leads to.

        Not so in a default or a constant, nor in one of several functions called `_`.
        """
        inside = False
        tree: Any = ast.parse(file_of(self.mutant.module).read_text())
        for field, place in self.route:
            if isinstance(tree, ast.FunctionDef) and not inside:
                if field != "body" or tree.name == "_":
                    return False
                inside = True
            tree = getattr(tree, field) if place is None else getattr(tree, field)[place]
        return inside


def file_of(module: str) -> Path:
    """The source file of a module of the package."""
    path = SOURCE / Path(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def sites(module: str) -> list[Site]:
    """All mutants of a module, in the order of its source."""
    source = file_of(module).read_text()
    lines = source.splitlines()
    found: list[Site] = []
    seen: Counter[tuple[str, str, str]] = Counter()
    tree = ast.parse(source)
    for node, route, around, once in _nodes(tree, (), (), _set_once(tree)):
        for change, fault in faults(node, once):
            line = getattr(node, "lineno", 0)
            text = lines[line - 1].strip()
            name = ".".join(around)
            seen[name, text, change] += 1
            nth = seen[name, text, change]
            full = change if nth == 1 else f"{change} #{nth}"
            mutant = Mutant(module, name, line, text, full)
            found.append(Site(mutant, len(found), route, fault))
    return found


def mutated(site: Site) -> ast.Module:
    """The module's tree with the fault in it."""
    tree: Any = ast.parse(file_of(site.mutant.module).read_text())
    holder, node = None, tree
    for field, place in site.route:
        holder = node
        node = getattr(node, field) if place is None else getattr(node, field)[place]
    changed = site.fault(copy.deepcopy(node))
    field, place = site.route[-1]
    if place is None:
        setattr(holder, field, changed)
    else:
        getattr(holder, field)[place] = changed
    return ast.fix_missing_locations(tree)  # type: ignore[no-any-return]


def _nodes(
    node: ast.AST, route: Route, around: tuple[str, ...], once: set[str]
) -> Iterator[tuple[ast.AST, Route, tuple[str, ...], set[str]]]:
    """Nodes that may be mutated: no messages, annotations, decorators, docstrings or slices."""
    yield node, route, around, once
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "decorator_list", "bases", "type_comment"):
            continue
        for place, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if not isinstance(child, ast.AST) or _left_alone(child):
                continue
            if field == "args" and place == 0 and _one_element(node, child):
                continue
            name, names = around, once
            if isinstance(child, (ast.FunctionDef, ast.ClassDef)):
                if child.name in NOT_MUTATED:
                    continue
                name = (*around, child.name)
            if isinstance(child, DEFINITIONS):
                names = _set_once(child)
            yield from _nodes(child, (*route, (field, place)), name, names)


def _left_alone(node: ast.AST) -> bool:
    """Messages and what belongs to typing; the names that a module offers."""
    if isinstance(node, (ast.Raise, ast.Assert, ast.JoinedStr, ast.Import, ast.ImportFrom)):
        return True
    if isinstance(node, ast.Assign):
        targets = [target.id for target in node.targets if isinstance(target, ast.Name)]
        return "__all__" in targets
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "cast"


def _one_element(call: ast.AST, first: ast.AST) -> bool:
    """The 1 of np.zeros(1): an array that stands for a number, whose second would not be read."""
    makers = ("zeros", "ones", "full", "empty")
    return (
        isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and call.func.attr in makers
        and isinstance(first, ast.Constant)
        and first.value == 1
    )


def _set_once(scope: ast.AST) -> set[str]:
    """Names that are bound in one place only."""
    counts = Counter(
        name.id
        for name in ast.walk(scope)
        if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)
    )
    if isinstance(scope, ast.FunctionDef):
        counts.update(arg.arg for arg in ast.walk(scope.args) if isinstance(arg, ast.arg))
    return {name for name, count in counts.items() if count == 1}
