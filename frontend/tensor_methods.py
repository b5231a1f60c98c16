"""Methods of `Tensor` that are functions of `onemlir.ops` with the tensor as first argument.

Each keeps the function's signature and documentation. Where numpy and torch differ, numpy's meaning holds: ``x.transpose(2, 0, 1)``
orders all axes, ``x.var()`` has correction 0.
"""
from __future__ import annotations

from typing import Callable

from .tensor import Tensor

SAME_NAME = (
    "sum", "prod", "mean", "var", "std", "max", "min", "any", "all", "argmax", "argmin", "cumsum", "cumprod", "logsumexp", "norm", "count_nonzero",
    "abs", "sign", "square", "sqrt", "rsqrt", "reciprocal", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin",
    "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "erfc", "floor", "ceil", "trunc", "round", "clip", "pow", "maximum",
    "minimum", "isnan", "isinf", "isfinite", "logical_not", "logical_and", "logical_or", "logical_xor",
    "relu", "sigmoid", "softmax", "log_softmax", "matmul", "dot", "outer",
    "flatten", "unflatten", "squeeze", "swapaxes", "moveaxis", "flip", "roll", "repeat", "tile", "tril", "triu", "diagonal", "split", "chunk",
    "take", "gather", "scatter", "sort", "argsort", "topk", "nonzero", "index_select", "masked_fill", "unbind", "trace",
)
RENAMED = {"unsqueeze": "expand_dims", "add": "add", "sub": "subtract", "mul": "multiply", "div": "divide", "clamp": "clip",
           "neg": "negative",
           "eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal"}
VARIADIC = {"reshape": "reshape", "view": "reshape", "transpose": "transpose", "permute": "transpose", "expand": "expand",
            "broadcast_to": "broadcast_to"}
DTYPES = {"half": "float16", "bfloat16": "bfloat16", "double": "float64", "int": "int32", "long": "int64", "bool": "bool"}


def _method(function: Callable, name: str) -> Callable:
    def method(self, *args, **keywords):
        return function(self, *args, **keywords)
    return _described(method, function, name)


def _variadic(function: Callable, name: str) -> Callable:
    def method(self, *sizes, **keywords):
        """Sizes or axes may be given one by one, or as one sequence."""
        if len(sizes) == 1 and not hasattr(sizes[0], "__index__"):
            sizes = sizes[0]
        elif not sizes and name == "transpose":
            sizes = None
        return function(self, sizes, **keywords)
    return _described(method, function, name)


def _described(method: Callable, function: Callable, name: str) -> Callable:
    method.__name__, method.__qualname__, method.__doc__ = name, f"Tensor.{name}", function.__doc__
    return method


def install(functions) -> None:
    """Give Tensor the methods whose functions are in the namespace `functions`; a method that Tensor has stays."""
    for make, names in ((_method, {n: n for n in SAME_NAME} | RENAMED), (_variadic, VARIADIC)):
        for name, target in names.items():
            function = getattr(functions, target, None)
            if function is not None and name not in Tensor.__dict__:
                setattr(Tensor, name, make(function, name))
    for name, dtype in DTYPES.items():
        if name not in Tensor.__dict__:
            setattr(Tensor, name, lambda self, dtype=dtype: self.astype(dtype))
