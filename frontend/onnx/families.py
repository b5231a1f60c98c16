"""Imports every family of readers, so that they are registered."""
from . import (activation, attention, constant, control_flow, convolution, elementwise, estimators, indexing, linear_algebra, machine_learning, microsoft, normalization, ordering,  # noqa: F401
               pooling, quantization, random, recurrent, reduction, resampling, sampling, sequence, shape, training, transforms)
