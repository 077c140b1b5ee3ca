"""Small words to write JSON schemas with."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]

# no control characters; \x7f to \x9f are some too
_PLAIN = "^[^\\u0000-\\u001f\\u007f-\\u009f]*$"
LARGEST = 1e100  # of a reward, up or down
ITEMS = 1000  # of a batch


def text(most: int, about: str = "") -> Schema:
    """A text of 1 to `most` characters without control characters."""
    return said({"type": "string", "minLength": 1, "maxLength": most, "pattern": _PLAIN}, about)


def words(*allowed: str) -> Schema:
    """One of these words."""
    return {"type": "string", "enum": list(allowed)}


def number(about: str = "", **ends: float) -> Schema:
    """A finite number; ends as `minimum` and `exclusiveMinimum`."""
    return said({"type": "number", **ends}, about)


def count(about: str = "", least: int = 0, most: int | None = None) -> Schema:
    """A whole number."""
    ends = {"minimum": least} if most is None else {"minimum": least, "maximum": most}
    return said({"type": "integer", **ends}, about)


def truth(about: str = "") -> Schema:
    """True or false."""
    return said({"type": "boolean"}, about)


def reward(about: str = "") -> Schema:
    """A reward."""
    return number(about, minimum=-LARGEST, maximum=LARGEST)


def rows(items: Schema, least: int = 0, most: int | None = None, unique: bool = False) -> Schema:
    """A list."""
    found: Schema = {"type": "array", "items": items}
    if least:
        found["minItems"] = least
    if most is not None:
        found["maxItems"] = most
    if unique:
        found["uniqueItems"] = True
    return found


def or_null(shape: Schema) -> Schema:
    """That, or null where it is not known."""
    return {"anyOf": [shape, {"type": "null"}]}


def ref(name: str) -> Schema:
    """A schema of the document, by name."""
    return {"$ref": f"#/components/schemas/{name}"}


def said(shape: Schema, about: str) -> Schema:
    """The shape with a sentence about it."""
    return {**shape, "description": about} if about else shape


def body(required: dict[str, Schema], optional: dict[str, Schema] | None = None) -> Schema:
    """An object that is sent: nothing else may be in it."""
    found = answer({**required, **(optional or {})}, list(required))
    return {**found, "additionalProperties": False}


def answer(fields: dict[str, Schema], required: list[str] | None = None) -> Schema:
    """An object that is answered: more may be in it one day."""
    needed = list(fields) if required is None else required
    return {"type": "object", "properties": fields, "required": needed}


def one_or_batch(name: str) -> Schema:
    """A body, or a list of such."""
    return {"oneOf": [ref(name), rows(ref(name), most=ITEMS)]}


def answered_or_batch(name: str) -> Schema:
    """The answer to `one_or_batch`: an item that was refused is its error."""
    return {"oneOf": [ref(name), rows({"anyOf": [ref(name), ref("Error")]}, most=ITEMS)]}


def example(shape: Schema, *values: Any) -> Schema:
    """The shape with examples of it."""
    return {**shape, "examples": list(values)}
