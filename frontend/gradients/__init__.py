"""Gradient rules, one file per family of the dialect. `GRADIENTS` holds them by op class, `NO_GRADIENT` the reason where there is none."""
from .registry import GRADIENTS, NO_GRADIENT, gradient_of  # noqa: F401
from . import (activation, attention, constant, convolution, elementwise, indexing, linear_algebra, normalization, ordering, pooling,  # noqa: F401
               quantization, recurrent, reduction, resampling, shape)
