"""The declared ops as plain functions, for functions that are composed of them."""
from __future__ import annotations

from typing import Callable

import numpy as np

from ...dialect.declare import REGISTRY
from ..dispatch import apply, call
from ..tensor import Tensor


class DeclaredOps:
    """``declared.softmax(x, axis=-1)``: any op of the `om` namespace by its name, also those that `onemlir.ops` does not show."""

    def __getattr__(self, name: str) -> Callable:
        op = REGISTRY.get(f"om.{name}")
        if op is None:
            raise AttributeError(f"the dialect has no op om.{name}")
        return lambda *args, **keywords: call(op, args, keywords)


ops = declared = DeclaredOps()


def as_tensor(x) -> Tensor:
    """x as a tensor: arrays, lists, scalars and symbolic sizes are converted, tensors stay."""
    if isinstance(x, Tensor):
        return x
    if hasattr(x, "symbolic_size"):
        return apply(REGISTRY["om.cast"], [x], {"dtype": np.int64})
    return Tensor(x)
