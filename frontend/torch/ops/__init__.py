"""Handlers of torch functions, one file per family."""
from . import (activation, attention, complex_numbers, control_flow, convolution, creation, ctc, elementwise, fourier, indexing, linear_algebra, linear_systems, losses, matrix_factors,  # noqa: F401
               metadata, normalization, ordering, packed, pooling, random, recurrent, reduction, resampling, shape, special, views)
