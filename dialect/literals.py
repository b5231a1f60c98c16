"""numpy arrays as MLIR dense attributes, and back."""
from __future__ import annotations

import re

import numpy as np

from . import dtypes

_NUMBER = re.compile(r"0x[0-9A-Fa-f]+|-?[0-9]+(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?")


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
        return _bfloat16(str(attribute), shape)
    if dtype == dtypes.bool_ and ir.DenseElementsAttr(attribute).is_splat:  # whose buffer has one byte, whatever its shape says
        return np.full(shape, str(attribute).startswith("dense<true>"))
    return np.array(attribute).astype(dtype, copy=True).reshape(shape)


def _bfloat16(text: str, shape: tuple[int, ...]) -> np.ndarray:
    """The elements as printed: the bindings give out none of this dtype."""
    content = text[text.index("<") + 1:text.rindex("> :")]
    if content.startswith('"'):
        bits = np.frombuffer(bytes.fromhex(content[3:-1]), np.uint16)
        return np.resize(bits, shape).view(dtypes.bfloat16).copy()
    words = _NUMBER.findall(content)
    elements = [np.array(int(word, 16), np.uint16).view(dtypes.bfloat16) if word.startswith("0x") else float(word) for word in words]
    return np.resize(np.array(elements, np.float32).astype(dtypes.bfloat16), shape)
