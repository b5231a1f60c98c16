"""Decompositions of composite ops, one file per family of the dialect."""
from . import activation, linear_algebra, normalization  # noqa: F401
from .registry import DECOMPOSITIONS, decomposes  # noqa: F401
