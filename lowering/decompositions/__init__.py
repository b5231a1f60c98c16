"""Decompositions of composite ops, one file per family of the dialect."""
from . import activation, attention, indexing, linear_algebra, normalization, quantization, reduction, resampling, shape  # noqa: F401
from .registry import DECOMPOSITIONS, decomposes  # noqa: F401
