"""Recording torch modules and functions. Importing this package needs torch: ``pip install onemlir[torch]``."""
try:
    import torch as _torch  # noqa: F401
except ImportError as error:
    raise ImportError("this needs torch, which is not installed: pip install 'onemlir[torch]'") from error

from . import detect, ops as _handlers  # noqa: E402,F401
from .record import record_torch  # noqa: E402
from .registry import register_op  # noqa: E402

__all__ = ["record_torch", "register_op"]
