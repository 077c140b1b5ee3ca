"""Plain data as JSON that every reader takes."""

from __future__ import annotations

import json
import math
from typing import Any


def json_text(data: Any) -> str:
    """Plain data as JSON; NaN and infinity, which JSON does not have, become null.

    >>> print(json_text({"mean_regret": 3.5, "standard_error": float("nan")}))
    {
     "mean_regret": 3.5,
     "standard_error": null
    }
    """
    return json.dumps(_finite(data), indent=1, allow_nan=False)


def _finite(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: _finite(value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [_finite(value) for value in data]
    return None if isinstance(data, float) and not math.isfinite(data) else data
