"""Running compiled code: `Session`, the just-in-time engine, the thread pool. Nothing here imports mlir until code is compiled."""
from .session import Session  # noqa: F401
from .specs import Message, Spec  # noqa: F401
