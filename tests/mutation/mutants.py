"""The mutants of a module: its syntax tree with one small fault in it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
CALLS = {
    "min": "max",
    "max": "min",
    "minimum": "maximum",
    "maximum": "minimum",
    "argmin": "argmax",
    "argmax": "argmin",
    "floor": "ceil",
    "ceil": "floor",
    "any": "all",
    "all": "any",
}
# settings that the tests play a policy with: a change there is another test, not a fault
NOT_MUTATED = ("examples",)


class Mutant(NamedTuple):
    """One fault: where it is, and what it does."""

    module: str
    function: str  # dotted name of the function or class around it, "" at the top of the module
    line: int
    text: str  # the line of source
    change: str  # as "< to <="; the second such change of the same line ends in "#2"

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What it is called in the list of explained survivors: line numbers move, lines stay."""
        return self.module, self.function, self.text, self.change


Fault = Callable[[Any], ast.AST]


def faults(node: ast.AST, names_set_once: set[str]) -> Iterator[tuple[str, Fault]]:
    """The possible faults of a node: a name, and a function from the node to its replacement.

    The function gets a copy and may change it.
    """
    if isinstance(node, ast.Compare):
        for place, op in enumerate(node.ops):
            other = COMPARISONS[type(op)]
            yield f"{_sign(op)} to {_sign(other())}", _set_item("ops", place, other())
    elif isinstance(node, ast.BoolOp):
        swapped: ast.boolop = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield "and to or" if isinstance(node.op, ast.And) else "or to and", _set("op", swapped)
    elif isinstance(node, (ast.BinOp, ast.AugAssign)) and type(node.op) in OPERATORS:
        changed = OPERATORS[type(node.op)]()
        yield f"{_sign(node.op)} to {_sign(changed)}", _set("op", changed)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.Not)):
        yield f"without {_sign(node.op).strip()}", lambda n: n.operand
    elif isinstance(node, ast.Constant):
        if isinstance(node.value, bool):
            yield f"{node.value} to {not node.value}", _set("value", not node.value)
        elif isinstance(node.value, (int, float)) and node.value + 1 != node.value:
            yield f"{node.value} to {node.value + 1}", _set("value", node.value + 1)
    elif isinstance(node, ast.Call):
        yield from _call_faults(node)
    elif isinstance(node, ast.Return) and not _is_none(node.value):
        yield "return nothing", _set("value", ast.Constant(None))
    if isinstance(node, (ast.If, ast.IfExp)) and not _same_negated(node.test):
        yield "condition negated", _negate
    if isinstance(node, ast.AugAssign) or (
        isinstance(node, ast.Assign) and not _first_binding(node, names_set_once)
    ):
        yield "assignment removed", lambda n: ast.copy_location(ast.Pass(), n)
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield "call removed", lambda n: ast.copy_location(ast.Pass(), n)


def _call_faults(node: ast.Call) -> Iterator[tuple[str, Fault]]:
    if isinstance(node.func, ast.Name):
        name, field = node.func.id, "id"
    elif isinstance(node.func, ast.Attribute):
        name, field = node.func.attr, "attr"
    else:
        return
    if name in CALLS:

        def swap(call: Any) -> ast.AST:
            setattr(call.func, field, CALLS[name])
            return call  # type: ignore[no-any-return]

        yield f"{name} to {CALLS[name]}", swap
    if name == "range" and node.args:
        last = min(1, len(node.args) - 1)
        yield "range ends one earlier", _shift(last, ast.Sub())
        if len(node.args) > 1 and not isinstance(node.args[0], ast.Constant):
            yield "range starts one later", _shift(0, ast.Add())


def _shift(place: int, op: ast.operator) -> Fault:
    def shift(call: Any) -> ast.AST:
        call.args[place] = ast.BinOp(call.args[place], op, ast.Constant(1))
        return call  # type: ignore[no-any-return]

    return shift


def _negate(node: Any) -> ast.AST:
    node.test = ast.UnaryOp(ast.Not(), node.test)
    return node  # type: ignore[no-any-return]


def _set(field: str, value: object) -> Fault:
    def change(node: Any) -> ast.AST:
        setattr(node, field, value)
        return node  # type: ignore[no-any-return]

    return change


def _set_item(field: str, place: int, value: object) -> Fault:
    def change(node: Any) -> ast.AST:
        getattr(node, field)[place] = value
        return node  # type: ignore[no-any-return]

    return change


def _sign(op: ast.AST) -> str:
    """An operator as it is written."""
    a, b = ast.Name("a"), ast.Name("b")
    if isinstance(op, ast.cmpop):
        return ast.unparse(ast.Compare(a, [op], [b]))[2:-2]
    if isinstance(op, ast.unaryop):
        return ast.unparse(ast.UnaryOp(op, a))[:-1]
    assert isinstance(op, ast.operator)
    return ast.unparse(ast.BinOp(a, op, b))[2:-2]


def _is_none(value: ast.expr | None) -> bool:
    return value is None or (isinstance(value, ast.Constant) and value.value is None)


def _same_negated(test: ast.expr) -> bool:
    """Whether another mutation negates the condition already."""
    if isinstance(test, ast.UnaryOp):
        return isinstance(test.op, ast.Not)
    signs = (ast.Eq, ast.NotEq, ast.Is, ast.IsNot, ast.In, ast.NotIn)
    return isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], signs)


def _first_binding(node: ast.Assign, names_set_once: set[str]) -> bool:
    """Whether without it a name would not be known at all: any test would notice that."""
    return any(
        isinstance(name, ast.Name) and name.id in names_set_once
        for target in node.targets
        for name in ast.walk(target)
        if not isinstance(target, (ast.Subscript, ast.Attribute))
    )
