"""The tape of eager operations from which gradients are computed."""
from __future__ import annotations

import threading
from contextlib import contextmanager

_state = threading.local()


def grad_enabled() -> bool:
    """Whether operations on tensors that require gradients are recorded on the tape, in this thread."""
    return getattr(_state, "enabled", True)


@contextmanager
def _grad_mode(enabled: bool):
    from .dispatch import current_recorder

    recorder = current_recorder()
    if recorder is not None:
        recorder.refuse("no_grad" if not enabled else "enable_grad", "gradients have no meaning in a recording for inference: leave it out")
    before = grad_enabled()
    _state.enabled = enabled
    try:
        yield
    finally:
        _state.enabled = before


def no_grad():
    """Context in which operations are not recorded for gradients."""
    return _grad_mode(False)


def enable_grad():
    """Context in which operations are recorded for gradients again."""
    return _grad_mode(True)


def record(op, operands, attributes, outputs) -> None:
    """Put an eager operation on the tape when an operand requires gradients."""
