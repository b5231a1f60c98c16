"""The name under which a torch function is looked up: one for a function, the method, the operator and the ATen op of the same meaning."""
from __future__ import annotations

import types
from typing import Callable

import torch

_PREFIXES = {"torch.nn.functional": ("F.",), "torch._C._nn": ("C.", "F.")}
_OPERATORS = {
    "__add__": "add", "__sub__": "sub", "__mul__": "mul", "__truediv__": "div", "__div__": "div", "__floordiv__": "floor_divide",
    "__mod__": "remainder", "__pow__": "pow", "__matmul__": "matmul", "__and__": "bitwise_and", "__or__": "bitwise_or",
    "__xor__": "bitwise_xor", "__lshift__": "bitwise_left_shift", "__rshift__": "bitwise_right_shift", "__lt__": "lt", "__le__": "le",
    "__gt__": "gt", "__ge__": "ge", "__eq__": "eq", "__ne__": "ne", "__neg__": "neg", "__pos__": "positive", "__abs__": "abs",
    "__invert__": "bitwise_not",
}
_REVERSED = {f"__r{name[2:]}": target for name, target in _OPERATORS.items()}
_IN_PLACE = {f"__i{name[2:]}": f"{target}_" for name, target in _OPERATORS.items()}


def names_of(function: Callable) -> list[str]:
    """Names to look a function up by, the most special first: ``F.softmax`` before ``softmax``, ``aten.add.Tensor`` before ``add``.

    What torch.nn.functional calls in C++ is ``C.name`` before ``F.name``: for a few functions its arguments or results differ. A method is
    ``Tensor.name`` before ``name``, for the same reason.
    """
    if isinstance(function, torch._ops.OpOverload):
        namespace, _, name = function._schema.name.partition("::")
        overload = function._overloadname
        return _aten_names(namespace, name, overload)
    if isinstance(function, torch._ops.OpOverloadPacket):
        namespace, _, name = function._qualified_op_name.partition("::")
        return _aten_names(namespace, name, "")
    if isinstance(function, torch._ops.HigherOrderOperator):
        return [f"higher_order.{function._name}"]
    name = getattr(function, "__name__", str(function))
    if name in ("__get__", "__set__", "__delete__"):
        return [f"{name.strip('_')}:{function.__self__.__name__}"]
    is_method = isinstance(function, types.MethodDescriptorType)
    prefixes = ("Tensor.",) if is_method else _PREFIXES.get(getattr(function, "__module__", None) or "", ())
    for table in (_OPERATORS, _REVERSED, _IN_PLACE):
        if name in table:
            return [name, table[name]]
    return [*(prefix + name for prefix in prefixes), name]


def _aten_names(namespace: str, name: str, overload: str) -> list[str]:
    full = f"{namespace}.{name}"
    plain = [name] if namespace in ("aten", "prims") else []
    return [f"{full}.{overload}" if overload else full, full, *plain]


def is_reversed(function: Callable) -> bool:
    """Whether the function is an operator's reflection: ``__rsub__``."""
    return getattr(function, "__name__", "") in _REVERSED
