"""Handlers of torch functions, one file per family."""
from . import (activation, attention, control_flow, convolution, creation, elementwise, indexing, linear_algebra, losses, metadata, normalization,  # noqa: F401
               ordering, pooling, random, recurrent, reduction, resampling, shape, views)
