"""The floors of the package, and checks of its import graph: every finding is a line.

The import graph is read from the sources. An import inside a function counts like any other; one
under `if TYPE_CHECKING:` does not, for it is never executed. Python runs a package's `__init__`
before its modules; that does not count as an import of theirs.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

# Modules at the root of the package, and nothing else may lie there.
GROUND = {
    "_cache",
    "_checks",
    "_deprecated",
    "_display",
    "_log_columns",
    "_plain",
    "_printable",
    "_progress",
    "_provenance",
    "_numbers",
    "_signals",
    "_table",
    "parameters",
    "stats",
}

# These may import anything, and nothing below may import them: `rotting` itself, `__main__`, and
# public modules that only collect names from private packages.
ROOF = {"", "__main__", "client", "plots", "testing"}

# From the ground up.
FLOORS = (
    "kernel",
    "ground",
    "models",
    "bandits",
    "theory",
    "policies.parts",
    "policies",
    "_live",
    "_engines",
    "_online",
    "_experiments",
    "_show",
    "logs",
    "papers",
    "league",
    "_catalogue",
    "_serve",
    "_cli",
    "roof",
)

# Where an object in hand leads to a higher floor: module, function, imported module.
ENTRANCES = {
    ("rotting.policies._base", "online", "rotting._online.player"),
    ("rotting.policies._base", "audience", "rotting._online.audience"),
}

BESIDE_POLICIES = {"__init__", "_base", "_recommend"}  # the rest of policies/ defines policies

TYPE_CHECKING = ("TYPE_CHECKING", "typing.TYPE_CHECKING")


class Import(NamedTuple):
    """One module imports another."""

    module: str
    line: int
    target: str
    function: str  # the innermost one around the import, "" at the top of a module

    def __str__(self) -> str:
        late = f" (in {self.function})" if self.function else ""
        return f"{self.module}:{self.line} imports {self.target}{late}"


def modules_of(root: Path) -> dict[str, Path]:
    """The modules of a package, by full name."""
    found = {}
    for file in sorted(root.rglob("*.py")):
        parts = file.relative_to(root.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return found


def named_in(node: ast.AST, package: str, function: str = "") -> Iterator[tuple[int, str, str]]:
    """Line, full name and function of everything that is imported below this node."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield node.lineno, alias.name, function
    elif isinstance(node, ast.ImportFrom):
        above = package.split(".")[: package.count(".") + 2 - node.level] if node.level else []
        base = ".".join([*above, *([node.module] if node.module else [])])
        for alias in node.names:
            yield node.lineno, f"{base}.{alias.name}", function
    else:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            function = node.name
        inside: Iterable[ast.AST] = ast.iter_child_nodes(node)
        if isinstance(node, ast.If) and ast.unparse(node.test) in TYPE_CHECKING:
            inside = node.orelse
        for child in inside:
            yield from named_in(child, package, function)


def imports_of(root: Path) -> list[Import]:
    """Every import of one module of the package by another."""
    modules = modules_of(root)
    found = []
    for module, file in modules.items():
        package = module if file.name == "__init__.py" else module.rpartition(".")[0]
        for line, name, function in named_in(ast.parse(file.read_text()), package):
            target = name
            while target and target not in modules:  # a function or class: its module
                target = target.rpartition(".")[0]
            if target and target != module:
                found.append(Import(module, line, target, function))
    return list(dict.fromkeys(found))  # two names of one module are one import


def floor_of(module: str) -> str | None:
    """The floor that a module lies on; None if its folder has none."""
    inside = module.partition(".")[2]
    if inside in ROOF:
        return "roof"
    own = [floor for floor in FLOORS if f"{inside}.".startswith(f"{floor}.")]
    if own:
        return max(own, key=len)
    return "ground" if "." not in inside else None


def is_entrance(edge: Import, entrances: set[tuple[str, str, str]]) -> bool:
    """Whether this import is one of the allowed ways up."""
    return (edge.module, edge.function, edge.target) in entrances


def back_edges(root: Path, entrances: set[tuple[str, str, str]]) -> list[str]:
    """Imports from a higher floor, and entrances that no longer exist."""
    edges = imports_of(root)
    found = []
    for edge in edges:
        here, there = floor_of(edge.module), floor_of(edge.target)
        if here is None or there is None or is_entrance(edge, entrances):
            continue
        if FLOORS.index(there) > FLOORS.index(here):
            found.append(f"{edge}: from {here} up to {there}")
    used = {(edge.module, edge.function, edge.target) for edge in edges}
    unused = sorted(entrances - used)
    return found + [f"entrance not used: {' '.join(entrance)}" for entrance in unused]


def cycles(root: Path, entrances: set[tuple[str, str, str]]) -> list[str]:
    """Circles of imports: enough of them that without these there are none."""
    lines: dict[str, dict[str, Import]] = {module: {} for module in modules_of(root)}
    for edge in imports_of(root):
        if not is_entrance(edge, entrances):
            lines[edge.module].setdefault(edge.target, edge)
    found = []
    while True:
        try:
            TopologicalSorter(lines).prepare()
        except CycleError as error:
            ring = error.args[1][::-1]  # each imports the next, and the last is the first again
            steps = [lines[here][there] for here, there in pairwise(ring)]
            found.append("a circle: " + "; ".join(map(str, steps)))
            del lines[steps[-1].module][steps[-1].target]
        else:
            return found


def loose(root: Path) -> list[str]:
    """Modules at the root that are not the ground floor, and folders that are on no floor."""
    found = [
        f"{file.name} lies loose at the root of the package"
        for file in sorted(root.glob("*.py"))
        if file.stem not in GROUND | ROOF | {"__init__"}
    ]
    known = {floor.partition(".")[0] for floor in FLOORS} - {"ground", "roof"}
    folders = sorted({path.relative_to(root).parts[0] for path in root.glob("*/**/*.py")})
    return found + [f"{folder}/ is on no floor" for folder in folders if folder not in known]


def strangers(root: Path) -> list[str]:
    """What lies in policies/ and defines no policy."""
    found = []
    for file in sorted((root / "policies").rglob("*.py")):
        folder = file.relative_to(root / "policies").parts[0]
        if folder == "parts" or (folder == file.name and file.stem in BESIDE_POLICIES):
            continue
        classes = [
            node for node in ast.parse(file.read_text()).body if isinstance(node, ast.ClassDef)
        ]
        bases = {ast.unparse(base).rpartition(".")[2] for kind in classes for base in kind.bases}
        if folder != file.name or "Policy" not in bases:
            found.append(f"policies/{file.relative_to(root / 'policies')} is no policy")
    return found
