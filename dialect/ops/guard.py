"""Checks that a recording makes of the values it depends on."""
from __future__ import annotations

from ..declare import Attr, Boolean, Op, Operand


class Guard(Op, public=False):
    """Refuses the run with `message` when `predicate` (rank 0, bool) is false. `kind` names the error class.

    The message says what the recording assumed and where; it may hold ``{found}`` and ``{expected}``.
    """

    predicate: Operand[Boolean]
    message: Attr[str]
    kind: Attr[str] = "GuardError"
    traits = ()

    def infer(predicate, message, kind):
        return ()

    def reference(predicate, message, kind):
        return ()


OPS = (Guard,)
