"""The public door to `frontend.ops`: `onemlir.ops` is that module."""
import sys

from .frontend import ops

sys.modules[__name__] = ops
