"""All decisions of an experiment as a table: CSV, or Parquet where a library for it is there."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from rotting.serve.refusals import Refusal


async def export(service: Any, request: Request, who: Any) -> Response:
    """GET /v1/experiments/{name}/export."""
    raise Refusal("unavailable", "not yet")
