"""Refusals: the errors that the service answers."""

from __future__ import annotations

import re
from typing import Any

STATUS = {
    "bad_request": 400,
    "unauthorized": 401,
    "forbidden": 403,
    "not_found": 404,
    "method_not_allowed": 405,
    "conflict": 409,
    "no_open_arm": 409,
    "not_shown": 409,
    "expired": 409,
    "archived": 410,
    "too_large": 413,
    "unsupported_media_type": 415,
    "too_many_requests": 429,
    "internal": 500,
    "unavailable": 503,
}
# errors in the OpenAPI description; internal errors are not part of it
DESCRIBED = {code: status for code, status in STATUS.items() if status != 500}


_MOST = 700  # characters of a sentence
_QUOTED = re.compile(r"(?<!\w)(['\"`])(.{60}).*?\1(?!\w)", re.DOTALL)


class Refusal(Exception):  # noqa: N818  an answer like any other, not a fault of ours
    """An error as an answer: a code, a sentence, and the field that is wrong, if there is one."""

    def __init__(self, code: str, message: str, field: str | None = None) -> None:
        if len(message) > 60:  # quote only the beginning of what was sent, which may be long
            message = _QUOTED.sub(r"\1\2...\1", message)
            message = message if len(message) <= _MOST else f"{message[:_MOST]}..."
        super().__init__(message)
        self.code, self.message = code, message
        self.field = None if field is None else field[:100]

    @property
    def status(self) -> int:
        """The HTTP status."""
        return STATUS[self.code]

    def as_data(self) -> dict[str, Any]:
        """The body of the answer."""
        error = {"code": self.code, "message": self.message}
        if self.field is not None:
            error["field"] = self.field
        return {"error": error}


def bad(field: str, message: str) -> Refusal:
    """The refusal of a field's value."""
    return Refusal("bad_request", message, field)
