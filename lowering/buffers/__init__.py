"""From tensors to memory: `bufferize` (values become buffers) and `plan_memory` (buffers get their place in one arena)."""
from .bufferize import bufferize  # noqa: F401
from .plan import plan_memory  # noqa: F401
