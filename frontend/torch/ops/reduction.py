"""Reductions."""
from __future__ import annotations

import collections

import numpy as np

from ....dialect import symbolic
from ....errors import UnsupportedOpError
from ... import ops
from ...symbolic_int import size_of
from ...tensor import Tensor
from ..dtypes import is_floating, to_numpy_dtype
from ..registry import handles
from .elementwise import apply_binary
from .values import as_axes, as_dtype, floating, optional_dtype, promoted, scalars_have_an_axis

ValuesIndices = collections.namedtuple("ValuesIndices", ("values", "indices"))


def _widened(x: Tensor, dtype) -> Tensor:
    """Addends and factors: of a torch dtype when one is given, else integers of every kind and bool as int64."""
    return optional_dtype(x, dtype) if dtype is not None or is_floating(x.dtype) else as_dtype(x, np.dtype("int64"))


@handles("sum")
def sum_(input, dim=None, keepdim=False, dtype=None, axis=None):
    axes = as_axes(dim if axis is None else axis, input.ndim)
    return ops.sum(_widened(input, dtype), axis=axes, keepdims=keepdim, dtype=dtype and to_numpy_dtype(dtype))


@handles("nansum")
def nansum(input, dim=None, keepdim=False, dtype=None):
    return sum_(ops.where(ops.isnan(input), as_dtype(0, input.dtype), input) if is_floating(input.dtype) else input, dim, keepdim, dtype)


@handles("nanmean")
def nanmean(input, dim=None, keepdim=False, dtype=None):
    counted = ops.sum(~ops.isnan(input), axis=as_axes(dim, input.ndim), keepdims=keepdim)
    return nansum(input, dim, keepdim, dtype) / counted.astype(input.dtype)


@handles("logcumsumexp")
@scalars_have_an_axis
def logcumsumexp(input, dim):
    """One step per element: with one maximum of the row, elements far below it would be lost."""
    rows = ops.moveaxis(input, dim, 0)

    def step(total, row):
        total = ops.logaddexp(total, row)
        return total, total

    start = ops.full(tuple(rows.shape[1:]), as_dtype(float("-inf"), input.dtype))
    return ops.moveaxis(ops.scan(step, start, rows)[1], 0, dim)


@handles("mean")
def mean(input, dim=None, keepdim=False, dtype=None, axis=None):
    return ops.mean(optional_dtype(input, dtype), axis=as_axes(dim if axis is None else axis, input.ndim), keepdims=keepdim)


@handles("prod")
def prod(input, dim=None, keepdim=False, dtype=None):
    return ops.prod(_widened(input, dtype), axis=as_axes(dim, input.ndim), keepdims=keepdim, dtype=dtype and to_numpy_dtype(dtype))


def _correction(unbiased, correction) -> float:
    return float(correction) if correction is not None else 1.0 if unbiased else 0.0


def _moments(function):
    def handler(input, dim=None, unbiased=True, keepdim=False, correction=None, axis=None):
        if isinstance(dim, bool):
            dim, unbiased = None, dim
        return function(input, axis=as_axes(dim if axis is None else axis, input.ndim), keepdims=keepdim, correction=_correction(unbiased, correction))
    return handler


handles("var")(_moments(ops.var))
handles("std")(_moments(ops.std))


@handles("aten.var.correction")
def aten_var(input, dim=None, correction=1, keepdim=False):
    return ops.var(input, axis=as_axes(dim, input.ndim), keepdims=keepdim, correction=float(1 if correction is None else correction))


@handles("var_mean")
def var_mean(input, dim=None, unbiased=True, keepdim=False, correction=None):
    return _moments(ops.var)(input, dim, unbiased, keepdim, correction), mean(input, None if isinstance(dim, bool) else dim, keepdim)


@handles("std_mean")
def std_mean(input, dim=None, unbiased=True, keepdim=False, correction=None):
    return _moments(ops.std)(input, dim, unbiased, keepdim, correction), mean(input, None if isinstance(dim, bool) else dim, keepdim)


@handles("logsumexp", "special_logsumexp")
def logsumexp(input, dim, keepdim=False):
    return ops.logsumexp(floating(input)[0], axis=as_axes(dim, input.ndim), keepdims=keepdim)


@handles("amax")
def amax(input, dim=(), keepdim=False):
    return _largest(input, axis=as_axes(dim, input.ndim), keepdims=keepdim)


@handles("amin")
def amin(input, dim=(), keepdim=False):
    return _smallest(input, axis=as_axes(dim, input.ndim), keepdims=keepdim)


def _largest(x, **how):
    return ops.any(x, **how) if x.dtype == bool else ops.max(x, **how)


def _smallest(x, **how):
    return ops.all(x, **how) if x.dtype == bool else ops.min(x, **how)


def _place(function):
    return lambda x, **how: function(x.astype("uint8") if x.dtype == bool else x, **how)


@handles("aminmax")
def aminmax(input, dim=None, keepdim=False):
    return amin(input, dim, keepdim), amax(input, dim, keepdim)


def _extreme(reduce, position, pairwise):
    @scalars_have_an_axis
    def along(input, dim, keepdim):
        return ValuesIndices(reduce(input, axis=dim, keepdims=keepdim), position(input, axis=dim, keepdims=keepdim))

    def handler(input, dim=None, keepdim=False, other=None):
        other = dim if isinstance(dim, Tensor) else other
        if other is not None:
            return apply_binary(pairwise, *promoted(input, other))
        return reduce(input) if dim is None else along(input, dim, keepdim)
    return handler


handles("max")(_extreme(_largest, _place(ops.argmax), "maximum"))
handles("min")(_extreme(_smallest, _place(ops.argmin), "minimum"))


@handles("argmax")
def argmax(input, dim=None, keepdim=False):
    return ops.argmax(input, axis=dim, keepdims=keepdim)


@handles("argmin")
def argmin(input, dim=None, keepdim=False):
    return ops.argmin(input, axis=dim, keepdims=keepdim)


def _truth(y: Tensor, x: Tensor) -> Tensor:
    """Bools, but uint8 of uint8, as in torch."""
    return y.astype(x.dtype) if x.dtype == np.uint8 else y


@handles("any")
def any_(input, dim=None, keepdim=False):
    return _truth(ops.any(input, axis=as_axes(dim, input.ndim), keepdims=keepdim), input)


@handles("all")
def all_(input, dim=None, keepdim=False):
    return _truth(ops.all(input, axis=as_axes(dim, input.ndim), keepdims=keepdim), input)


@handles("count_nonzero")
def count_nonzero(input, dim=None):
    return ops.count_nonzero(input, axis=as_axes(dim, input.ndim))


@handles("cumsum")
def cumsum(input, dim, dtype=None):
    x = _widened(input, dtype)
    return ops.cumsum(x, axis=dim, dtype=x.dtype) if x.ndim else x


@handles("cumprod")
def cumprod(input, dim, dtype=None):
    x = _widened(input, dtype)
    return ops.cumprod(x, axis=dim, dtype=x.dtype) if x.ndim else x


@handles("cummax")
def cummax(input, dim):
    return _running_extreme(lambda new, best: new >= best, input, dim)


@handles("cummin")
def cummin(input, dim):
    return _running_extreme(lambda new, best: new <= best, input, dim)


def _running_extreme(replaces, input, dim) -> ValuesIndices:
    """The extreme of the elements up to each, and the last place that has it; NaN stays."""
    if not input.ndim:
        return ValuesIndices(input, ops.zeros((), "int64"))
    nan = ops.isnan if is_floating(input.dtype) else ops.zeros_like
    rows = ops.moveaxis(input, dim, 0)
    if isinstance(rows.shape[0], int) and not rows.shape[0]:
        return ValuesIndices(input, ops.zeros_like(input).astype("int64"))

    def step(carry, row):
        (best, place), (new, at) = carry, row
        wins = replaces(new, best) | nan(new).astype(bool)
        best, place = ops.where(wins, new, best), ops.where(wins, ops.broadcast_to(at, shape=place.shape), place)
        return (best, place), (best, place)

    first = ops.pad(rows, [(0, 1)] + [(0, 0)] * (rows.ndim - 1))[0] if symbolic.less_equal(1, size_of(rows.shape[0])) is not True else rows[0]
    start = first, ops.zeros_like(first).astype("int64")
    _, (values, places) = ops.scan(step, start, (rows, ops.arange(rows.shape[0])))
    return ValuesIndices(ops.moveaxis(values, 0, dim), ops.moveaxis(places, 0, dim))


@handles("norm", "F.norm")
def norm(input, p="fro", dim=None, keepdim=False, dtype=None):
    x = optional_dtype(input, dtype)
    if p == "nuc":
        return NotImplemented
    return ops.norm(x, ord=2.0 if p in ("fro", None) else float(p), axis=as_axes(dim, input.ndim), keepdims=keepdim)


@handles("linalg_vector_norm")
def vector_norm(input, ord=2, dim=None, keepdim=False, dtype=None):
    return ops.norm(optional_dtype(input, dtype), ord=float(ord), axis=as_axes(dim, input.ndim), keepdims=keepdim)


@handles("linalg_norm")
def linalg_norm(input, ord=None, dim=None, keepdim=False, dtype=None):
    """A vector norm over one axis; over two, or of a matrix with `ord`, a matrix norm."""
    axes = as_axes(dim, input.ndim)
    if ord is not None and (axes is None and input.ndim == 2 or axes is not None and len(axes) == 2):
        return matrix_norm(input, ord, axes or (0, 1), keepdim, dtype)
    return ops.norm(optional_dtype(input, dtype), ord=2.0 if ord in (None, "fro") else float(ord), axis=axes, keepdims=keepdim)


@handles("linalg_matrix_norm")
def matrix_norm(input, ord="fro", dim=(-2, -1), keepdim=False, dtype=None):
    """Frobenius; the largest or smallest sum of a column (1, -1) or row (inf, -inf), or singular value (2, -2); their sum ("nuc")."""
    x, (row, column) = optional_dtype(input, dtype), (axis % input.ndim for axis in dim)
    if ord == "fro":
        return ops.norm(x, ord=2.0, axis=(row, column), keepdims=keepdim)
    if ord == "nuc" or abs(ord) == 2:
        return _spectral_norm(ops.moveaxis(x, (row, column), (-2, -1)), ord, (row, column) if keepdim else None)
    summed, kept = (row, column) if abs(ord) == 1 else (column, row)
    y = (ops.max if ord > 0 else ops.min)(ops.sum(ops.abs(x), axis=summed, keepdims=True), axis=kept, keepdims=True)
    return y if keepdim else ops.squeeze(y, (row, column))


def _spectral_norm(x: Tensor, ord, kept):
    from .matrix_factors import svdvals

    values = svdvals(x)
    if values is NotImplemented:
        raise UnsupportedOpError(f"a matrix norm with ord {ord!r}, of singular values, needs matrices of fixed size; 'fro', 1, -1, inf and -inf do not")
    y = (ops.sum if ord == "nuc" else ops.max if ord > 0 else ops.min)(values, axis=-1)
    return y if kept is None else ops.expand_dims(y, tuple(sorted(kept)))


@handles("cov")
def cov(input, correction=1, fweights=None, aweights=None):
    """Covariance of the rows; a number for one row."""
    if fweights is not None or aweights is not None:
        return NotImplemented
    (x,) = floating(input)
    x = ops.reshape(x, shape=(1, -1)) if x.ndim < 2 else x
    centred = x - ops.mean(x, axis=1, keepdims=True)
    count = ops.maximum(as_dtype(x.shape[1] - correction, x.dtype), as_dtype(0, x.dtype))
    y = ops.matmul(centred, ops.swapaxes(centred, 0, 1)) / count
    return ops.reshape(y, shape=()) if x.shape[0] == 1 else y


@handles("corrcoef")
def corrcoef(input):
    """Covariance of the rows by the product of their deviations, within -1 and 1."""
    c = cov(input)
    if not c.ndim:
        return c / c
    deviation = ops.sqrt(ops.diagonal(c))
    return ops.clip(c / ops.expand_dims(deviation, 1) / deviation, min=-1.0, max=1.0)


@handles("trapezoid", "trapz")
def trapezoid(y, x=None, dx=1, dim=-1):
    """Sum of the means of neighbours times their distances."""
    y, x = (*floating(y), None) if x is None else floating(y, x)
    part = lambda t, axis, places: t[(slice(None),) * (axis % t.ndim) + (places,)]
    later, earlier = slice(1, None), slice(None, -1)
    step = as_dtype(dx, y.dtype)
    if x is not None:
        axis = dim if x.ndim == y.ndim else -1
        step = part(x, axis, later) - part(x, axis, earlier)
        step = ops.reshape(step, shape=(-1,) + (1,) * (y.ndim - dim % y.ndim - 1)) if x.ndim == 1 < y.ndim else step
    return ops.sum((part(y, dim, later) + part(y, dim, earlier)) * step, axis=dim) / 2.0


@handles("F.normalize")
@scalars_have_an_axis
def normalize(input, p=2.0, dim=1, eps=1e-12, out=None):
    return ops.normalize(input, p=float(p), axis=dim, eps=eps)


@handles("F.cosine_similarity", "cosine_similarity")
def cosine_similarity(x1, x2, dim=1, eps=1e-8):
    a, b = ops.broadcast_tensors(*floating(x1, x2))
    if not a.ndim:
        return cosine_similarity(ops.expand_dims(a, 0), ops.expand_dims(b, 0), 0, eps)
    size = lambda t: ops.maximum(ops.norm(t, axis=dim, keepdims=True), eps)
    return ops.sum((a / size(a)) * (b / size(b)), axis=dim)


@handles("F.pairwise_distance", "pairwise_distance")
def pairwise_distance(x1, x2, p=2.0, eps=1e-6, keepdim=False):
    return ops.norm(ops.subtract(*floating(x1, x2)) + eps, ord=float(p), axis=-1, keepdims=keepdim)


@handles("dist")
def dist(input, other, p=2):
    return ops.norm(ops.subtract(*floating(input, other)), ord=float(p))


@handles("softmax", "aten.softmax.int", "special_softmax")
@scalars_have_an_axis
def softmax(input, dim, dtype=None):
    return ops.softmax(floating(optional_dtype(input, dtype))[0], axis=dim)


@handles("F.softmax")
def f_softmax(input, dim=None, _stacklevel=3, dtype=None):
    return softmax(input, _implicit(dim, input.ndim), dtype)


@handles("F.softmin")
def f_softmin(input, dim=None, _stacklevel=3, dtype=None):
    return softmax(-input, _implicit(dim, input.ndim), dtype)


@handles("log_softmax", "special_log_softmax")
@scalars_have_an_axis
def log_softmax(input, dim, dtype=None):
    return ops.log_softmax(floating(optional_dtype(input, dtype))[0], axis=dim)


@handles("F.log_softmax")
def f_log_softmax(input, dim=None, _stacklevel=3, dtype=None):
    return log_softmax(input, _implicit(dim, input.ndim), dtype)


@handles("aten._softmax")
def aten_softmax(input, dim, half_to_float=False):
    return softmax(input, dim)


@handles("aten._safe_softmax")
def safe_softmax(input, dim, dtype=None):
    """softmax that is 0 where all elements are -inf."""
    y = softmax(input, dim, dtype)
    return ops.where(ops.all(input == float("-inf"), axis=dim, keepdims=True), as_dtype(0, y.dtype), y) if is_floating(input.dtype) else y


@handles("aten._log_softmax")
def aten_log_softmax(input, dim, half_to_float=False):
    return log_softmax(input, dim)


def _implicit(dim, rank: int) -> int:
    return dim if dim is not None else 0 if rank in (0, 1, 3) else 1


@handles("trace")
def trace(input):
    return sum_(ops.diagonal(input))
