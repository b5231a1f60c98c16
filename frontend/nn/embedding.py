"""Tables of vectors that integers pick from."""
from __future__ import annotations

from .. import ops
from ...errors import OnemlirError, ShapeError
from . import init
from .module import Module
from .parameter import new_parameter, Parameter


class Embedding(Module):
    """weight[x]: integers of any shape (...) to vectors (..., embedding_dim). weight: (num_embeddings, embedding_dim), from N(0, 1).

    Row `padding_idx` starts as zeros and has no gradient.
    """

    def __init__(self, num_embeddings: int, embedding_dim: int, padding_idx: int | None = None, dtype=None):
        super().__init__()
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.padding_idx = _row(padding_idx, num_embeddings)
        self.weight = new_parameter((num_embeddings, embedding_dim), dtype)
        self.reset_parameters()

    @classmethod
    def from_pretrained(cls, embeddings, freeze: bool = True, padding_idx: int | None = None) -> "Embedding":
        """An embedding with the given vectors, which are not learned when `freeze`."""
        weight = Parameter(embeddings, requires_grad=not freeze)
        if weight.ndim != 2:
            raise ShapeError(f"embeddings have two axes, found shape {weight.shape}")
        module = cls(*weight.shape, padding_idx=padding_idx)
        module.weight = weight
        return module

    def reset_parameters(self) -> None:
        init.normal_(self.weight)
        if self.padding_idx is not None:
            self.weight._array[self.padding_idx] = 0

    def forward(self, x):
        vectors = ops.embedding(x, self.weight)
        if self.padding_idx is None or not self.weight.requires_grad or not self.training:
            return vectors
        is_padding = ops.expand_dims(ops.equal(x, self.padding_idx), -1)
        return ops.where(is_padding, vectors.detach(), vectors)

    def extra_repr(self) -> str:
        padding = "" if self.padding_idx is None else f", padding_idx={self.padding_idx}"
        return f"{self.num_embeddings}, {self.embedding_dim}{padding}"


class EmbeddingBag(Module):
    """Sum, mean or maximum of the vectors of each row of integers: (B, L) to (B, embedding_dim). weight: from N(0, 1).

    ``mode`` is "sum", "mean" or "max". `per_sample_weights` (B, L) scale the vectors, for "sum" alone. Rows must have one length:
    torch's form with offsets is not offered.
    """

    def __init__(self, num_embeddings: int, embedding_dim: int, mode: str = "mean", dtype=None):
        super().__init__()
        if mode not in ("sum", "mean", "max"):
            raise OnemlirError(f"mode must be 'sum', 'mean' or 'max', found {mode!r}")
        self.num_embeddings, self.embedding_dim, self.mode = num_embeddings, embedding_dim, mode
        self.weight = new_parameter((num_embeddings, embedding_dim), dtype)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        init.normal_(self.weight)

    def forward(self, x, per_sample_weights=None):
        if x.ndim != 2:
            raise ShapeError(f"EmbeddingBag takes rows of integers (B, L), found shape {x.shape}")
        vectors = ops.embedding(x, self.weight)
        if per_sample_weights is not None:
            if self.mode != "sum":
                raise OnemlirError(f"per_sample_weights need mode 'sum', found {self.mode!r}")
            vectors = vectors * ops.expand_dims(per_sample_weights, -1)
        return {"sum": ops.sum, "mean": ops.mean, "max": ops.max}[self.mode](vectors, axis=1)

    def extra_repr(self) -> str:
        return f"{self.num_embeddings}, {self.embedding_dim}, mode={self.mode!r}"


def _row(padding_idx: int | None, count: int) -> int | None:
    if padding_idx is None:
        return None
    if not -count <= padding_idx < count:
        raise OnemlirError(f"padding_idx {padding_idx} is no row of {count} embeddings")
    return padding_idx % count
