"""From om to linalg on tensors: one lowering per op, a file per family of the dialect."""
from . import constant, convolution, cumulative, dequantized_linear, elementwise, indexing, integer_convolution, integer_products, linear_algebra, ordering, pooling, recurrent, reduction, shape, unique  # noqa: F401
from .registry import LOWERINGS, lowers  # noqa: F401
