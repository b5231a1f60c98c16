"""The declarations of all ops, one file per family."""
from . import activation, attention, constant, elementwise, guard, linear_algebra, normalization, recurrent, reduction, shape  # noqa: F401
