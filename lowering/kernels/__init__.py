from .conv import emit_conv, emit_pack_filter
from .conv_plan import conv_strategy, packed_filter_shape
from .matmul import emit_matmul
from .pack import emit_pack_b, packed_shape, panel_width
from .place import Place
from .shapes import ConvShape, MatmulShape

__all__ = [
    "ConvShape",
    "MatmulShape",
    "Place",
    "conv_strategy",
    "emit_conv",
    "emit_matmul",
    "emit_pack_b",
    "emit_pack_filter",
    "packed_filter_shape",
    "packed_shape",
    "panel_width",
]
