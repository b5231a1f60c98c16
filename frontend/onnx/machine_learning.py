"""Operators of the domain ai.onnx.ml on numbers, and counting n-grams."""
from __future__ import annotations

import numpy as np

from ...dialect import dtypes
from ..ops.declared import declared as om
from ..ops.joining import stack
from ..ops.shape import slice_along
from ..tensor import Tensor
from .registry import reads
from .shape import sizes_of

ML = "ai.onnx.ml"


@reads("ArrayFeatureExtractor", domain=ML)
def read_array_feature_extractor(node, ops):
    indices = ops.reshape(node.tensor(1), shape=(-1,))
    x = node.tensor(0)
    y = ops.gather(x, indices, axis=-1)
    return ops.reshape(y, shape=(1, *sizes_of(y))) if x.ndim == 1 else y


@reads("Binarizer", domain=ML)
def read_binarizer(node, ops):
    x = node.tensor(0)
    return (x > node.float("threshold", 0.0)).astype(x.dtype)


@reads("LabelEncoder", domain=ML)
def read_label_encoder(node, ops):
    """The value of the key that an element equals, else the default."""
    keys, values, default = _table(node)
    x = node.tensor(0)
    dtype = values.dtype
    column = ops.reshape(x, shape=(*sizes_of(x), 1))
    same = ops.equal(column, Tensor._wrap(keys.astype(x.dtype)))
    if dtypes.is_floating(keys.dtype):
        same = ops.logical_or(same, ops.logical_and(ops.isnan(column), Tensor._wrap(np.isnan(keys))))
    place = ops.argmax(same.astype(dtypes.int32), axis=-1)
    return ops.where(ops.any(same, axis=-1), ops.gather(Tensor._wrap(values), place), Tensor._wrap(np.asarray(default, dtype)))


def _table(node):
    keys, values, default = node.tensor_attribute("keys_tensor"), node.tensor_attribute("values_tensor"), node.tensor_attribute("default_tensor")
    for name, dtype in (("int64s", np.int64), ("floats", np.float32)):
        given = node.ints_attribute if name == "int64s" else node.floats
        keys = np.asarray(given(f"keys_{name}"), dtype) if keys is None and given(f"keys_{name}") is not None else keys
        values = np.asarray(given(f"values_{name}"), dtype) if values is None and given(f"values_{name}") is not None else values
    if keys is None or values is None:
        node.refuse("tables of text cannot be read")
    if default is None:
        default = node.int("default_int64", -1) if values.dtype == np.int64 else node.float("default_float", -0.0)
    return keys, values, np.asarray(default).reshape(())


@reads("TfIdfVectorizer")
def read_ngrams(node, ops):
    """How often each n-gram of the pool occurs in a row, with up to `max_skip_count` elements left out between its parts."""
    pool = node.ints_attribute("pool_int64s")
    if pool is None:
        node.refuse("n-grams of text cannot be read")
    x = node.tensor(0)
    rows = x if x.ndim > 1 else ops.reshape(x, shape=(1, *sizes_of(x)))
    size = sizes_of(rows)[1]
    if not isinstance(size, int):
        node.needs_size(0, f"rows must have a fixed length, found {size}")
    places, weights = node.ints_attribute("ngram_indexes"), node.floats("weights")
    columns: list[Tensor | None] = [None] * node.steps(max(places) + 1, "the columns of the result")
    for number, gram in enumerate(_grams(node, pool)):
        if node.int("min_gram_length") <= len(gram) <= node.int("max_gram_length"):
            columns[places[number]] = _count(node, rows, size, gram, None if weights is None else weights[number])
    zero = ops.full(Tensor._wrap(np.zeros((), np.float32)), shape=sizes_of(rows)[:1])
    y = stack([zero if c is None else c for c in columns], axis=1)
    return y if x.ndim > 1 else ops.reshape(y, shape=(len(columns),))


def _grams(node, pool) -> list[tuple]:
    starts = (*node.ints_attribute("ngram_counts"), len(pool))
    return [tuple(pool[i:i + length]) for length, (first, last) in enumerate(zip(starts, starts[1:]), 1) for i in range(first, last, length)]


def _count(node, rows: Tensor, size: int, gram: tuple, weight) -> Tensor:
    mode, total = node.text("mode"), None
    for skip in range(1 if len(gram) == 1 else min(node.int("max_skip_count") + 1, size)):
        span = (len(gram) - 1) * (skip + 1) + 1
        if span > size:
            continue
        found = None
        for i, item in enumerate(gram):
            same = om.equal(slice_along(rows, 1, i * (skip + 1), size - span + 1), Tensor._wrap(np.asarray(item, rows.dtype)))
            found = same if found is None else om.logical_and(found, same)
        count = om.sum(found.astype(dtypes.float32), axis=1)
        total = count if total is None else total + count
    if total is None:
        return None
    total = om.minimum(total, 1.0) if mode == "IDF" else total
    return total if mode == "TF" or weight is None else total * weight
