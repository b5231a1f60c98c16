"""`einsum`: sums of products in index notation, composed of transposes, reshapes and matrix products.

Each operand is a `Term`, a tensor with a label for every axis. Axes that one operand alone has and the rest does not need are summed out;
then two terms at a time are contracted by one batched matrix product.
"""
from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Sequence

from ...dialect import dtypes
from ...dialect.shapes import require_equal
from ...errors import OnemlirError, ShapeError
from ..symbolic_int import size_of
from ..tensor import Tensor
from .declared import as_tensor, declared as om

__all__ = ["einsum"]


def einsum(equation: str, *operands) -> Tensor:
    """The sum of products that `equation` describes, such as ``"...ij,...jk->...ik"``.

    Without ``->`` the result has the labels that occur once, in alphabetical order, after the ellipsis. A label twice in one operand takes
    its diagonal. Ellipses broadcast. Dtypes promote; integers keep their width. Operands may also be given as tensors each followed by
    its list of ints, then the result's list. OnemlirError for an equation that is none, ShapeError for sizes that differ. Source: numpy.
    """
    if not isinstance(equation, str):
        equation, operands = _from_lists((equation, *operands))
    tensors = [as_tensor(x) for x in operands]
    if not tensors:
        raise OnemlirError("einsum needs at least one operand")
    dtype = dtypes.promote(*(x.dtype for x in tensors))
    inputs, output = parse(equation, [x.ndim for x in tensors])
    terms = [distinct(Term(x.astype(dtype), labels), equation) for x, labels in zip(tensors, inputs)]
    check_sizes(terms, equation)
    result = terms[0]
    for number, term in enumerate(terms[1:], 2):
        later = set(output).union(*(t.labels for t in terms[number:]))
        result = contract(result, term, later)
    result = sum_out(result, set(output))
    return om.transpose(result.tensor, axes=tuple(result.labels.index(label) for label in output))


@dataclass(frozen=True)
class Term:
    """A tensor whose axes have labels: letters, or ``"...0"``, ``"...1"`` for the axes of an ellipsis, counted from the last."""

    tensor: Tensor
    labels: tuple[str, ...]

    def size(self, label: str):
        return self.tensor.shape[self.labels.index(label)]

    def has(self, label: str) -> bool:
        """Whether the axis is there and does not just broadcast."""
        return label in self.labels and not is_one(self.size(label))


def is_one(size) -> bool:
    return isinstance(size, int) and size == 1


def parse(equation: str, ranks: Sequence[int]) -> tuple[list[tuple[str, ...]], tuple[str, ...]]:
    """Labels of each operand's axes and of the result's."""
    left, arrow, right = equation.replace(" ", "").partition("->")
    parts = left.split(",")
    if len(parts) != len(ranks):
        raise OnemlirError(f"einsum: '{equation}' describes {len(parts)} operands, found {len(ranks)}")
    inputs = [operand_labels(part, rank, equation) for part, rank in zip(parts, ranks)]
    widest = max((sum(label.startswith("...") for label in labels) for labels in inputs), default=0)
    ellipsis = tuple(f"...{i}" for i in reversed(range(widest)))
    if not arrow:
        every = [label for labels in inputs for label in labels if not label.startswith("...")]
        return inputs, ellipsis + tuple(sorted(label for label in every if every.count(label) == 1))
    if ellipsis and "..." not in right:
        raise OnemlirError(f"einsum: the result of '{equation}' needs '...' for the axes that the operands' ellipses stand for")
    output = split_labels(right, ellipsis, equation)
    known = {label for labels in inputs for label in labels}
    if len(set(output)) != len(output) or not set(output) <= known:
        raise OnemlirError(f"einsum: the result of '{equation}' must name labels of the operands, each once")
    return inputs, output


def operand_labels(part: str, rank: int, equation: str) -> tuple[str, ...]:
    rest = rank - len(split_labels(part, (), equation))
    if rest < 0 or (rest and "..." not in part):
        raise ShapeError(f"einsum: '{part}' in '{equation}' does not fit an operand of rank {rank}")
    return split_labels(part, tuple(f"...{i}" for i in reversed(range(rest))), equation)


def split_labels(part: str, ellipsis: tuple[str, ...], equation: str) -> tuple[str, ...]:
    before, dots, after = part.partition("...")
    if not all(c.isalpha() and c.isascii() for c in before + after):
        raise OnemlirError(f"einsum: '{part}' in '{equation}' must consist of letters and at most one '...'")
    return (*before, *(ellipsis if dots else ()), *after)


def _from_lists(arguments: tuple) -> tuple[str, list]:
    """numpy's other form: tensor, list, tensor, list, ... and the result's list."""
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    pairs = list(zip(arguments[0::2], arguments[1::2]))
    text = lambda labels: "".join("..." if label is Ellipsis else letters[label] for label in labels)
    equation = ",".join(text(labels) for _, labels in pairs)
    return equation + (f"->{text(arguments[-1])}" if len(arguments) % 2 else ""), [x for x, _ in pairs]


def distinct(term: Term, equation: str) -> Term:
    """The diagonal of axes that share a label."""
    for label in term.labels:
        if term.labels.count(label) > 1:
            first = term.labels.index(label)
            return distinct(diagonal(term, first, term.labels.index(label, first + 1), equation), equation)
    return term


def diagonal(term: Term, first: int, second: int, equation: str) -> Term:
    """The elements at equal places of two axes, as the last axis.

    With n more elements at its end, the matrix has rows of n + 1 elements, and the diagonal is their first column.
    """
    x, n = term.tensor, term.tensor.shape[first]
    equal_sizes(n, x.shape[second],
                f"einsum: '{term.labels[first]}' in '{equation}' is {n} and {x.shape[second]} in one operand of shape {x.shape}")
    rest = tuple(axis for axis in range(x.ndim) if axis not in (first, second))
    x = om.transpose(x, axes=(*rest, first, second))
    shape = x.shape[:-2]
    flat = om.reshape(x, shape=(*shape, n * n))
    padding = om.full(as_tensor(0).astype(x.dtype), shape=(*shape, n))
    rows = om.reshape(om.concat([flat, padding], axis=-1), shape=(*shape, n, n + 1))
    column = om.slice(rows, starts=(0,) * rows.ndim, shape=(*shape, n, 1), steps=(1,) * rows.ndim)
    return Term(om.reshape(column, shape=(*shape, n)), tuple(term.labels[axis] for axis in rest) + (term.labels[first],))


def check_sizes(terms: Sequence[Term], equation: str) -> None:
    """ShapeError unless each label has one size, or 1."""
    sizes: dict[str, object] = {}
    for term in terms:
        for label, size in zip(term.labels, term.tensor.shape):
            if not is_one(size):
                known = sizes.setdefault(label, size)
                shapes = ", ".join(str(t.tensor.shape) for t in terms)
                equal_sizes(known, size, f"einsum: '{label}' in '{equation}' is {known} and {size} in operands of shapes {shapes}")


def equal_sizes(a, b, why: str) -> None:
    if isinstance(a, int) and isinstance(b, int):
        if a != b:
            raise ShapeError(why)
    else:
        require_equal(size_of(a), size_of(b), why)


def sum_out(term: Term, keep) -> Term:
    """The term without the axes whose labels are not in `keep`."""
    axes = tuple(i for i, label in enumerate(term.labels) if label not in keep)
    if not axes:
        return term
    total = om.sum(term.tensor, axis=axes).astype(term.tensor.dtype)
    return Term(total, tuple(label for label in term.labels if label in keep))


def contract(x: Term, y: Term, later: set[str]) -> Term:
    """The product of two terms, summed over labels that nothing later needs."""
    needed_of_x, needed_of_y = (later | {label for label in other.labels if other.has(label)} for other in (y, x))
    x, y = sum_out(x, needed_of_x), sum_out(y, needed_of_y)
    x, y = sum_out(x, later | set(y.labels)), sum_out(y, later | set(x.labels))
    shared = [label for label in x.labels if label in y.labels]
    batch = [label for label in shared if label in later]
    inner = [label for label in shared if label not in later]
    left = [label for label in x.labels if label not in shared]
    right = [label for label in y.labels if label not in shared]
    product = om.matmul(as_matrices(x, batch, left, inner), as_matrices(y, batch, inner, right))
    sizes = [y.size(label) if is_one(x.size(label)) else x.size(label) for label in batch]
    shape = (*sizes, *(x.size(label) for label in left), *(y.size(label) for label in right))
    return Term(om.reshape(product, shape=shape), (*batch, *left, *right))


def as_matrices(term: Term, batch, rows, columns) -> Tensor:
    """The term as (batch..., product of rows, product of columns)."""
    order = tuple(term.labels.index(label) for label in (*batch, *rows, *columns))
    sizes = [math.prod(term.size(label) for label in group) for group in (rows, columns)]
    return om.reshape(om.transpose(term.tensor, axes=order), shape=(*(term.size(label) for label in batch), *sizes))
