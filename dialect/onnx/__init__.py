"""Writing ONNX: reads the om dialect, writes ``onnx.ModelProto``. One function per op, one file per family of the dialect."""
from . import (activation, attention, constant, control_flow, convolution, elementwise, guard, indexing, integers, linear_algebra,  # noqa: F401
               normalization, ordering, pooling, quantization, recurrent, reduction, resampling, shape, sizes)
from .export import DEFAULT_OPSET, to_onnx  # noqa: F401
from .registry import Unwritable, WRITERS, writes  # noqa: F401
from .save import save_onnx  # noqa: F401
