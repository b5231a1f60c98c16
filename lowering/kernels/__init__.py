from .matmul import emit_matmul
from .pack import emit_pack_b, packed_shape, panel_width
from .place import Place
from .shapes import ConvShape, MatmulShape

__all__ = ["ConvShape", "MatmulShape", "Place", "emit_matmul", "emit_pack_b", "packed_shape", "panel_width"]
