"""Similarity and distance of vectors."""
from __future__ import annotations

from .. import ops
from .module import Module


class CosineSimilarity(Module):
    """x1 . x2 / (max(|x1|, eps) * max(|x2|, eps)) along `dim`."""

    def __init__(self, dim: int = 1, eps: float = 1e-8):
        super().__init__()
        self.dim, self.eps = dim, eps

    def forward(self, x1, x2):
        return cosine_similarity(x1, x2, self.dim, self.eps)

    def extra_repr(self) -> str:
        return f"dim={self.dim}, eps={self.eps}"


class PairwiseDistance(Module):
    """(sum |x1 - x2 + eps|^p)^(1/p) along the last axis."""

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False):
        super().__init__()
        self.norm, self.eps, self.keepdim = p, eps, keepdim

    def forward(self, x1, x2):
        return pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)

    def extra_repr(self) -> str:
        return f"p={self.norm}, eps={self.eps}, keepdim={self.keepdim}"


def cosine_similarity(x1, x2, dim: int = 1, eps: float = 1e-8):
    """x1 . x2 / (max(|x1|, eps) * max(|x2|, eps)) along `dim`; x1 and x2 broadcast."""
    lengths = [ops.maximum(ops.sqrt(ops.sum(ops.square(x), axis=dim, keepdims=True)), eps) for x in (x1, x2)]
    return ops.sum((x1 / lengths[0]) * (x2 / lengths[1]), axis=dim)


def pairwise_distance(x1, x2, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False):
    """(sum |x1 - x2 + eps|^p)^(1/p) along the last axis."""
    return ops.norm(x1 - x2 + eps, ord=p, axis=-1, keepdims=keepdim)
