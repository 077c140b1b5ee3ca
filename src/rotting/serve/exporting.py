"""All decisions of an experiment as a table: CSV, or Parquet where a library for it is there."""

from __future__ import annotations

from typing import Any

from rotting.serve.http import Asked, Reply
from rotting.serve.refusals import Refusal


async def export(service: Any, asked: Asked, who: Any) -> Reply:
    """GET /v1/experiments/{name}/export."""
    raise Refusal("unavailable", "not yet")
