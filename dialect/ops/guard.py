"""Checks that a recording makes of the values it depends on."""
from __future__ import annotations

from ..declare import AnyDType, Attr, Boolean, Op, Operand, OptionalOperand


class Guard(Op, public=False):
    """Refuses the run with `message` when `predicate` (rank 0, bool) is false. `kind` names the error class.

    The message says what the recording assumed and where; ``{found}`` and ``{expected}`` in it stand for the operands of these names
    (rank 0), with the format `f64` for floats and `bool` for truth values. Other braces in it are doubled.
    """

    predicate: Operand[Boolean]
    found: OptionalOperand[AnyDType]
    expected: OptionalOperand[AnyDType]
    message: Attr[str]
    kind: Attr[str] = "GuardError"
    traits = ()

    def infer(predicate, found, expected, message, kind):
        return ()

    def reference(predicate, found, expected, message, kind):
        return ()


OPS = (Guard,)
