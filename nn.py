"""The public door to `frontend.nn`: `onemlir.nn` is that module."""
import sys

from .frontend import nn

sys.modules[__name__] = nn
