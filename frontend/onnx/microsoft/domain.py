"""Registration in the domain com.microsoft."""
from __future__ import annotations

from ..registry import reads


def microsoft(*op_types: str):
    """Register a function as the reader of operators of com.microsoft."""
    return reads(*op_types, domain="com.microsoft")
