"""torch's higher-order ``scan`` and ``associative_scan``: loops over one axis, which may be symbolic, in the graph."""
from __future__ import annotations

import contextlib
import importlib
import inspect
import sys
from typing import Iterator

import torch._higher_order_ops as higher_order
from torch.utils import _pytree

from ... import ops
from ...ops.shape import moveaxis
from ..tensor import value_of
from .values import tensor_of


class Scans:
    """The functions that stand for torch's while a program is recorded."""

    def __init__(self, recording):
        self.recording = recording

    def _rows(self, leaves, dim: int, reverse: bool) -> tuple:
        """Our tensors with the scanned axis in front, in the order of the scan."""
        rows = tuple(moveaxis(value_of(self.recording.recorded(t)), dim, 0) for t in leaves)
        return tuple(ops.flip(r, (0,)) for r in rows) if reverse else rows

    def _ours(self, leaves) -> tuple:
        return tuple(tensor_of(self.recording.to_ours(t)) for t in leaves)

    def _theirs(self, rows, dim: int, reverse: bool) -> list:
        rows = [ops.flip(r, (0,)) for r in rows] if reverse else rows
        return [self.recording.to_theirs(moveaxis(r, 0, dim)) for r in rows]

    def associative_scan(self, combine_fn, xs, dim, reverse=False, combine_mode="pointwise"):
        """y[0] = x[0], y[t] = combine_fn(y[t - 1], x[t]), one step after the other."""
        leaves, structure = _pytree.tree_flatten(xs)
        rows = self._rows(leaves, dim, reverse)

        def step(carried, items):
            sides = [_pytree.tree_unflatten([self.recording.to_theirs(t) for t in part], structure) for part in (carried, items)]
            found = self._ours(_pytree.tree_leaves(combine_fn(*sides)))
            return found, found

        first = tuple(r[:1] for r in rows)
        _, later = ops.scan(step, tuple(ops.squeeze(r, 0) for r in first), tuple(r[1:] for r in rows))
        found = [ops.concat([a, b], axis=0) for a, b in zip(first, later)]
        return _pytree.tree_unflatten(self._theirs(found, dim, reverse), structure)

    def scan(self, combine_fn, init, xs, *, dim=0, reverse=False):
        """carry, y = combine_fn(carry, x) for each x along an axis: the last carry, and the ys along that axis."""
        (start, form), (leaves, structure) = _pytree.tree_flatten(init), _pytree.tree_flatten(xs)
        forms: list = []

        def step(carried, items):
            sides = [_pytree.tree_unflatten([self.recording.to_theirs(t) for t in part], shape) for part, shape in ((carried, form), (items, structure))]
            carry, y = combine_fn(*sides)
            results, shape = _pytree.tree_flatten(y)
            forms.append(shape)
            return self._ours(_pytree.tree_leaves(carry)), self._ours(results)

        carried, found = ops.scan(step, self._ours(start), self._rows(leaves, dim, reverse))
        carry = _pytree.tree_unflatten([self.recording.to_theirs(t) for t in carried], form)
        return carry, _pytree.tree_unflatten(self._theirs(found, dim, reverse), forms[-1])


@contextlib.contextmanager
def scans_by(recording) -> Iterator[None]:
    """Both functions in the recorded program. Models of transformers that leave them out of exports, for a loop in Python, take them, too."""
    ours = Scans(recording)
    owners = {name: importlib.import_module(f"{higher_order.__name__}.{name}") for name in ("associative_scan", "scan")}  # the package has functions of these names
    patches = [*((owner, name, getattr(ours, name)) for name, module in owners.items() for owner in (module, higher_order) if hasattr(owner, name)),
               *((module, "is_torchdynamo_exporting", lambda: False) for module in _models_with_scans())]
    before = [getattr(module, name) for module, name, _ in patches]
    for module, name, function in patches:
        setattr(module, name, function)
    try:
        yield
    finally:
        for (module, name, _), function in zip(patches, before):
            setattr(module, name, function)


def _models_with_scans() -> list:
    """Modules of transformers that ask whether they are exported before they use associative_scan."""
    named = [(name, module) for name, module in list(sys.modules.items()) if name.startswith("transformers.models.") and ".modeling_" in name]
    return [module for name, module in named if "is_torchdynamo_exporting" in vars(module) and any(map(_scans, list(vars(module).values())))]


def _scans(function) -> bool:
    code = getattr(inspect.unwrap(function), "__code__", None) if inspect.isfunction(function) else None
    return code is not None and "associative_scan" in (*code.co_names, *code.co_varnames)
