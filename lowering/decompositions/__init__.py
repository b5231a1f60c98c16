"""Decompositions of composite ops, one file per family of the dialect."""
from . import activation, attention, linear_algebra, normalization, reduction  # noqa: F401
from .registry import DECOMPOSITIONS, decomposes  # noqa: F401
