"""Ahead of time: a program becomes a native library, object file, archive or executable."""
from .program import compile_program  # noqa: F401
