"""Attention: by its function body, except for the forms that the dialect has whole."""
from __future__ import annotations

from .registry import reads  # noqa: F401
