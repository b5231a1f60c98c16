"""Operators of the domain com.microsoft that exporters and onnxruntime's optimizer write."""
from . import attention, blockwise, fused, normalization, quantized, recurrent, standard  # noqa: F401  registers the readers
