"""Gradients of reads and writes at places that index tensors name: reads become additions at those places, and the other way round."""
from __future__ import annotations

from ...dialect import symbolic
from ...dialect.ops import indexing as om
from ..ops.declared import declared as ops
from ..ops.shape import sizes
from .broadcasting import move, zeros, zeros_like
from .composed import composed_gradient
from .registry import gradient_of


@gradient_of(om.Gather)
def gather(call, gradient):
    x, axis, indices = call.x, call.axis, call.indices
    shape, count = sizes(x), indices.ndim
    target = zeros((shape[axis], *shape[:axis], *shape[axis + 1:]), x.dtype)
    order = (*range(axis, axis + count), *range(axis), *range(axis + count, gradient.ndim))
    updates = gradient if order == tuple(range(gradient.ndim)) else ops.transpose(gradient, axes=order)
    places = ops.reshape(indices, shape=(*sizes(indices), 1))
    return move(ops.scatter_nd(target, places, updates, reduction="add"), 0, axis), None


@gradient_of(om.TakeAlongAxis)
def take_along_axis(call, gradient):
    return ops.scatter(zeros_like(call.x), call.indices, gradient, axis=call.axis, reduction="add"), None


@gradient_of(om.Scatter)
def scatter(call, gradient):
    read = lambda t: ops.take_along_axis(t, call.indices, axis=call.axis)
    write = lambda t, values, reduction="none": ops.scatter(t, call.indices, values, axis=call.axis, reduction=reduction)
    by_x, by_updates = _by_write(call, gradient, read, write, call.updates)
    return by_x, None, by_updates


@gradient_of(om.ScatterNd)
def scatter_nd(call, gradient):
    read = lambda t: ops.gather_nd(t, call.indices)
    write = lambda t, values, reduction="none": ops.scatter_nd(t, call.indices, values, reduction=reduction)
    by_x, by_updates = _by_write(call, gradient, read, write, call.updates)
    return by_x, None, by_updates


def _by_write(call, gradient, read, write, updates):
    """Gradients of x and of the updates; `read` and `write` are the places' reads and writes."""
    x, reduction = call.x, call.reduction
    if reduction == "add":
        return gradient, read(gradient)
    if reduction == "none":
        return write(gradient, zeros_like(updates)), ops.where(_last_writers(x, updates, read, write), read(gradient), 0.0)
    if reduction == "mul":
        ones = zeros_like(x) + 1
        return gradient * write(ones, updates, "mul"), read(gradient * call.result) / updates
    own = (x == call.result).astype(x.dtype)
    theirs = (updates == read(call.result)).astype(x.dtype)
    each = gradient / write(own, theirs, "add")
    return each * own, read(each) * theirs


def _last_writers(x, updates, read, write):
    """Which updates are still there at the end, where several name one place."""
    shape = sizes(updates)
    number = ops.reshape(ops.iota(size=(symbolic.product(shape),)), shape=shape)
    return read(write(ops.cast(zeros_like(x), dtype="int64"), number)) == number


@gradient_of(om.GatherNd)
def gather_nd(call, gradient):
    x, indices, batch = call.x, call.indices, call.batch_dims
    shape = sizes(indices)
    columns = [_batch_column(i, shape, indices.dtype) for i in range(batch)]
    places = ops.concat([*columns, indices], axis=-1) if columns else indices
    return ops.scatter_nd(zeros_like(x), places, gradient, reduction="add"), None


def _batch_column(axis: int, shape: tuple, dtype):
    """Each place's own index on a batch axis, as one more column of the indices."""
    index = ops.reshape(ops.iota(size=(shape[axis],), dtype=dtype), shape=tuple(shape[axis] if i == axis else 1 for i in range(len(shape))))
    return ops.broadcast_to(index, shape=(*shape[:-1], 1))


@gradient_of(om.DynamicSlice)
def dynamic_slice(call, gradient):
    return ops.dynamic_update(zeros_like(call.x), gradient, call.starts), None


@gradient_of(om.DynamicUpdate)
def dynamic_update(call, gradient):
    by_x = ops.dynamic_update(gradient, zeros_like(call.update), call.starts)
    return by_x, ops.dynamic_slice(gradient, call.starts, shape=sizes(call.update)), None


@gradient_of(om.SliceUpdate)
def slice_update(call, gradient):
    by_x = ops.slice_update(gradient, zeros_like(call.update), starts=call.starts, steps=call.steps)
    return by_x, ops.slice(gradient, starts=call.starts, shape=sizes(call.update), steps=call.steps)


@composed_gradient(om.AppendRows)
def append_rows(call, past, new, before):
    """The new rows are written behind those of the past that stay."""
    (columns,), (batch, _, rows, _) = call.size, sizes(new)
    start = ops.reshape(ops.maximum(before, 0), shape=(batch, 1, 1, 1))
    places = lambda count: ops.reshape(ops.iota(size=(count,), dtype=before.dtype), shape=(count, 1))
    longer = ops.pad(past, None, low=(0,) * 4, high=(0, 0, columns - sizes(past)[2], 0))
    kept = ops.where(places(columns) < start, longer, 0.0)
    return ops.scatter(kept, ops.broadcast_to(places(rows) + start, shape=sizes(new)), new, axis=2)
