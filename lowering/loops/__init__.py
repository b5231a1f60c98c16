"""From linalg on memrefs to loops: `om-linalg-to-loops`."""
from . import byte_products, dequantized_products, kernels, matrix_unit  # noqa: F401  registers the kernels
from .emit import linalg_to_loops  # noqa: F401
