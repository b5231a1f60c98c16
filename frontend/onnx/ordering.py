"""Sorting, selecting, finding: TopK, Unique, NonMaxSuppression."""
from __future__ import annotations

from ...dialect import dtypes
from .registry import reads


@reads("TopK", since=10)
def read_topk(node, ops):
    k, = node.sizes(1)
    return ops.topk(node.tensor(0), k=(k,), axis=node.int("axis", -1), largest=bool(node.int("largest", 1)), sorted=bool(node.int("sorted", 1)))


@reads("TopK")
def read_topk_attribute(node, ops):
    return ops.topk(node.tensor(0), k=(node.int("k"),), axis=node.int("axis", -1))


@reads("Unique")
def read_unique(node, ops):
    return ops.unique(node.tensor(0), axis=node.int("axis"), sorted=bool(node.int("sorted", 1)))


__all__ = ["dtypes"]
