"""numpy arrays as MLIR dense attributes, and back."""
from __future__ import annotations

import numpy as np

from . import dtypes


def dense_attribute(array: np.ndarray, ir):
    """A DenseElementsAttr with the array's shape and dtype."""
    element = ir.Type.parse(dtypes.MLIR_NAMES[array.dtype])
    shape = list(array.shape)
    if array.size == 0:
        return ir.Attribute.parse(f"dense<> : {ir.RankedTensorType.get(shape, element)}")
    array = np.ascontiguousarray(array)
    if array.dtype == dtypes.bool_:
        array = np.packbits(array, bitorder="little")
    elif array.dtype == dtypes.bfloat16:
        array = array.view(np.uint16)
    return ir.DenseElementsAttr.get(array, type=element, shape=shape)


def array_of(attribute, ir) -> np.ndarray:
    """The array that a dense attribute holds."""
    shaped = ir.ShapedType(attribute.type)
    dtype = dtypes.FROM_MLIR_NAME[str(shaped.element_type)]
    shape = tuple(shaped.shape)
    if 0 in shape:
        return np.empty(shape, dtype)
    if dtype == dtypes.bfloat16:
        elements = ir.DenseFPElementsAttr(attribute)
        return np.array([elements[i] for i in range(len(elements))], np.float32).astype(dtype).reshape(shape)
    return np.array(attribute).astype(dtype, copy=True).reshape(shape)
