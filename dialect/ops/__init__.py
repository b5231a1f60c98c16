"""The declarations of all ops, one file per family."""
from . import (activation, attention, constant, convolution, elementwise, guard, indexing, linear_algebra, normalization, ordering, pooling,  # noqa: F401
               quantization, recurrent, reduction, resampling, shape)
