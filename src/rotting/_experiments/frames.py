"""Results as pandas data frames. pandas is imported on first use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def data_frame(columns: Mapping[str, Any]) -> Any:
    """A data frame of these columns; without pandas an ImportError names the extra to install."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError("a frame needs pandas: pip install 'rotting[frames]'") from error
    return pandas.DataFrame(columns)
