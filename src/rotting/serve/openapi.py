"""stub"""

from typing import Any


def description(version: str) -> dict[str, Any]:
    """stub"""
    return {}
