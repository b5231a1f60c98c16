"""The public door to `frontend.optim`: `onemlir.optim` is that module."""
import sys

from .frontend import optim

sys.modules[__name__] = optim
