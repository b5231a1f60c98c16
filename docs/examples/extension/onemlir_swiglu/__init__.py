"""SwiGLU as one operation. `swiglu` is for users; `ops` and `rules` are imported by onemlir through the entry points in pyproject.toml."""
from .functions import swiglu  # noqa: F401
