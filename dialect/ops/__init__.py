"""The declarations of all ops, one file per family."""
from . import activation, constant, elementwise, guard, linear_algebra, normalization, reduction, shape  # noqa: F401
