"""``torch.vmap``: the function is recorded once, as the body of a loop over the mapped axis."""
from __future__ import annotations

import contextlib
from typing import Iterator

import torch
from torch.utils import _pytree

from ... import ops
from ....errors import OnemlirError
from ...locations import user_line
from ...ops.shape import moveaxis
from ..tensor import value_of
from .values import tensor_of


def map_rows(recording, function, in_dims, out_dims, args: tuple, kwargs: dict):
    """What torch.vmap gives. OnemlirError where no argument is mapped."""
    leaves, structure = _pytree.tree_flatten(args)
    dims = _pytree._broadcast_to_and_flatten(in_dims, structure)
    if dims is None or all(d is None for d in dims):
        raise OnemlirError(f"vmap: in_dims={in_dims!r} does not fit the arguments, or maps none of them, at {user_line()}")
    mapped = [n for n, d in enumerate(dims) if d is not None]
    rows = tuple(moveaxis(value_of(recording.recorded(leaves[n])), dims[n], 0) for n in mapped)
    forms: list = []

    def step(items):
        inside = list(leaves)
        for n, item in zip(mapped, items):
            inside[n] = recording.to_theirs(item)
        results, form = _pytree.tree_flatten(function(*_pytree.tree_unflatten(inside, structure), **kwargs))
        forms.append(form)
        return tuple(tensor_of(recording.to_ours(r)) for r in results)

    found = ops.map(step, rows)
    places = _pytree._broadcast_to_and_flatten(out_dims, forms[-1])
    return _pytree.tree_unflatten([recording.to_theirs(moveaxis(y, 0, d)) for y, d in zip(found, places)], forms[-1])


@contextlib.contextmanager
def mapped_by(recording) -> Iterator[None]:
    """torch.vmap in the recorded program, which torch would otherwise run in C++."""
    owner = torch._functorch.apis
    before = owner.vmap_impl

    def vmap_impl(func, in_dims, out_dims, randomness, chunk_size, *args, **kwargs):
        return map_rows(recording, func, in_dims, out_dims, args, kwargs)

    owner.vmap_impl = vmap_impl
    try:
        yield
    finally:
        owner.vmap_impl = before
