"""`onemlir.ops`: every declared op as a function on tensors, and functions composed of them, by numpy's names."""
from __future__ import annotations

import inspect

from ...dialect import ops as _declarations  # noqa: F401
from ...dialect.declare import Op, REGISTRY
from ..dispatch import call


def make_function(op: type[Op]):
    """The function that calls an op, with the declaration's signature and documentation."""
    def function(*args, **keywords):
        return call(op, args, keywords)

    empty = inspect.Parameter.empty
    fields = [(s.name, None if s.optional else empty, "Tensor") for s in op.operands]
    fields += [(a.name, a.default, a.kind.annotation) for a in op.attributes]
    seen_default = False
    parameters = []
    for name, default, annotation in fields:
        kind = inspect.Parameter.KEYWORD_ONLY if seen_default and default is empty else inspect.Parameter.POSITIONAL_OR_KEYWORD
        seen_default = seen_default or default is not empty
        parameters.append(inspect.Parameter(name, kind, default=default, annotation=annotation))
    parameters.sort(key=lambda p: p.kind)
    function.__signature__ = inspect.Signature(parameters, return_annotation="Tensor")
    function.__name__ = function.__qualname__ = op.opname
    function.__doc__ = op.__doc__
    function.__module__ = __name__
    function.declaration = op
    return function


for _op in list(REGISTRY.values()):
    if _op.public and not _op.abstract and _op.namespace == "om":
        globals()[_op.opname] = make_function(_op)

from .composed import *  # noqa: E402,F401,F403  functions composed of ops; they may wrap a generated one

import sys as _sys  # noqa: E402

from ..tensor_methods import install as _install  # noqa: E402

_install(_sys.modules[__name__])
